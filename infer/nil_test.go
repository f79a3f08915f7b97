// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

// What is nil is named.
func TestNilArguments(t *testing.T) {
	var none context.Context
	var p *Posterior
	ctx, target := t.Context(), Func(1, func(q, g []float64) float64 { g[0] = -q[0]; return -q[0] * q[0] / 2 })
	for want, call := range map[string]func() error{
		"infer.Sample: the argument ctx is nil":           func() error { _, err := Sample(none, target, Settings{}); return err },
		"infer.Sample: the argument t is nil":             func() error { _, err := Sample(ctx, nil, Settings{}); return err },
		"infer.ADVI: the argument t is nil":               func() error { _, err := ADVI(ctx, p, ADVISettings{}); return err },
		"infer.ChEES: the argument ctx is nil":            func() error { _, err := ChEES(none, target, ChEESSettings{}); return err },
		"infer.Ensemble: the argument logProb is nil":     func() error { _, err := Ensemble(ctx, 1, nil, EnsembleSettings{}); return err },
		"infer.Pathfinder: the argument t is nil":         func() error { _, err := Pathfinder(ctx, nil, PathfinderSettings{}); return err },
		"infer.Laplace: the argument t is nil":            func() error { _, err := Laplace(nil, LaplaceSettings{}); return err },
		"infer.SBC: the argument p is nil":                func() error { _, err := SBC(ctx, nil, SBCSettings{}); return err },
		"infer.CheckGradient: the argument t is nil":      func() error { return CheckGradient(nil) },
		"infer.Posterior.SampleEach: the argument p is n": func() error { return p.SampleEach(ctx, nil, Settings{}, func(int, *Fit, error) {}) },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A panic of the target is an error wherever the target is called.
func TestPanicsAreErrors(t *testing.T) {
	ctx := t.Context()
	for _, when := range []int{1, 30} {
		calls := 0
		target := Func(1, func(q, g []float64) float64 {
			if calls++; calls >= when {
				panic("my model")
			}
			g[0] = -q[0] * q[0] * q[0]
			return -q[0] * q[0] * q[0] * q[0] / 4
		})
		for name, call := range map[string]func() error{
			"Sample":     func() error { _, err := Sample(ctx, target, Settings{Chains: 1, Warmup: 20, Draws: 20}); return err },
			"ADVI":       func() error { _, err := ADVI(ctx, target, ADVISettings{}); return err },
			"ChEES":      func() error { _, err := ChEES(ctx, target, ChEESSettings{Chains: 8, Parallel: 1}); return err },
			"Pathfinder": func() error { _, err := Pathfinder(ctx, target, PathfinderSettings{Paths: 1}); return err },
			"Laplace":    func() error { _, err := Laplace(target, LaplaceSettings{}); return err },
			"Ensemble": func() error {
				_, err := Ensemble(ctx, 1, func(q []float64) float64 {
					if calls++; calls >= when {
						panic("my model")
					}
					return -q[0] * q[0]
				}, EnsembleSettings{Parallel: 1})
				return err
			},
		} {
			calls = 0
			if err := call(); !errors.As(err, new(*PanicError)) || !strings.Contains(err.Error(), "my model") {
				t.Errorf("%s, call %d: %v", name, when, err)
			}
		}
	}
}

// So is one of the functions that look on.
func TestPanicsOfOnlookers(t *testing.T) {
	target := Func(1, func(q, g []float64) float64 { g[0] = -q[0]; return -q[0] * q[0] / 2 })
	boom := func() { panic("my function") }
	for name, c := range map[string]Settings{
		"Progress": {Progress: func(Progress) { boom() }},
		"Open":     {Sink: Sink{Write: func(SinkDraw) error { return nil }, Open: func([]string, int) error { boom(); return nil }}},
		"Write":    {Sink: Sink{Write: func(SinkDraw) error { boom(); return nil }}},
		"Close":    {Sink: Sink{Write: func(SinkDraw) error { return nil }, Close: func() error { boom(); return nil }}},
	} {
		c.Warmup, c.Draws, c.Chains = 50, 50, 2
		if _, err := Sample(t.Context(), target, c); !errors.As(err, new(*PanicError)) || !strings.Contains(err.Error(), "my function") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for want, c := range map[string]Settings{"on the command line) is 1099511627776": {Chains: 1 << 40}, "takes": {Draws: 1 << 50}, "ask for fewer": {Draws: math.MaxInt, Warmup: math.MaxInt}} {
		if _, err := Sample(t.Context(), target, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
