// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/tier"
)

// calibrated asks for uniform ranks; a right sampler fails once in 100 runs of
// other seeds.
func calibrated(t *testing.T, p *infer.Posterior, c infer.SBCSettings) {
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
	tier.SlowOnly(t)
	if testing.Short() {
		t.Skip("takes seconds")
	}
	c := infer.SBCSettings{Fits: 100, Draws: 19, Sample: infer.Settings{Warmup: 300, Draws: 200}}
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
	c := infer.SBCSettings{Fits: 300, Draws: 19, Sample: infer.Settings{Warmup: 200, Draws: 200}}
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
	c, err := infer.SBC(ctx, p, infer.SBCSettings{Fits: 1000, Draws: 20, Seed: 1, Sample: infer.Settings{Warmup: 100, Draws: 100}, Done: func(n int) {
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

// A derived quantity that is NaN or infinite in some fits has no ranks, and takes none from the others.
func TestSBCLeavesOutDerivedQuantities(t *testing.T) {
	build := func(all bool) *infer.Posterior {
		m := infer.NewModel("partly defined")
		mu := m.Param("mu", dist.Normal(0, 1))
		m.Observe("y", dist.Normal(mu, 0.1), []float64{0})
		if all {
			m.Deterministic("logarithm", ad.Log(mu))
			m.Deterministic("large", ad.Exp(ad.Scale(1000, mu)))
		}
		m.Deterministic("square", ad.Square(mu))
		return compiled(t, m)
	}
	ranks := map[int][]int{}
	c := infer.SBCSettings{Fits: 40, Draws: 19, Seed: 2, Sample: infer.Settings{Warmup: 100, Draws: 100}}
	want, err := infer.SBC(context.Background(), build(false), c)
	if err != nil {
		t.Fatal(err)
	}
	missing := 0
	c.Each = func(fit int, r []int, _ int, err error) {
		if ranks[fit] = r; err != nil {
			missing++
			if !strings.Contains(err.Error(), "the derived quantity logarithm is NaN at some draws") {
				t.Error(err)
			}
		}
	}
	got, err := infer.SBC(context.Background(), build(true), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Failed) > 0 || got.Fits != 40 || strings.Join(got.Ranks.Names, " ") != "mu square" {
		t.Errorf("%d fits, %v failed, ranks of %v", got.Fits, got.Failed, got.Ranks.Names)
	}
	for k := range got.Ranks.Ranks {
		if !slices.Equal(got.Ranks.Ranks[k], want.Ranks.Ranks[k]) {
			t.Errorf("the ranks of %s are %v, want %v", got.Ranks.Names[k], got.Ranks.Ranks[k], want.Ranks.Ranks[k])
		}
	}
	if len(got.LeftOut) != 2 || got.LeftOut[0].Name != "logarithm" || got.LeftOut[1].Name != "large" || got.LeftOut[0].Fits != missing || missing == 0 {
		t.Fatalf("left out %v; %d fits without complete ranks", got.LeftOut, missing)
	}
	text := got.String()
	for _, want := range []string{"40 of 40 fits gave ranks.", fmt.Sprintf("The derived quantity logarithm has no ranks, because it was not finite in %d fits.", missing)} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "failed") || strings.Contains(text, "divergent") || strings.Count(text, "checks of the draws") > 1 {
		t.Error(text)
	}
}

// A calibration says what happened to its fits in sentences of the right number.
func TestCalibrationText(t *testing.T) {
	ranks := &diag.SBC{Names: []string{"mu"}, Draws: 9, Ranks: [][]int{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}}
	c := &infer.Calibration{Ranks: ranks, Fits: 10, Divergent: 1, Failed: []error{errors.New("fit 3: infer: no start")}, LeftOut: []infer.LeftOut{{Name: "x", Fits: 1}}}
	want := "10 of 11 fits gave ranks. One of them had divergent trajectories; its ranks count, too. 1 fit failed; the first error is: fit 3: infer: no start."
	if text := c.String(); !strings.HasSuffix(text, "\n"+want) || strings.Count(text, "10 fits and 2 tests, which together give a false alarm with a probability of at most 0.01. The derived quantity x has no ranks, because it was not finite in 1 fit.\n") != 1 {
		t.Errorf("%s\nwant at its end\n%s", text, want)
	}
	c.Ranks = &diag.SBC{Draws: 9}
	if _, err := c.Report(); err == nil || !strings.Contains(err.Error(), "no quantity has ranks") {
		t.Error(err)
	}
}
