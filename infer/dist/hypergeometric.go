// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Hypergeometric is the distribution of the number of marked items among n items drawn
// without replacement from total items, of which marked are marked. It has no LogCDF, and
// no gradient because its parameters are integers. CDF and draws are sums of at most 1e9
// terms.
//
//	log P = log C(marked, k) + log C(total-marked, n-k) - log C(total, n)
//
// With q = n/total, this is computed from binomial probabilities: that of k among marked
// times that of n-k among the others, over that of n among total.
func Hypergeometric(total, marked, n any) Dist {
	p := Nodes(total, marked, n)
	low := ad.Maximum(zero, ad.Sub(ad.Add(p[2], p[1]), p[0]))
	return Dist{Name: "hypergeometric", Params: p, Support: wholes(low, ad.Minimum(p[1], p[2])), Discrete: true,
		LogProbOf: func(x *ad.Node) *ad.Node {
			q := ad.Div(p[2], p[0])
			part := func(n, k *ad.Node) *ad.Node {
				rest := ad.Sub(n, k)
				return ad.Sub(chooseRest(n, k), ad.Add(ad.PoissonDeviance(k, ad.Mul(n, q)), ad.PoissonDeviance(rest, ad.Sub(n, ad.Mul(n, q)))))
			}
			return ad.Sub(ad.Add(part(p[1], x), part(ad.Sub(p[0], p[1]), ad.Sub(p[2], x))), part(p[0], p[2]))
		},
		BoundsOf: hypergeometricEnds,
		RandOf:   hypergeometricRand,
		CDFOf: func(x float64, p []float64) float64 {
			lo, hi := hypergeometricEnds(p)
			return sumBelow(x-lo, hi-lo, hypergeometricMode(p)-lo, func(k float64) float64 { return hypergeometricRatio(k+lo, p) })
		},
		MeanOf: func(p []float64) float64 { return p[2] * p[1] / p[0] },
		VarianceOf: func(p []float64) float64 {
			if p[0] <= 1 {
				return 0
			}
			return p[2] * (p[1] / p[0]) * (1 - p[1]/p[0]) * (p[0] - p[2]) / (p[0] - 1)
		},
	}
}

func hypergeometricEnds(p []float64) (lo, hi float64) {
	return max(0, p[2]+p[1]-p[0]), min(p[1], p[2])
}

func hypergeometricMode(p []float64) float64 {
	return math.Floor((p[2] + 1) * (p[1] + 1) / (p[0] + 2))
}

// hypergeometricRatio returns P(k+1)/P(k).
func hypergeometricRatio(k float64, p []float64) float64 {
	return (p[1] - k) / (k + 1) * ((p[2] - k) / (p[0] - p[1] - p[2] + k + 1))
}

// hypergeometricRand adds up probabilities from the mode outwards on alternating sides
// until the sum exceeds a uniform number.
func hypergeometricRand(src Source, p []float64) float64 {
	lo, hi := hypergeometricEnds(p)
	mode := min(max(hypergeometricMode(p), lo), hi)
	if !(hi-lo <= 1e9) || !(lo <= hi) {
		return math.NaN()
	}
	total := 1.0
	for k, q := mode, 1.0; k < hi && q > 1e-300; k++ {
		q *= hypergeometricRatio(k, p)
		total += q
	}
	for k, q := mode, 1.0; k > lo && q > 1e-300; k-- {
		q /= hypergeometricRatio(k-1, p)
		total += q
	}
	u := open(src)*total - 1
	up, down, pu, pd := mode, mode, 1.0, 1.0
	for u > 0 && (up < hi || down > lo) {
		if up < hi {
			pu *= hypergeometricRatio(up, p)
			up++
			if u -= pu; u <= 0 {
				return up
			}
		}
		if down > lo {
			pd /= hypergeometricRatio(down-1, p)
			down--
			if u -= pd; u <= 0 {
				return down
			}
		}
	}
	return mode
}

func init() {
	register(Family{Name: "hypergeometric", Params: []string{"total", "marked", "n"}, Want: []Support{Naturals, Counts, Counts},
		Order: []Order{{Low: "marked", High: "total", Equal: true}, {Low: "n", High: "total", Equal: true}},
		Make:  func(p ...any) Dist { return Hypergeometric(p[0], p[1], p[2]) },
		At:    [][]float64{{50, 10, 8}, {20, 15, 12}, {4000, 700, 300}}})
}
