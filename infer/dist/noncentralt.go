// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// NoncentralT is the distribution of (z + mu)/sqrt(v/nu) for a standard normal z and a
// chi-squared v with nu degrees of freedom. It has no LogCDF.
//
//	log p = nu/2 log nu - log Gamma(nu/2) - log(pi)/2 - (nu-1)/2 log 2 - (nu+1)/2 log(x^2+nu)
//	        - nu mu^2/(2 (x^2+nu)) + log J(nu, mu x/sqrt(x^2+nu))
//
// where J(nu, m) is the integral of y^nu exp(-(y-m)^2/2) over y > 0.
func NoncentralT(nu, mu any) Dist {
	p := Nodes(nu, mu)
	return Dist{Name: "noncentralt", Params: p, Support: Real,
		LogProbOf: func(x *ad.Node) *ad.Node {
			x = ad.Clip(x, -math.MaxFloat64, math.MaxFloat64)
			root := ad.Sqrt(p[0])
			r := ad.Hypot(x, root)
			cosine := ad.Div(root, r)
			fall := ad.Scale(-0.5, ad.Square(ad.Mul(p[1], cosine)))
			// Student's distribution, times what the noncentrality changes.
			powers := ad.Neg(studentFall(p[0], x))
			// Far out x/r is nearly 1, and its derivative is that of the other leg.
			outer := ad.Greater(ad.Abs(x), root)
			leg := ad.Sqrt(ad.Sub(one, ad.Square(ad.Where(outer, cosine, zero))))
			sine := ad.Where(outer, ad.Mul(ad.Sign(x), leg), ad.Div(ad.Where(outer, zero, x), ad.Where(outer, one, r)))
			exact := ad.AddN(studentNorm(p[0]), powers, fall, ad.PartialMomentGain(p[0], ad.Mul(p[1], sine)))
			narrow, peak := narrowT(x, p[0], p[1])
			nearly, normal := nearlyNormalT(x, p[0], p[1])
			return ad.Where(nearly, normal, ad.Where(narrow, peak, exact))
		},
		RandOf: func(src Source, p []float64) float64 {
			return (src.Normal() + p[1]) * math.Exp(0.5*(math.Log(p[0]/2)-logGamma(src, p[0]/2)))
		},
		CDFOf: noncentralCDF,
		MeanOf: func(p []float64) float64 {
			return finiteIf(p[0] > 1, noncentralMean(p), math.NaN())
		},
		VarianceOf: func(p []float64) float64 {
			m := noncentralMean(p)
			return finiteIf(p[0] > 2, p[0]*(1+p[1]*p[1])/(p[0]-2)-m*m, finiteIf(p[0] > 1, math.Inf(1), math.NaN()))
		},
	}
}

// nearlyNormalT returns whether nu is so large that two terms of the expansion in 1/nu are all of the log density, and
// these: that of Normal(mu, 1), and (x^2 d^2 - x d - x^2 - 1)/(4 nu) with d = x - mu. It follows from the mean
// 1 - 1/(4 nu) and the variance 1/(2 nu) of sqrt(v/nu). Differences of integrals would lose the derivative with respect to nu.
func nearlyNormalT(x, nu, mu *ad.Node) (nearly, normal *ad.Node) {
	size := ad.Mul(ad.Shift(ad.Square(x), 1), ad.Shift(ad.Square(ad.Sub(x, mu)), 1))
	nearly = ad.Mul(ad.Less(ad.Div(size, nu), ad.Scalar(1e-6)), ad.Greater(nu, ad.Scalar(1e10)))
	x, mu, nu = ad.Where(nearly, x, zero), ad.Where(nearly, mu, zero), ad.Where(nearly, nu, one)
	d := ad.Sub(x, mu)
	xd := ad.Mul(x, d)
	rest := ad.Sub(ad.Mul(xd, ad.Shift(xd, -1)), ad.Shift(ad.Square(x), 1))
	return nearly, ad.Add(normalLog(d, one), ad.Div(ad.Scale(0.25, rest), nu))
}

func noncentralMean(p []float64) float64 {
	a, _ := math.Lgamma((p[0] - 1) / 2)
	b, _ := math.Lgamma(p[0] / 2)
	return p[1] * math.Sqrt(p[0]/2) * math.Exp(a-b)
}

// noncentralCDF averages Phi(x s - mu) over s = sqrt(v/nu) by integrating over d, the logarithm of s^2, whose density is
//
//	sqrt(a/(2 pi)) exp(-S(a) - a (exp(d) - 1 - d)), a = nu/2, S Stirling's error
//
// Far left, where s has no part in Phi, the integral is an incomplete gamma function. Where Phi rises from 0 to 1, steps
// are as short as that takes.
func noncentralCDF(x float64, p []float64) float64 {
	a, mu := p[0]/2, p[1]
	if !(a > 0) || math.IsInf(a, 1) || math.IsInf(mu, 0) || mu != mu {
		return math.NaN()
	}
	spread := 11 / math.Sqrt(a)
	hi := math.Log1p(spread + 90/a)
	lo := max(-spread-45/a, min(-1-spread, 2*math.Log(1e-17*(1+math.Abs(mu))/math.Abs(x))))
	scale := math.Sqrt(a/(2*math.Pi)) * math.Exp(-stirlingError.Eval(a))
	sum := 0.0
	piece := func(from, to, width float64) {
		from, to = max(from, lo), min(to, hi)
		panels := math.Ceil((to - from) / min(width, 1, 2.5/math.Sqrt(a)))
		step := (to - from) / panels
		for i := range int(max(panels, 0)) {
			at := from + float64(i)*step
			sum += integrate(func(d float64) float64 {
				return math.Exp(-a*d*d*expRemainder.Eval(d)) * phi(x*math.Exp(d/2)-mu)
			}, at, at+step)
		}
	}
	if rise := 2 * math.Log(mu/x); math.Abs(mu) > 3 && mu/x > 0 && !math.IsInf(rise, 0) {
		rises := 3 / math.Abs(mu)
		piece(lo, rise-30*rises, 1)
		piece(max(lo, rise-30*rises), rise+30*rises, rises)
		piece(max(lo, rise+30*rises), hi, 1)
	} else {
		piece(lo, hi, 1)
	}
	rest := 0.0
	if lo > -spread-45/a {
		rest = lowerGamma(a, a*math.Exp(lo)) * phi(-mu)
	}
	return min(max(sum*scale+rest, 0), 1)
}

var (
	stirlingError = ad.StirlingError(one).Op()
	expRemainder  = ad.ExpRemainder(2, zero).Op() // (exp(d) - 1 - d)/d^2
)

// narrowT returns whether the integral over s = sqrt(v/nu),
//
//	K/sqrt(2 pi) integral of exp(nu (log s - (s^2-1)/2) - (x s - mu)^2/2) ds, K = 2 (nu/2e)^(nu/2)/Gamma(nu/2),
//
// is so narrow about its peak that Laplace's method gives 12 digits, and the log density by it. At the peak of s times the
// integrand r^2 s^2 - x mu s = nu + 1 with r^2 = x^2 + nu, from which s - 1 and x s - mu follow without their differences.
func narrowT(x, nu, mu *ad.Node) (narrow, peak *ad.Node) {
	r := ad.Hypot(x, ad.Sqrt(nu))
	tilt := func(x, r, mu *ad.Node) *ad.Node { return ad.Mul(ad.Div(x, r), ad.Div(mu, r)) }
	spread := func(r, nu *ad.Node) *ad.Node { return ad.Div(ad.Sqrt(ad.Shift(nu, 1)), r) }
	top := func(t, g *ad.Node) *ad.Node { // s
		root := ad.Hypot(t, ad.Scale(2, g))
		below := ad.Less(t, zero)
		return ad.Where(below, ad.Div(ad.Scale(2, ad.Square(g)), ad.Sub(root, ad.Where(below, t, zero))), ad.Scale(0.5, ad.Add(t, root)))
	}
	narrow = ad.Greater(ad.Hypot(ad.Mul(r, top(tilt(x, r, mu), spread(r, nu))), ad.Sqrt(nu)), ad.Scalar(1e6))
	x, mu, nu = ad.Where(narrow, x, zero), ad.Where(narrow, mu, zero), ad.Where(narrow, nu, one)
	r = ad.Hypot(x, ad.Sqrt(nu))
	t, g := tilt(x, r, mu), spread(r, nu)
	s, root := top(t, g), ad.Hypot(t, ad.Scale(2, g))
	b, gap := ad.Sub(ad.Scalar(2), t), ad.Sub(ad.Mul(ad.Div(x, r), ad.Div(ad.Sub(x, mu), r)), ad.Square(ad.Reciprocal(r)))
	ahead := ad.Greater(b, zero)
	d := ad.Where(ahead, ad.Div(ad.Scale(-2, gap), ad.Add(root, ad.Where(ahead, b, zero))), ad.Shift(s, -1)) // s - 1
	d = ad.Where(ad.Less(ad.Abs(d), half), d, ad.Shift(s, -1))
	square := ad.Mul(d, ad.Shift(d, 2)) // s^2 - 1
	outer := ad.Greater(ad.Abs(x), ad.Sqrt(nu))
	still := ad.Div(ad.Sub(one, ad.Mul(nu, square)), ad.Mul(s, ad.Where(outer, x, one)))
	off := ad.Where(outer, still, ad.Add(ad.Sub(x, mu), ad.Mul(x, d))) // x s - mu
	h := ad.Scale(0.5, nu)
	norm := ad.Sub(ad.Scale(0.5, ad.Log(ad.Scale(2/math.Pi, h))), stirling(h))
	width := ad.Log(ad.Hypot(ad.Mul(r, s), ad.Sqrt(ad.Shift(nu, 1))))
	falls := ad.Add(drift(h, h, ad.Square(s), square), ad.Scale(0.5, ad.Square(off)))
	return narrow, ad.Sub(ad.Add(norm, ad.Log(s)), ad.Add(width, falls))
}

func init() {
	register(Family{Name: "noncentralt", Params: []string{"nu", "mu"}, Want: []Support{Positive, Real},
		Make: func(p ...any) Dist { return NoncentralT(p[0], p[1]) },
		At:   [][]float64{{5, 1}, {3.5, -2}}})
}
