// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/optim"
)

// One model for the fit, the starts and the posterior.
func TestResiduals(t *testing.T) {
	post, sets := decays(t, 40, 3)
	if err := post.SetData("y", sets[2].Data["y"]); err != nil {
		t.Fatal(err)
	}
	problem, err := post.Residuals()
	if err != nil {
		t.Fatal(err)
	}
	if problem.Lower[0] != 0 || !math.IsInf(problem.Lower[1], -1) {
		t.Errorf("bounds %v to %v", problem.Lower, problem.Upper)
	}
	problem.Start = []float64{1, 1, 0.2}
	fit, err := optim.LeastSquares(context.Background(), problem, optim.Settings{})
	if err != nil || !fit.Status.Converged() {
		t.Fatal(fit, err)
	}
	starts, err := post.WarmStart(fit.Names, fit.X, fit.Cov, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	draws := sampled(t, post, infer.Settings{Seed: 1, Init: starts})
	for i, name := range fit.Names { // the priors are wide
		r := draws.Summary().Row(name)
		if math.Abs(r.Mean-fit.X[i]) > 0.3*r.SD || math.Abs(r.SD/fit.SD()[i]-1) > 0.15 {
			t.Errorf("%s: posterior %g +- %g, fit %g +- %g", name, r.Mean, r.SD, fit.X[i], fit.SD()[i])
		}
	}
}

func TestResidualsRefuse(t *testing.T) {
	for word, build := range map[string]func(m *infer.Model){
		"has no observations":     func(m *infer.Model) { m.Param("a", dist.Normal(0, 1)) },
		"follows laplace":         func(m *infer.Model) { m.Observe("y", dist.Laplace(m.Param("a", dist.Normal(0, 1)), 1), []float64{1}) },
		"standard deviation of y": func(m *infer.Model) { m.Observe("y", dist.Normal(0, m.Param("s", dist.HalfNormal(1))), []float64{1}) },
		"constrained by ordered": func(m *infer.Model) {
			m.Observe("y", dist.Normal(m.Flat("o", dist.OrderedTransform(), infer.Shape(2)), 1), []float64{1, 2})
		},
		"depend on other": func(m *infer.Model) {
			m.Observe("y", dist.Normal(m.Param("b", dist.Uniform(0, m.Param("a", dist.Uniform(1, 2)))), 1), []float64{1})
		},
		"with missing values: want a Norm": func(m *infer.Model) {
			m.Observe("y", dist.Normal(m.Param("a", dist.Normal(0, 1)), 1), []float64{1, math.NaN()}, infer.Impute())
		},
	} {
		m := infer.NewModel("faulty")
		build(m)
		if _, err := compiled(t, m).Residuals(); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("error %v, want %q", err, word)
		}
	}
	m := infer.NewModel("masked")
	a := m.Param("a", dist.Normal(0, 1))
	m.Observe("y", dist.Normal(ad.Mul(a, m.Data("x", []float64{1, 2, 3})), 1), []float64{1, math.NaN(), 3}, infer.Mask([]bool{true, false, true}))
	p, err := compiled(t, m).Residuals()
	if err != nil || p.M != 2 {
		t.Errorf("a masked value: %v", err)
	}
}
