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
			powers := ad.Mul(ad.Scale(-0.5, ad.Shift(p[0], 1)), ad.Log1pSquare(ad.Div(x, root)))
			// Far out x/r is nearly 1, and its derivative is that of the other leg.
			outer := ad.Greater(ad.Abs(x), root)
			leg := ad.Sqrt(ad.Sub(one, ad.Square(ad.Where(outer, cosine, zero))))
			sine := ad.Where(outer, ad.Mul(ad.Sign(x), leg), ad.Div(ad.Where(outer, zero, x), ad.Where(outer, one, r)))
			return ad.AddN(studentNorm(p[0]), powers, fall, ad.PartialMomentGain(p[0], ad.Mul(p[1], sine)))
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

func noncentralMean(p []float64) float64 {
	a, _ := math.Lgamma((p[0] - 1) / 2)
	b, _ := math.Lgamma(p[0] / 2)
	return p[1] * math.Sqrt(p[0]/2) * math.Exp(a-b)
}

// noncentralCDF averages Phi(x s - mu) over s = sqrt(v/nu) by integrating over the
// logarithm of v/2.
func noncentralCDF(x float64, p []float64) float64 {
	a := p[0] / 2
	lo := math.Log(a) - 9/math.Sqrt(a) - 45/a
	hi := math.Log(a + 12*math.Sqrt(a) + 60)
	norm, _ := math.Lgamma(a)
	const panels = 24
	sum, step := 0.0, (hi-lo)/panels
	for i := range panels {
		at := lo + float64(i)*step
		sum += integrate(func(w float64) float64 {
			return math.Exp(a*w-math.Exp(w)-norm) * phi(x*math.Exp((w-math.Log(a))/2)-p[1])
		}, at, at+step)
	}
	return min(max(sum, 0), 1)
}

func init() {
	register(Family{Name: "noncentralt", Params: []string{"nu", "mu"}, Want: []Support{Positive, Real},
		Make: func(p ...any) Dist { return NoncentralT(p[0], p[1]) },
		At:   [][]float64{{5, 1}, {3.5, -2}}})
}
