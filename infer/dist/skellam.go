// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Skellam is the distribution of the difference between two Poisson counts with rates mu1
// and mu2. It has no LogCDF.
//
//	log P = -(mu1+mu2) + k/2 log(mu1/mu2) + log I_|k|(2 sqrt(mu1 mu2))
//
// This is computed from the deviances from the most probable counts n1 and n2 with k = n1
// - n2, for which n1 n2 = mu1 mu2, and from the Bessel function divided by its
// exponential growth there.
func Skellam(mu1, mu2 any) Dist {
	p := Nodes(mu1, mu2)
	return Dist{Name: "skellam", Params: p, Support: Support{Whole: true}, Discrete: true,
		LogProbOf: func(x *ad.Node) *ad.Node {
			size := ad.Abs(x)
			arg := ad.Scale(2, ad.Mul(ad.Sqrt(p[0]), ad.Sqrt(p[1])))
			large := ad.Scale(0.5, ad.Add(size, ad.Hypot(size, arg)))
			small := ad.Scale(0.25, ad.Mul(arg, ad.Div(arg, large)))
			up := ad.GreaterEqual(x, zero)
			falls := ad.Add(ad.PoissonDeviance(ad.Where(up, large, small), p[0]), ad.PoissonDeviance(ad.Where(up, small, large), p[1]))
			return ad.Sub(ad.LogBesselIScaled(size, arg), falls)
		},
		RandOf: func(src Source, p []float64) float64 { return poissonRand(src, p[0]) - poissonRand(src, p[1]) },
		CDFOf:  skellamCDF,
		MeanOf: func(p []float64) float64 { return p[0] - p[1] },
		VarianceOf: func(p []float64) float64 {
			return p[0] + p[1]
		},
	}
}

// skellamCDF sums, over the count with the smaller rate, its probability times that of
// the other count. If the distribution is wide, every h-th count stands for h of them.
// This loses no accuracy because the summand is smooth.
func skellamCDF(x float64, p []float64) float64 {
	if !(max(p[0], p[1]) <= 1e15) { // float64 cannot represent all integers
		return math.NaN()
	}
	small := min(p[0], p[1])
	h := max(1, math.Floor(math.Sqrt(small)/4))
	spread := 10*math.Sqrt(small) + 30
	first := max(0, math.Floor(small-spread))
	if p[1] <= p[0] { // there is nothing below -x
		first = max(first, math.Ceil(-x))
	}
	if first > 1e15+spread { // where the other count is 0 for certain
		return 0
	}
	sum := 0.0
	for j := first; j <= max(small, first)+spread; j += h {
		w := h * math.Exp(-deviance.Eval(j, small)-factorialRest.Eval(j))
		switch n := j - x; {
		case p[1] <= p[0]: // the first count is at most x + j
			if x+j >= 0 {
				sum += w * upperGamma(x+j+1, p[0])
			}
		case n <= 0:
			sum += w
		default: // the second count is at least j - x
			sum += w * lowerGamma(n, p[1])
		}
	}
	return min(sum, 1)
}

func init() {
	register(Family{Name: "skellam", Params: []string{"mu1", "mu2"}, Want: []Support{Positive, Positive},
		Make: func(p ...any) Dist { return Skellam(p[0], p[1]) },
		At:   [][]float64{{3, 2}, {0.5, 8}, {300, 280}}})
}
