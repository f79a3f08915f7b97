// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/viz"
	"github.com/euryale-dev/euryale/viz/term"
)

// Draws of a real run carry names, energies and divergences, and every plot
// takes them; the meter takes its progress.
func TestDrawsOfASampler(t *testing.T) {
	target := infer.Func(2, func(q, g []float64) float64 {
		g[0], g[1] = -q[0], -q[1]/4
		return -q[0]*q[0]/2 - q[1]*q[1]/8
	})
	var log bytes.Buffer
	meter := term.NewMeter(&log, term.MeterSettings{})
	fit, err := infer.Sample(context.Background(), target, infer.Settings{Seed: 1, Chains: 2, Draws: 100, Warmup: 100, Progress: meter.Update})
	if err != nil {
		t.Fatal(err)
	}
	meter.Close()
	if !strings.Contains(log.String(), "chain 2  200/200 (100 %)  done") {
		t.Errorf("log of the run:\n%s", log.String())
	}
	d := viz.FromFit(fit)
	if len(d.Names) != 2 || len(d.X[1]) != 2 || len(d.X[1][0]) != 100 || len(d.Energy[1]) != 100 || len(d.Diverging[1]) != 100 {
		t.Fatalf("names %v, %d chains, %d energies", d.Names, len(d.X[1]), len(d.Energy[1]))
	}
	for _, plot := range []func(viz.Draws, ...string) (*viz.Figure, error){viz.Trace, viz.Rank, viz.Density, viz.Forest, viz.Autocorrelation, viz.ESSEvolution, viz.ESSLocal, viz.Pair} {
		if f, err := plot(d, d.Names[1], d.Names[0]); err != nil || len(f.SVG()) < 1000 {
			t.Error(err)
		}
	}
}
