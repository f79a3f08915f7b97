// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

// calibrated asks for uniform ranks; a right sampler fails once in 100 runs of
// other seeds.
func calibrated(t *testing.T, p *infer.Posterior, c infer.SBCConfig) {
	t.Helper()
	out, err := infer.SBC(context.Background(), p, c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := out.Report()
	if err != nil || !r.Diagnose().OK() || len(out.Failed) > 0 {
		t.Errorf("%v %v %v", out, err, out.Failed)
	}
	t.Logf("%d fits, %d with divergences", out.Fits, out.Divergent)
}

func schoolsPosterior(t *testing.T) *infer.Posterior {
	m := infer.NewModel("schools")
	hierarchy(m, infer.NonCentred())
	return compiled(t, m)
}

// decayPosterior is the single exponential with priors whose data tell something.
func decayPosterior(t *testing.T) *infer.Posterior {
	post, _ := decays(t, 30, 1)
	return post
}

func TestSBC(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	c := infer.SBCConfig{Fits: 100, Draws: 19, Sample: infer.Config{Warmup: 300, Draws: 200}}
	calibrated(t, schoolsPosterior(t), c)
	calibrated(t, decayPosterior(t), c)
}

// A likelihood with the wrong error is found out.
func TestSBCFindsFaults(t *testing.T) {
	build := func(term bool) *infer.Posterior {
		m := infer.NewModel("faulty")
		mu := m.Param("mu", dist.Normal(0, 1))
		m.Observe("y", dist.Normal(mu, 1), []float64{0})
		if term { // the posterior counts something that the simulation does not
			m.AddLogProb("fault", ad.Scale(0.7, mu))
		}
		return compiled(t, m)
	}
	c := infer.SBCConfig{Fits: 300, Draws: 19, Sample: infer.Config{Warmup: 200, Draws: 200}}
	calibrated(t, build(false), c)
	out, err := infer.SBC(context.Background(), build(true), c)
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := out.Report(); r.Diagnose().OK() {
		t.Errorf("a term that shifts mu was not found: %v", r)
	}
	m := infer.NewModel("flat")
	w := m.Flat("w", dist.IdentityTransform())
	m.Observe("y", dist.Normal(w, 1), []float64{0})
	if _, err := infer.SBC(context.Background(), compiled(t, m), c); err == nil || !strings.Contains(err.Error(), "no prior") {
		t.Errorf("a flat prior: %v", err)
	}
}

// An interrupted calibration returns the ranks of what was complete.
func TestSBCInterrupted(t *testing.T) {
	m := infer.NewModel("normal")
	m.Observe("y", dist.Normal(m.Param("mu", dist.Normal(0, 1)), 1), []float64{0, 0})
	p, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c, err := infer.SBC(ctx, p, infer.SBCConfig{Fits: 1000, Draws: 20, Seed: 1, Sample: infer.Config{Warmup: 100, Draws: 100}, Done: func(n int) {
		if n == 100 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || c == nil || c.Fits < 50 || c.Fits >= 1000 {
		t.Fatalf("%v, %+v", err, c)
	}
	if _, err := c.Report(); err != nil {
		t.Error(err)
	}
}
