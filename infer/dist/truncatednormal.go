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
	z := func(x *ad.Node) *ad.Node { return standard(x, p[0], p[1]) }
	base := Normal(p[0], p[1])
	whole := func() *ad.Node { return base.logBetween(p[2], p[3]) }
	lower := func(x *ad.Node) *ad.Node { return ad.Sub(base.logBetween(p[2], x), whole()) }
	upper := func(x *ad.Node) *ad.Node { return ad.Sub(base.logBetween(x, p[3]), whole()) }
	return Dist{Name: "truncatednormal", Params: p, Support: Support{Lower: p[2], Upper: p[3]},
		LogProbOf: func(x *ad.Node) *ad.Node { return ad.Sub(normalLog(z(x), p[1]), whole()) },
		LogCDFOf:  func(x *ad.Node) *ad.Node { return exactTail(lower(x), upper(x)) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { return exactTail(upper(x), lower(x)) },
		RandOf: func(src Source, p []float64) float64 {
			lo, hi := (p[2]-p[0])/p[1], (p[3]-p[0])/p[1]
			return min(max(p[0]+p[1]*normalBetween(src, lo, hi), p[2]), p[3])
		},
		CDFOf: func(x float64, p []float64) float64 {
			lo, hi := (p[2]-p[0])/p[1], (p[3]-p[0])/p[1]
			return math.Exp(phiDiff.Eval(lo, (x-p[0])/p[1]) - phiDiff.Eval(lo, hi))
		},
		MeanOf:     func(p []float64) float64 { m, _ := truncatedMoments(p); return p[0] + p[1]*m },
		VarianceOf: func(p []float64) float64 { _, v := truncatedMoments(p); return p[1] * p[1] * v },
	}
}

var phiDiff = ad.LogPhiDiff(zero, one).Op()

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
