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

	"github.com/euryale-dev/euryale/infer"
)

// A sink sees what a Fit keeps, thinned and by name; alone it leaves nothing.
func TestSink(t *testing.T) {
	post, _ := decays(t, 20, 1)
	got := map[string][]float64{}
	order := []string{}
	cfg := infer.Settings{Chains: 2, Warmup: 100, Draws: 60, Seed: 1, Sink: infer.Sink{
		Names: []string{"tau", "contrast"}, Every: 3,
		Open: func(names []string, chains int) error {
			order = append(order, fmt.Sprint("open ", names, chains))
			return nil
		},
		Close: func() error { order = append(order, "close"); return nil },
		Write: func(d infer.SinkDraw) error {
			if d.Draw%3 != 0 || d.Warmup || len(d.Unconstrained) != 3 || d.Stat.Steps == 0 {
				return fmt.Errorf("draw %+v", d)
			}
			key := fmt.Sprint("tau", d.Chain)
			got[key] = append(got[key], d.Values[0])
			return nil
		}}}
	fit := sampled(t, post, cfg)
	for c, chain := range fit.Draws("tau") {
		var want []float64
		for i := 0; i < 60; i += 3 {
			want = append(want, chain[i])
		}
		if !slices.Equal(got[fmt.Sprint("tau", c)], want) {
			t.Errorf("chain %d: the sink saw other draws", c)
		}
	}
	if want := []string{"open [tau contrast] 2", "close"}; !slices.Equal(order, want) {
		t.Errorf("calls %v, want %v", order, want)
	}
	count := 0
	cfg.Sink = infer.Sink{Only: true, Write: func(infer.SinkDraw) error { count++; return nil }}
	if fit := sampled(t, post, cfg); count != 120 || fit.Len(0) != 0 {
		t.Errorf("%d draws given and %d kept, want 120 and 0", count, fit.Len(0))
	}
}

// A sink that fails stops the run; what is there stays.
func TestSinkFailure(t *testing.T) {
	post, _ := decays(t, 20, 1)
	full := errors.New("no space left")
	closed := false
	cfg := infer.Settings{Chains: 1, Warmup: 50, Draws: 1e6, Sink: infer.Sink{
		Write: func(d infer.SinkDraw) error {
			if d.Draw == 40 {
				return full
			}
			return nil
		}, Close: func() error { closed = true; return nil }}}
	fit, err := infer.Sample(context.Background(), post, cfg)
	if !errors.Is(err, full) || !strings.Contains(err.Error(), "draw 41 of chain 1") || !closed {
		t.Errorf("error %v, closed %v", err, closed)
	}
	if n := fit.Len(0); n < 40 || n > 100 {
		t.Errorf("%d draws are left, want about 41", n)
	}
	cfg.Sink = infer.Sink{Names: []string{"tao"}, Write: func(infer.SinkDraw) error { return nil }}
	if _, err := infer.Sample(context.Background(), post, cfg); err == nil || !strings.Contains(err.Error(), "did you mean tau") {
		t.Errorf("an unknown column: %v", err)
	}
}

// Continuing gives the draws of one long run.
func TestContinue(t *testing.T) {
	post, _ := decays(t, 20, 1)
	cfg := infer.Settings{Chains: 2, Warmup: 100, Draws: 30, Seed: 4}
	short := sampled(t, post, cfg)
	long, err := short.Continue(context.Background(), 45)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Draws = 75
	want := sampled(t, post, cfg)
	for c, chain := range want.Draws("tau") {
		if !slices.Equal(chain, long.Draws("tau")[c]) {
			t.Errorf("chain %d differs from one long run", c)
		}
	}
	if short.Len(0) != 30 {
		t.Errorf("the first fit has %d draws now", short.Len(0))
	}
	if _, err := short.Continue(context.Background(), 0); err == nil {
		t.Error("0 draws: no error")
	}
}

// A run from another one's adaptation spends nothing on a warm-up.
func TestFrom(t *testing.T) {
	post, _ := decays(t, 20, 1)
	first := sampled(t, post, infer.Settings{Chains: 2, Draws: 10, Seed: 4})
	again := sampled(t, post, infer.Settings{Draws: 500, Seed: 9, From: first})
	warm, _ := again.Gradients()
	if warm > 10 || again.Chains() != 4 {
		t.Errorf("%d gradients of warm-up in %d chains", warm, again.Chains())
	}
	_, eps := first.Adapted(1)
	if _, got := again.Adapted(3); got != eps {
		t.Errorf("step %g, want %g", got, eps)
	}
	if r := again.Summary().Row("tau"); !(r.RHat < 1.02) {
		t.Errorf("R-hat %g", r.RHat)
	}
}

// Static trajectories have the moments of a correlated normal distribution.
func TestHMC(t *testing.T) {
	target := infer.Func(2, func(q, g []float64) float64 { // variances 1 and 4, correlation 0.8
		a, b := q[0], q[1]/2
		const k = 1 / (1 - 0.64)
		g[0], g[1] = -k*(a-0.8*b), -k*(b-0.8*a)/2
		return -k / 2 * (a*a - 1.6*a*b + b*b)
	})
	for _, cfg := range []infer.Settings{
		{Method: infer.HMC, Steps: 4, Seed: 1, Draws: 2000},
		{Method: infer.HMC, Steps: 20, JitterSteps: true, Seed: 2, Draws: 2000},
		{Method: infer.HMC, Steps: 1, Seed: 3, Draws: 4000},
		{StepJitter: 0.3, Seed: 4, Draws: 2000},
	} {
		fit := sampled(t, target, cfg)
		for name, sd := range map[string]float64{"q[0]": 1, "q[1]": 2} {
			r := fit.Summary().Row(name)
			if !(r.RHat < 1.01) || r.Mean*r.Mean > 25*r.MCSEMean*r.MCSEMean || (r.SD-sd)*(r.SD-sd) > 25*r.MCSESD*r.MCSESD {
				t.Errorf("%d steps: %s is %g +- %g (R-hat %g), want 0 +- %g", cfg.Steps, name, r.Mean, r.SD, r.RHat, sd)
			}
		}
	}
	if _, err := infer.Sample(context.Background(), target, infer.Settings{StepJitter: 1}); err == nil {
		t.Error("StepJitter of 1: no error")
	}
}
