// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/subnormal"
	"github.com/euryale-dev/euryale/models/stan/internal/value"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// drawn registers random numbers of a distribution of vectors or matrices, or of categories. of returns the distribution of the known
// arguments, the shape of one value, and what is added to it.
func drawn(name string, of func(x []*ad.Node, a []value.Value) (d dist.Dist, shape []int, add float64), signatures ...string) {
	register(name, false, func(c *Call) (value.Value, error) {
		if !allKnown(c.Args...) {
			return value.Value{}, errRandom
		}
		var in []*ad.Node
		for _, a := range c.Args {
			in = append(in, a.Node())
		}
		d, shape, add := of(in, c.Args)
		if err := d.Err(); err != nil {
			return value.Value{}, err
		}
		var p [][]float64
		for _, n := range d.Params {
			if known := n.Numbers(); known != nil {
				p = append(p, slices.Clone(known))
				continue
			}
			v, err := ad.Numbers(n)
			if err != nil {
				return value.Value{}, err
			}
			p = append(p, slices.Clone(v[0]))
		}
		out := make([]float64, value.Size(shape))
		if err := d.Fill(c.Random, out, shape, p); err != nil {
			return value.Value{}, err
		}
		for i := range out {
			out[i] += add
		}
		return value.Known(c.Result, out, shape...), nil
	}, signatures...)
}

// batch is the shape of arrays of vectors, if any argument is one.
func batch(k int, args ...value.Value) []int {
	for _, a := range args {
		if a.Type.Dims > 0 {
			return []int{a.Shape[0], k}
		}
	}
	return []int{k}
}

// randomNumbers registers them.
func randomNumbers() {
	drawn("categorical_rng", func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) { return dist.Categorical(x[0]), nil, 1 }, "vector => int")
	drawn("categorical_logit_rng", func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
		return dist.CategoricalLogits(x[0]), nil, 1
	}, "vector => int")
	drawn("ordered_logistic_rng", func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
		return dist.OrderedLogistic(x[0], x[1]), nil, 1
	}, "real vector => int")
	drawn("dirichlet_rng", func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
		return dist.Dirichlet(x[0]), a[0].Shape, 0
	}, "vector => vector")
	vectors := "vector|row_vector"
	many := "vector[]|row_vector[]"
	normal := func(of func(mu, m any) dist.Dist) func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
		return func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
			return of(x[0], x[1]), batch(a[1].Shape[0], a[0]), 0
		}
	}
	drawn("multi_normal_rng", normal(dist.MultivariateNormal), vectors+" matrix => vector", many+" matrix => vector[]")
	drawn("multi_normal_cholesky_rng", normal(func(mu, l any) dist.Dist { return dist.MultivariateNormalCholesky(mu, l) }), vectors+" matrix => vector", many+" matrix => vector[]")
	drawn("multi_normal_prec_rng", normal(func(mu, p any) dist.Dist { return dist.MultivariateNormal(mu, ad.Inverse(ad.Of(p))) }), vectors+" matrix => vector", many+" matrix => vector[]")
	student := func(chol bool) func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
		return func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
			l := x[2]
			if !chol {
				l = ad.Cholesky(l)
			}
			return dist.MultivariateStudentTCholesky(x[0], x[1], l), batch(a[2].Shape[0], a[1]), 0
		}
	}
	drawn("multi_student_t_rng", student(false), "real "+vectors+" matrix => vector", "real "+many+" matrix => vector[]")
	drawn("multi_student_t_cholesky_rng", student(true), "real "+vectors+" matrix => vector", "real "+many+" matrix => vector[]")
	functions["multi_student_cholesky_t_rng"] = functions["multi_student_t_cholesky_rng"] // so the reference calls it
	drawn("multinomial_rng", func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
		return dist.Multinomial(a[1].Number(), x[0]), a[0].Shape, 0
	}, "vector int => int[]")
	drawn("multinomial_logit_rng", func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
		return dist.MultinomialLogits(a[1].Number(), x[0]), a[0].Shape, 0
	}, "vector int => int[]")
	drawn("dirichlet_multinomial_rng", func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
		return dist.DirichletMultinomial(a[1].Number(), x[0]), a[0].Shape, 0
	}, "vector int => int[]")
	drawn("wishart_rng", func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
		return dist.Wishart(x[0], x[1]), a[1].Shape, 0
	}, "real matrix => matrix")
	drawn("inv_wishart_rng", func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
		return dist.InverseWishart(x[0], x[1]), a[1].Shape, 0
	}, "real matrix => matrix")
	factors := func(of func(nu, s any) dist.Dist) func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
		return func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
			l := ad.Tril(x[1], 0)
			return of(x[0], ad.MatMul(l, ad.T(l))), a[1].Shape, 0
		}
	}
	drawn("wishart_cholesky_rng", factors(dist.Wishart), "real matrix => matrix")
	drawn("inv_wishart_cholesky_rng", factors(dist.InverseWishart), "real matrix => matrix")
	for _, name := range []string{"wishart_cholesky_rng", "inv_wishart_cholesky_rng"} {
		whole := functions[name].Do
		functions[name].Do = func(c *Call) (value.Value, error) {
			w, err := whole(c)
			if err != nil {
				return w, err
			}
			return evaluate(value.Of(w.Type, ad.Cholesky(w.Node()), w.Shape...))
		}
	}
	register("ordered_probit_rng", false, func(c *Call) (value.Value, error) {
		eta, cuts := c.Args[0], c.Args[1]
		if !allKnown(eta, cuts) {
			return eta, errRandom
		}
		z, k := eta.Number()+c.Random.Normal(), 1
		for _, x := range cuts.F {
			if z > x {
				k++
			}
		}
		return value.Int(k), nil
	}, "real vector => int")
	lkj := func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
		k := a[0].Integer()
		return dist.LKJCholesky(k, x[1]), []int{k, k}, 0
	}
	drawn("lkj_corr_cholesky_rng", lkj, "int real => matrix")
	drawn("lkj_corr_rng", lkj, "int real => matrix")
	chol := functions["lkj_corr_rng"].Do
	functions["lkj_corr_rng"].Do = func(c *Call) (value.Value, error) {
		l, err := chol(c)
		if err != nil {
			return l, err
		}
		t, err := Transpose(l, l.Type)
		if err != nil {
			return l, err
		}
		return product(l, t, l.Type)
	}
	glm := func(of func(eta *ad.Node, rest []*ad.Node) dist.Dist) func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
		return func(x []*ad.Node, a []value.Value) (dist.Dist, []int, float64) {
			if len(a[0].Shape) == 1 {
				x[0] = ad.Reshape(x[0], 1, x[0].Size())
			}
			n := x[0].Shape()[0]
			return of(ad.Broadcast(ad.Add(ad.MatMul(x[0], x[2]), x[1]), n), x[3:]), []int{n}, 0
		}
	}
	drawn("bernoulli_logit_glm_rng", glm(func(eta *ad.Node, r []*ad.Node) dist.Dist { return dist.BernoulliLogit(eta) }), "matrix|row_vector real|vector vector => int[]")
	drawn("poisson_log_glm_rng", glm(func(eta *ad.Node, r []*ad.Node) dist.Dist { return dist.PoissonLog(eta) }), "matrix|row_vector real|vector vector => int[]")
	hidden()
}

// hidden are the functions of hidden Markov models, with log densities in a matrix (states, times).
func hidden() {
	args := "matrix matrix vector"
	check := func(a []value.Value) error {
		k := a[0].Shape[0]
		if len(a[1].Shape) != 2 || a[1].Shape[0] != k || a[1].Shape[1] != k || a[2].Size() != k {
			return fmt.Errorf("sizes do not match: log densities %s, transitions %s, initial probabilities %d: use one row of densities, one row and column of transitions and one probability for each state", sizes(a[0].Shape), sizes(a[1].Shape), a[2].Size())
		}
		return nil
	}
	forward := func(omega, gamma, rho *ad.Node) []*ad.Node {
		lg := ad.Log(gamma)
		k := rho.Size()
		alpha := ad.Add(ad.Log(rho), ad.Index(omega, 1, 0))
		all := []*ad.Node{alpha}
		for t := 1; t < omega.Shape()[1]; t++ {
			alpha = ad.Add(ad.LogSumExp(ad.Add(ad.Reshape(alpha, k, 1), lg), 0), ad.Index(omega, 1, t))
			all = append(all, alpha)
		}
		return all
	}
	register("hmm_marginal", false, func(c *Call) (value.Value, error) {
		if err := check(c.Args); err != nil {
			return value.Value{}, err
		}
		all := forward(c.Args[0].Node(), c.Args[1].Node(), c.Args[2].Node())
		return result(c, ad.LogSumExp(all[len(all)-1], 0), 0)
	}, args+" => real")
	register("hmm_hidden_state_prob", false, func(c *Call) (value.Value, error) {
		if err := check(c.Args); err != nil {
			return value.Value{}, err
		}
		omega, gamma := c.Args[0].Node(), c.Args[1].Node()
		all := forward(omega, gamma, c.Args[2].Node())
		lg := ad.Log(gamma)
		k := c.Args[2].Size()
		beta := ad.Full(0, k)
		cols := make([]*ad.Node, len(all))
		for t := len(all) - 1; t >= 0; t-- {
			cols[t] = ad.Softmax(ad.Add(all[t], beta), 0)
			if t > 0 {
				beta = ad.LogSumExp(ad.Add(lg, ad.Reshape(ad.Add(beta, ad.Index(omega, 1, t)), 1, k)), 1)
			}
		}
		return result(c, ad.Stack(1, cols...), 0, c.Args[0].Shape...)
	}, args+" => matrix")
	register("hmm_latent_rng", false, func(c *Call) (value.Value, error) {
		if err := check(c.Args); err != nil {
			return value.Value{}, err
		}
		if !allKnown(c.Args...) {
			return value.Value{}, errRandom
		}
		all := forward(c.Args[0].Node(), c.Args[1].Node(), c.Args[2].Node())
		v, err := ad.Numbers(ad.Stack(0, all...))
		if err != nil {
			return value.Value{}, err
		}
		k, n := c.Args[2].Size(), len(all)
		alpha := v[0]
		out := make([]float64, n)
		next := -1
		for t := n - 1; t >= 0; t-- {
			w := make([]float64, k)
			for i := range w {
				w[i] = alpha[t*k+i]
				if next >= 0 {
					w[i] += subnormal.Log(c.Args[1].F[i*k+next])
				}
			}
			most := slices.Max(w)
			sum := 0.0
			for i := range w {
				w[i] = math.Exp(w[i] - most)
				sum += w[i]
			}
			u := c.Random.Float64() * sum
			next = k - 1
			for i := range w {
				if u -= w[i]; u < 0 {
					next = i
					break
				}
			}
			out[t] = float64(next + 1)
		}
		return value.Known(c.Result, out, n), nil
	}, args+" => int[]")
}
