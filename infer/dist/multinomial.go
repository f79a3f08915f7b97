// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Multinomial is the distribution of the counts of K outcomes in n trials, whose
// probabilities are the last axis of p. A value is a vector of integers that sum to n.
//
//	log P = log n! - sum log c_k! + sum c_k log p_k
func Multinomial(n, p any) Dist {
	q := Nodes(n, p)
	return multinomialOf("multinomial", q, func() *ad.Node { return q[1] }, func(p []float64) []float64 { return p })
}

// MultinomialLogits is Multinomial with probabilities given by their logarithms, up to a
// common constant.
func MultinomialLogits(n, logits any) Dist {
	q := Nodes(n, logits)
	d := multinomialOf("multinomiallogits", q, nil, softmax)
	d.LogProbOf = func(x *ad.Node) *ad.Node {
		choose := ad.Sub(ad.Lgamma(ad.Shift(q[0], 1)), each(ad.Lgamma(ad.Shift(x, 1))))
		log := ad.LogSoftmax(q[1], -1)
		return ad.Add(choose, each(ad.Mul(x, ad.Where(ad.Equal(x, zero), zero, log))))
	}
	return d
}

func multinomialOf(name string, q []*ad.Node, p func() *ad.Node, at func(p []float64) []float64) Dist {
	k := last(q[1])
	d := countsOf(name, q, k)
	d.LogProbOf = func(x *ad.Node) *ad.Node {
		// The gradient of the deviances with respect to p is a difference of numbers as large as n, so it is that of the
		// plain formula. The deviances contain n (sum(p) - 1), which is 0 on the simplex.
		fixed := ad.StopGradient(p())
		fall := ad.PoissonDeviance(x, ad.Mul(column(q[0]), fixed))
		extra := ad.Mul(q[0], ad.Shift(each(fixed), -1))
		safe := ad.Where(ad.Equal(x, zero), one, p())
		slope := each(ad.Mul(x, ad.Sub(ad.Log(safe), ad.Log(ad.StopGradient(safe)))))
		return ad.Add(ad.Add(ad.Sub(ad.LogFactorialRest(q[0]), each(ad.Add(fall, ad.LogFactorialRest(x)))), extra), slope)
	}
	d.check = func() error {
		v, ok := constant(q[1])
		for i := 0; ok && name == "multinomial" && i < len(v); i += k {
			if err := probabilities(v[i : i+k]); err != nil {
				return err
			}
		}
		return nil
	}
	d.DrawOf = func(src Source, dst, p []float64) error {
		drawCounts(src, dst, p[0], at(p[1:]))
		return nil
	}
	return d
}

// countsOf is a distribution of k counts that sum to q[0].
func countsOf(name string, q []*ad.Node, k int) Dist {
	start := make([]float64, max(1, k))
	start[0] = 1
	return Dist{Name: name, Params: q, ParamEvent: []int{0, 1}, Event: 1, Support: Counts, Discrete: true,
		Center: ad.Mul(column(q[0]), ad.Const(start)),
		InsideOf: func(x *ad.Node) *ad.Node {
			whole := ad.MinAxes(ad.Mul(ad.Equal(x, ad.Floor(x)), ad.GreaterEqual(x, zero)), -1)
			return ad.Mul(whole, ad.Equal(each(x), q[0]))
		},
		TransformOf: func() Transform { return noTransform(name) },
	}
}

// noTransform returns a Transform that fails, for distributions of integers, which
// gradient-based samplers cannot sample.
func noTransform(name string) Transform {
	err := fmt.Errorf("dist: %s is a distribution of integers and has no transform: sum it out with Mixture or LogMix", name)
	return Transform{Name: "none", Free: sameLength,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) { return failed(x, err), failed(x, err) },
		Inverse:   func([]float64, ...float64) ([]float64, error) { return nil, err },
	}
}

// drawCounts divides n among the outcomes by successive binomial draws.
func drawCounts(src Source, dst []float64, n float64, p []float64) {
	rest := 0.0
	for _, w := range p {
		rest += w
	}
	for i, w := range p {
		rest -= w
		dst[i] = n
		if i+1 < len(p) {
			dst[i] = binomialRand(src, n, w/(w+max(rest, 0)), max(rest, 0)/(w+max(rest, 0)))
		}
		n -= dst[i]
	}
}

// DirichletMultinomial is Multinomial(n, p) with p drawn from Dirichlet(alpha).
//
//	log P = log n! - sum log c_k! + log B(c + alpha) - log B(alpha),
//	log B(a) = sum log Gamma(a_k) - log Gamma(sum a)
//
// The density is computed from the deviances of c and alpha from the values predicted by
// (c + alpha)/(n + sum alpha).
func DirichletMultinomial(n, alpha any) Dist {
	q := Nodes(n, alpha)
	d := countsOf("dirichletmultinomial", q, last(q[1]))
	d.LogProbOf = func(x *ad.Node) *ad.Node {
		n, a := q[0], q[1]
		total := each(a)
		both, all := ad.Add(x, a), ad.Add(n, total)
		share := ad.Div(both, column(all))
		gap := ad.Sub(ad.Mul(column(ad.Div(total, all)), ad.Div(x, a)), column(ad.Div(n, all))) // how far total share is above a, relative to a
		fall := ad.Add(ad.PoissonDeviance(x, ad.Mul(column(n), share)), drift(a, column(total), share, gap))
		part := ad.Sub(ad.Add(ad.Sub(stirling(both), stirling(a)), ad.Scale(0.5, ad.Log(ad.Div(a, both)))), ad.Add(fall, ad.LogFactorialRest(x)))
		whole := ad.Add(ad.Sub(stirling(total), stirling(all)), ad.Add(ad.LogFactorialRest(n), ad.Scale(0.5, ad.Log(ad.Div(all, total)))))
		return ad.Add(each(part), whole)
	}
	d.DrawOf = func(src Source, dst, p []float64) error {
		w := make([]float64, len(dst))
		drawDirichlet(src, w, p[1:])
		drawCounts(src, dst, p[0], w)
		return nil
	}
	return d
}

func init() {
	register(Family{Name: "multinomial", Params: []string{"n", "p"}, Want: []Support{Counts, closedUnit}, Arrays: []Array{AnyArray, Probabilities}, Linked: "multinomiallogits",
		Make:   func(p ...any) Dist { return Multinomial(p[0], p[1]) },
		At:     [][]float64{{20, 0.2, 0.5, 0.3}},
		Shapes: [][]int{{}, {3}}, Value: []int{3}})
	register(Family{Name: "multinomiallogits", Params: []string{"n", "logits"}, Want: []Support{Counts, logarithm},
		Make:   func(p ...any) Dist { return MultinomialLogits(p[0], p[1]) },
		At:     [][]float64{{8, 0.1, -0.4, 1.2}},
		Shapes: [][]int{{}, {3}}, Value: []int{3}})
	register(Family{Name: "dirichletmultinomial", Params: []string{"n", "alpha"}, Want: []Support{Counts, Positive},
		Make:   func(p ...any) Dist { return DirichletMultinomial(p[0], p[1]) },
		At:     [][]float64{{8, 0.5, 1.5, 2}},
		Shapes: [][]int{{}, {3}}, Value: []int{3}})
}
