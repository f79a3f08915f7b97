// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// OrderedLogistic is the distribution of the index k = 0..K of the interval between K
// increasing cutpoints that contains a Logistic(eta, 1) number.
//
//	P = sigmoid(eta - c_(k-1)) - sigmoid(eta - c_k)
//	log P = log sigmoid(eta - c_(k-1)) + log sigmoid(c_k - eta) + log(1 - exp(c_(k-1) - c_k))
//
// Shapes: eta (...), cutpoints (..., K).
func OrderedLogistic(eta, cutpoints any) Dist {
	p := Nodes(eta, cutpoints)
	k := last(p[1])
	// The cutpoint at index x + shift, or 0 if there is none.
	cut := func(x *ad.Node, shift float64) *ad.Node {
		at := ad.Shift(ad.Reshape(x, append(x.Shape().Clone(), 1)...), shift)
		return each(ad.Where(ad.Equal(counting(k), at), p[1], zero))
	}
	first := func(x *ad.Node) *ad.Node { return ad.LessEqual(x, zero) }
	final := func(x *ad.Node) *ad.Node { return ad.GreaterEqual(x, ad.Scalar(float64(k))) }
	return Dist{Name: "orderedlogistic", Params: p, ParamEvent: []int{0, 1}, Support: wholes(0, float64(k)), Discrete: true,
		check: func() error {
			v, ok := constant(p[1])
			for i := 1; ok && i < len(v); i++ {
				if i%k > 0 && !(v[i] > v[i-1]) {
					return fmt.Errorf("dist: orderedlogistic: cutpoint %d is %g, which is not above the one before: want cutpoints in ascending order", i%k, v[i])
				}
			}
			return nil
		},
		LogProbOf: func(x *ad.Node) *ad.Node {
			lo, hi := cut(x, -1), cut(x, 0)
			left := ad.Where(first(x), zero, ad.LogSigmoid(ad.Sub(p[0], lo)))
			right := ad.Where(final(x), zero, ad.LogSigmoid(ad.Sub(hi, p[0])))
			outer := ad.Maximum(first(x), final(x))
			width := ad.Log1mExp(ad.Where(outer, ad.Scalar(-1), ad.Sub(lo, hi)))
			return ad.Add(ad.Add(left, right), ad.Where(outer, zero, width))
		},
		LogCDFOf:  func(x *ad.Node) *ad.Node { return ad.LogSigmoid(ad.Sub(cut(x, 0), p[0])) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { return ad.LogSigmoid(ad.Sub(p[0], cut(x, 0))) },
		RandOf: func(src Source, p []float64) float64 {
			z := p[0] + logit(open(src))
			n := 0
			for n < k && z > p[1+n] {
				n++
			}
			return float64(n)
		},
		CDFOf: func(x float64, p []float64) float64 { return 1 / (1 + math.Exp(p[0]-p[1+int(x)])) },
		MeanOf: func(p []float64) (sum float64) {
			for _, c := range p[1:] {
				sum += 1 / (1 + math.Exp(c-p[0]))
			}
			return sum
		},
		VarianceOf: func(p []float64) float64 { // E[k^2] = sum (2i+1) P(k > i)
			var m, q float64
			for i, c := range p[1:] {
				above := 1 / (1 + math.Exp(c-p[0]))
				m, q = m+above, q+float64(2*i+1)*above
			}
			return q - m*m
		},
	}
}

func init() {
	register(Family{Name: "orderedlogistic", Params: []string{"eta", "cutpoints"}, Want: []Support{Real, Real}, Arrays: []Array{AnyArray, Ascending},
		Make:   func(p ...any) Dist { return OrderedLogistic(p[0], p[1]) },
		At:     [][]float64{{0.3, -1, 0.5, 2}},
		Shapes: [][]int{{}, {3}}})
}
