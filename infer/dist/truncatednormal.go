// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// TruncatedNormal is the Normal distribution conditioned on a <= x <= b. An infinite limit is none. For other
// distributions see Truncate.
//
//	log p = log Normal(x | mu, sigma) - log(Phi((b-mu)/sigma) - Phi((a-mu)/sigma))
func TruncatedNormal(mu, sigma, a, b any) Dist {
	if openEnd(a, -1) == nil || openEnd(b, 1) == nil {
		return Truncate(Normal(mu, sigma), a, b)
	}
	p := Nodes(mu, sigma, a, b)
	t := truncatedNormal{mu: p[0], sigma: p[1], a: p[2], b: p[3]}
	d := Dist{Name: "truncatednormal", Params: p, Support: Support{Lower: p[2], Upper: p[3]},
		LogProbOf: t.logProb,
		LogCDFOf:  func(x *ad.Node) *ad.Node { l, u := t.tails(x); return exactTail(l, u) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { l, u := t.tails(x); return exactTail(u, l) },
		RandOf: func(src Source, p []float64) float64 {
			lo, hi := (p[2]-p[0])/p[1], (p[3]-p[0])/p[1]
			return min(max(p[0]+p[1]*normalBetween(src, lo, hi), p[2]), p[3])
		},
		MeanOf:     func(p []float64) float64 { m, _ := truncatedMoments(p); return p[0] + p[1]*m },
		VarianceOf: func(p []float64) float64 { _, v := truncatedMoments(p); return p[1] * p[1] * v },
	}
	d.CDFOf = d.graphCDF()
	return d
}

// truncatedNormal takes distances from the limit that is nearer to the mean, if the mean is outside the limits or the
// limits are close to each other: their distances from the mean may be so large that the difference would be lost.
type truncatedNormal struct{ mu, sigma, a, b *ad.Node }

// farAway stands for infinite distances, which have no derivatives.
const farAway = 1e150

// regimes returns 1 where mu is above the limits, and where distances from one limit are used.
func (t truncatedNormal) regimes() (above, apart *ad.Node) {
	above = ad.Greater(t.mu, t.b)
	width := ad.Div(ad.Sub(t.b, t.a), t.sigma)
	return above, ad.Maximum(ad.Maximum(above, ad.Less(t.mu, t.a)), ad.Less(width, one))
}

// from returns how far the limit is from the mean, and x from either limit, the farther one last; all in standard
// deviations. apart is that of regimes.
func (t truncatedNormal) from(x *ad.Node) (gap, near, far *ad.Node) {
	above, apart := t.regimes()
	scaled := func(d *ad.Node) *ad.Node {
		return ad.Div(ad.Where(apart, ad.Minimum(d, ad.Scalar(farAway)), one), t.sigma)
	}
	left, right := ad.Sub(x, t.a), ad.Sub(t.b, x)
	gap = scaled(ad.Where(above, ad.Sub(t.mu, t.b), ad.Sub(t.a, t.mu)))
	return gap, scaled(ad.Where(above, right, left)), scaled(ad.Where(above, left, right))
}

// fall returns the logarithm of the density at x over that at the limit, (gap^2 - (gap + near)^2)/2.
func (t truncatedNormal) fall(x *ad.Node) *ad.Node {
	gap, near, _ := t.from(x)
	_, apart := t.regimes()
	z := ad.Where(apart, standard(x, t.mu, t.sigma), one)
	product := ad.Neg(ad.Mul(near, ad.Add(gap, ad.Scale(0.5, near))))
	return ad.Where(ad.Less(gap, ad.Abs(near)), ad.Scale(0.5, ad.Sub(ad.Square(gap), ad.Square(z))), product)
}

// piece returns the logarithm of the integral of the density over that at its lower end, for an interval that begins gap
// standard deviations from the mean.
func (t truncatedNormal) piece(gap, width *ad.Node) *ad.Node {
	narrow := ad.Less(ad.Mul(width, ad.Add(ad.Abs(gap), width)), one)
	short := ad.Add(ad.Log(ad.Mul(width, t.sigma)), ad.LogMillsMean(ad.Where(narrow, gap, one), ad.Where(narrow, width, half)))
	return ad.Where(narrow, short, ad.Add(ad.Log(t.sigma), ad.LogMillsPart(ad.Where(narrow, one, gap), ad.Where(narrow, one, width))))
}

// whole is piece for all between the limits.
func (t truncatedNormal) whole() *ad.Node {
	above, _ := t.regimes()
	gap, _, width := t.from(ad.Where(above, t.b, t.a))
	return t.piece(gap, width)
}

// plain returns the normal distribution, the limits and x where distances from the mean are used, and others elsewhere.
func (t truncatedNormal) plain(x *ad.Node) (mu, sigma, a, b, at *ad.Node) {
	_, apart := t.regimes()
	return ad.Where(apart, zero, t.mu), ad.Where(apart, one, t.sigma), ad.Where(apart, minusOne, t.a), ad.Where(apart, one, t.b), ad.Where(apart, zero, x)
}

func (t truncatedNormal) logProb(x *ad.Node) *ad.Node {
	_, apart := t.regimes()
	mu, sigma, a, b, at := t.plain(x)
	inside := ad.Sub(normalLog(standard(at, mu, sigma), sigma), Normal(mu, sigma).logBetween(a, b))
	return ad.Where(apart, ad.Sub(t.fall(x), t.whole()), inside)
}

// tails returns the logarithms of the probabilities below and above x.
func (t truncatedNormal) tails(x *ad.Node) (lower, upper *ad.Node) {
	above, apart := t.regimes()
	gap, near, far := t.from(x)
	mu, sigma, a, b, at := t.plain(x)
	base := Normal(mu, sigma)
	whole, all := t.whole(), base.logBetween(a, b)
	first := ad.Sub(t.piece(gap, near), whole)
	second := ad.Sub(ad.Add(t.fall(x), t.piece(ad.Add(gap, near), far)), whole)
	lower = ad.Where(apart, ad.Where(above, second, first), ad.Sub(base.logBetween(a, at), all))
	return lower, ad.Where(apart, ad.Where(above, first, second), ad.Sub(base.logBetween(at, b), all))
}

var phiDiff, millsMean = ad.LogPhiDiff(zero, one).Op(), ad.LogMillsMean(zero, one).Op()

// normalBetween draws a standard normal number between lo and hi by rejection. The
// proposals are normal if they are often accepted, exponential in a far tail and uniform
// in a narrow interval.
//
// Reference: Robert, doi 10.1007/BF00143942.
func normalBetween(src Source, lo, hi float64) float64 {
	switch {
	case !(lo <= hi):
		return math.NaN()
	case lo == hi || math.IsInf(lo, 1) || math.IsInf(hi, -1):
		return lo
	case hi < 0:
		return -normalBetween(src, -hi, -lo)
	case lo <= 0 && hi-lo > 2:
		for {
			if x := src.Normal(); x >= lo && x <= hi {
				return x
			}
		}
	}
	low := max(lo, 0) // point of highest density
	rate := (low + math.Sqrt(low*low+4)) / 2
	for {
		if (hi-lo)*rate < 2 || lo <= 0 {
			x := lo + (hi-lo)*open(src)
			if math.Log(open(src)) <= (low*low-x*x)/2 {
				return x
			}
			continue
		}
		x := lo + exponential(src)/rate
		if d := x - rate; x <= hi && math.Log(open(src)) <= -d*d/2 {
			return x
		}
	}
}

// truncatedMoments returns mean and variance in standard units.
func truncatedMoments(p []float64) (mean, variance float64) {
	lo, hi := (p[2]-p[0])/p[1], (p[3]-p[0])/p[1]
	w := phiDiff.Eval(lo, hi)
	density := func(z float64) float64 { return math.Exp(-z*z/2 - halfLogTwoPi - w) }
	moment := func(z float64) float64 { // 0 at an infinite limit
		if math.IsInf(z, 0) {
			return 0
		}
		return z * density(z)
	}
	mean = density(lo) - density(hi)
	return mean, 1 + moment(lo) - moment(hi) - mean*mean
}

func init() {
	register(Family{Name: "truncatednormal", Params: []string{"mu", "sigma", "a", "b"}, Want: []Support{Real, Positive, extended, extended},
		Order: []Order{{Low: "a", High: "b"}},
		Make:  func(p ...any) Dist { return TruncatedNormal(p[0], p[1], p[2], p[3]) },
		At:    [][]float64{{0, 1, -1, 2}, {0, 1, 3, 4.5}, {1, 2, -3, -2.5}}})
}
