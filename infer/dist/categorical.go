// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Categorical is the distribution of an index k = 0..K-1 with probabilities p, the last
// axis of a Node on the simplex.
//
//	log P = log p_k
func Categorical(p any) Dist {
	q := Nodes(p)
	d := categoricalOf("categorical", q, func() *ad.Node { return ad.Log(q[0]) }, func(p []float64) []float64 { return p })
	// Probabilities are selected before their logarithm is taken, since others may be 0.
	sum := func(x *ad.Node, holds func(a, b *ad.Node) *ad.Node) *ad.Node {
		return each(ad.Where(holds(counting(last(q[0])), wide(x, 1)), q[0], zero))
	}
	d.LogProbOf = func(x *ad.Node) *ad.Node { return ad.Log(sum(x, ad.Equal)) }
	d.LogCDFOf = func(x *ad.Node) *ad.Node { return logOf(sum(x, ad.LessEqual), sum(x, ad.Greater)) }
	d.LogCCDFOf = func(x *ad.Node) *ad.Node { return logOf(sum(x, ad.Greater), sum(x, ad.LessEqual)) }
	return d
}

// CategoricalLogits is Categorical with probabilities given by their logarithms, up to a
// common constant.
//
//	log P = logits_k - log sum exp(logits)
func CategoricalLogits(logits any) Dist {
	q := Nodes(logits)
	return categoricalOf("categoricallogits", q, func() *ad.Node { return ad.LogSoftmax(q[0], -1) }, softmax)
}

func categoricalOf(name string, q []*ad.Node, logP func() *ad.Node, p func(q []float64) []float64) Dist {
	k := last(q[0])
	// The logarithm of the probability of all indices for which holds is true, from the odds, which keep the digits of both tails.
	tail := func(x *ad.Node, holds func(a, b *ad.Node) *ad.Node) *ad.Node {
		in := holds(counting(k), ad.Reshape(x, append(x.Shape().Clone(), 1)...))
		none := ad.Scalar(math.Inf(-1))
		return ad.LogSigmoid(ad.Sub(ad.LogSumExp(ad.Where(in, q[0], none), -1), ad.LogSumExp(ad.Where(in, none, q[0]), -1)))
	}
	moment := func(q []float64, power float64) (sum float64) {
		for i, w := range p(q) {
			sum += w * math.Pow(float64(i), power)
		}
		return sum
	}
	return Dist{Name: name, Params: q, ParamEvent: []int{1}, Support: wholes(0, float64(k-1)), Discrete: true,
		check: func() error {
			if k < 1 {
				return fmt.Errorf("dist: %s: the probabilities have shape %v: want one for each index in the last axis", name, q[0].Shape())
			}
			if v, ok := constant(q[0]); ok && name == "categorical" {
				for at := 0; at < len(v); at += k {
					if err := probabilities(v[at : at+k]); err != nil {
						return err
					}
				}
			}
			return nil
		},
		LogProbOf: func(x *ad.Node) *ad.Node {
			is := ad.Equal(counting(k), ad.Reshape(x, append(x.Shape().Clone(), 1)...))
			return each(ad.Where(is, logP(), zero))
		},
		LogCDFOf:  func(x *ad.Node) *ad.Node { return tail(x, ad.LessEqual) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { return tail(x, ad.Greater) },
		RandOf: func(src Source, q []float64) float64 {
			u := src.Float64()
			for i, w := range p(q)[:k-1] {
				if u -= w; u < 0 {
					return float64(i)
				}
			}
			return float64(k - 1)
		},
		CDFOf: func(x float64, q []float64) (sum float64) {
			for _, w := range p(q)[:int(x)+1] {
				sum += w
			}
			return sum
		},
		MeanOf:     func(q []float64) float64 { return moment(q, 1) },
		VarianceOf: func(q []float64) float64 { m := moment(q, 1); return moment(q, 2) - m*m },
	}
}

func init() {
	register(Family{Name: "categorical", Params: []string{"p"}, Want: []Support{closedUnit}, Arrays: []Array{Probabilities}, Linked: "categoricallogits",
		Make:   func(p ...any) Dist { return Categorical(p[0]) },
		At:     [][]float64{{0.2, 0.5, 0.3}},
		Shapes: [][]int{{3}}})
	register(Family{Name: "categoricallogits", Params: []string{"logits"}, Want: []Support{logarithm},
		Make:   func(p ...any) Dist { return CategoricalLogits(p[0]) },
		At:     [][]float64{{0.2, -1, 3}},
		Shapes: [][]int{{3}}})
}
