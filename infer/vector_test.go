// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Distributions of vectors and matrices as priors and likelihoods: a regression with a
// correlated normal error, weights on the simplex, a correlation matrix.
func TestVectorLaws(t *testing.T) {
	m := infer.NewModel("vectors")
	l := m.Param("L", dist.LKJCholesky(3, 2.0))
	w := m.Param("w", dist.Dirichlet([]float64{2, 3, 5}))
	two := m.Param("pairs", dist.Dirichlet([]float64{4, 4}), infer.Shape(3, 2))
	mu := m.Param("mu", dist.MultivariateNormalCholesky([]float64{1, 2, 3}, ad.Scale(0.5, ad.Const([]float64{1, 0, 0, 0.5, 1, 0, 0, 0.2, 1}, 3, 3))))
	r := ad.MatMul(l, ad.T(l))
	m.Deterministic("r01", ad.Index(ad.Index(r, 0, 0), 0, 1))
	m.Deterministic("total", ad.Add(ad.Sum(w), ad.Sum(two)))
	y := []float64{1.2, 1.9, 3.3, 0.8, 2.2, 2.7}
	m.Observe("y", dist.MultivariateNormalCholesky(mu, l), y, infer.Shape(2, 3))
	post := compiled(t, m)
	if want := []string{"L[0, 0]", "w[0]", "pairs[0, 0]", "mu[0]"}; !slices.Equal([]string{post.Names()[0], post.Names()[9], post.Names()[12], post.Names()[18]}, want) {
		t.Errorf("columns %v", post.Names())
	}
	fit := sampled(t, post, infer.Settings{Seed: 1})
	for name, want := range map[string][2]float64{"w[0]": {0.2, math.Sqrt(0.014545454545454545)}, "w[2]": {0.5, math.Sqrt(0.022727272727272728)}, "pairs[2, 1]": {0.5, 1. / 6}} {
		r := fit.Summary().Row(name)
		if math.Abs(r.Mean-want[0]) > 5*r.MCSEMean || math.Abs(r.SD-want[1]) > 5*r.MCSESD || !(r.RHat < 1.01) {
			t.Errorf("%s is %g +- %g, want %v", name, r.Mean, r.SD, want)
		}
	}
	if r := fit.Summary().Row("total"); math.Abs(r.Mean-4) > 1e-12 {
		t.Errorf("simplexes sum to %g, want 4", r.Mean)
	}
	ll, err := fit.LogLik("y")
	if err != nil || len(ll[0][0]) != 2 {
		t.Errorf("terms of the likelihood: %v", err)
	}
	rep, err := fit.PosteriorPredictive("y")
	if err != nil || len(rep[0][0]) != 6 {
		t.Errorf("replicas: %v", err)
	}
	sim, err := post.Prior(500, 1)
	if err != nil || len(sim.Values("pairs")[0]) != 6 {
		t.Fatalf("prior: %v", err)
	}
	for _, l := range sim.Values("L")[:20] {
		if n := l[6]*l[6] + l[7]*l[7] + l[8]*l[8]; math.Abs(n-1) > 1e-12 {
			t.Errorf("a row of a correlation factor has length %g", n)
		}
	}
	if _, err := fit.Data(infer.DataSettings{Predictive: true, Prior: 10}); err != nil {
		t.Error(err)
	}
}

// Mixtures as likelihoods, truncated priors, and points of mass.
func TestMixturesAndTruncation(t *testing.T) {
	m := infer.NewModel("mixture")
	w := m.Param("w", dist.Dirichlet([]float64{1, 1}))
	far := m.Param("far", dist.Truncate(dist.Normal(0, 3), 1, nil))
	m.Observe("y", dist.Mixture(w, dist.Normal(0, 0.5), dist.Normal(far, 0.5)), []float64{-0.2, 0.1, 0.3, 4.1, 3.8, 4.2, 3.9, 4.0})
	post := compiled(t, m)
	fit := sampled(t, post, infer.Settings{Seed: 2})
	if r := fit.Summary().Row("far"); math.Abs(r.Mean-4) > 0.2 || r.Q05 < 1 {
		t.Errorf("far is %g +- %g", r.Mean, r.SD)
	}
	if r := fit.Summary().Row("w[1]"); math.Abs(r.Mean-0.6) > 5*r.MCSEMean {
		t.Errorf("w[1] is %g, want 6/10", r.Mean)
	}
	if _, err := fit.PosteriorPredictive("y"); err != nil {
		t.Error(err)
	}
}
