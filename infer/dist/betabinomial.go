// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// BetaBinomial is Binomial(n, p) with p drawn from Beta(a, b). It has no LogCDF; CDF is a
// sum of at most 1e9 terms.
//
//	log P = log C(n, k) + log B(k+a, n-k+b) - log B(a, b)
//
// The density is computed from the deviances of k, n-k, a and b from the values predicted
// by (k+a)/(n+a+b).
func BetaBinomial(n, a, b any) Dist {
	p := Nodes(n, a, b)
	return Dist{Name: "betabinomial", Params: p, Support: wholes(zero, p[0]), Discrete: true,
		LogProbOf: func(x *ad.Node) *ad.Node {
			n, a, b, rest := p[0], p[1], p[2], ad.Sub(p[0], x)
			c, ka, kb := ad.Add(a, b), ad.Add(x, a), ad.Add(rest, b)
			all := ad.Add(n, c)
			s, f := ad.Div(ka, all), ad.Div(kb, all)
			fall := func(k, m, q *ad.Node) *ad.Node { return ad.PoissonDeviance(k, ad.Mul(m, q)) }
			// How far c s is above a, relative to a, and c f above b.
			gap := ad.Sub(ad.Mul(b, ad.Div(x, all)), ad.Mul(a, ad.Div(rest, all)))
			falls := ad.AddN(fall(x, n, s), fall(rest, n, f), drift(a, c, s, ad.Div(gap, a)), drift(b, c, f, ad.Neg(ad.Div(gap, b))))
			errors := ad.Sub(ad.AddN(stirling(ka), stirling(kb), stirling(c)), ad.AddN(stirling(all), stirling(a), stirling(b)))
			scale := ad.Scale(0.5, ad.Log(ad.Div(ad.Div(a, ka), ad.Mul(ad.Div(kb, b), ad.Div(c, all)))))
			return ad.Add(ad.Sub(chooseRest(n, x), falls), ad.Add(errors, scale))
		},
		RandOf: func(src Source, p []float64) float64 {
			s := logitBeta(src, p[1], p[2])
			return binomialRand(src, p[0], 1/(1+math.Exp(-s)), 1/(1+math.Exp(s)))
		},
		CDFOf: func(x float64, p []float64) float64 {
			return sumBelow(x, p[0], betaBinomialMode(p), func(k float64) float64 { // P(k+1)/P(k)
				return (p[0] - k) / (k + 1) * ((k + p[1]) / (p[0] - k - 1 + p[2]))
			})
		},
		MeanOf: func(p []float64) float64 { return p[0] * p[1] / (p[1] + p[2]) },
		VarianceOf: func(p []float64) float64 {
			c := p[1] + p[2]
			return p[0] * (p[1] / c) * (p[2] / c) * (c + p[0]) / (c + 1)
		},
	}
}

// drift is PoissonDeviance(a, c s) = a (d - log(1+d)), where c s = a (1+d) may be nearer to a than the spacing of numbers.
func drift(a, c, s, d *ad.Node) *ad.Node {
	small := ad.Less(ad.Abs(d), ad.Scalar(1e-4))
	d = ad.Where(small, d, zero)
	series := ad.Shift(ad.Mul(d, ad.Shift(ad.Mul(d, ad.Shift(ad.Scale(-0.2, d), 0.25)), -1.0/3)), 0.5)
	return ad.Where(small, ad.Mul(ad.Mul(a, d), ad.Mul(d, series)), ad.PoissonDeviance(a, ad.Mul(c, s)))
}

func stirling(x *ad.Node) *ad.Node { return ad.StirlingError(x) }

// betaBinomialMode returns a k with high probability.
func betaBinomialMode(p []float64) float64 {
	return math.Floor(p[0] * p[1] / (p[1] + p[2]))
}

// sumBelow returns the cumulative probability of 0..x for probabilities on 0..n with
// ratios P(k+1)/P(k). The sum starts at start, where the probabilities are high, which
// avoids early overflow. It returns NaN if there are too many terms.
func sumBelow(x, n, start float64, ratio func(k float64) float64) float64 {
	if !(n <= 1e9) {
		return math.NaN()
	}
	start = min(max(start, 0), n)
	below, above := 0.0, 0.0
	add := func(k, p float64) {
		if k <= x {
			below += p
		} else {
			above += p
		}
	}
	add(start, 1)
	for k, p := start, 1.0; k < n; k++ {
		if p *= ratio(k); p < 1e-300 {
			break
		}
		add(k+1, p)
	}
	for k, p := start, 1.0; k > 0; k-- {
		if p /= ratio(k - 1); p < 1e-300 {
			break
		}
		add(k-1, p)
	}
	return below / (below + above)
}

func init() {
	register(Family{Name: "betabinomial", Params: []string{"n", "a", "b"}, Want: []Support{Counts, Positive, Positive},
		Make: func(p ...any) Dist { return BetaBinomial(p[0], p[1], p[2]) },
		At:   [][]float64{{10, 2, 3}, {40, 0.5, 0.7}}})
}
