// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package infer

import (
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Quantiles of a scale beside a neck are right within 4.5 standard errors and 2 %, or the run is flagged: in a funnel without a graph, which begins at a wide normal distribution, and in
// groups that are alike, where tau goes to 0; by quadrature, and by runs in which the groups are integrated out.
func TestNecksAreRightOrFlagged(t *testing.T) {
	funnel := Func(10, func(q, g []float64) float64 {
		v, narrow := q[0], math.Exp(-q[0])
		lp := -v * v / 18
		g[0] = -v/9 - 4.5
		for i := 1; i < 10; i++ {
			lp -= q[i]*q[i]*narrow/2 + v/2
			g[i] = -q[i] * narrow
			g[0] += q[i] * q[i] * narrow / 2
		}
		return lp
	})
	m := NewModel("alike")
	tau := m.Param("tau", dist.HalfCauchy(5))
	theta := m.Param("theta", dist.Normal(m.Param("mu", dist.Normal(0, 5)), tau), Shape(8))
	y := make([]float64, 8)
	for i := range y {
		y[i] = 0.2 * math.Sin(float64(7*i))
	}
	m.Observe("y", dist.Normal(theta, ad.Scalar(0.2)), y)
	alike := compiled(t, m)
	exact := mustSample(t, alike, Settings{Seed: 9, Draws: 10000})
	shares := []float64{0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99}
	for name, c := range map[string]struct {
		target Target
		column int
		want   func(share float64) float64
	}{
		"funnel": {funnel, 0, func(share float64) float64 { return 3 * math.Sqrt2 * math.Erfinv(2*share-1) }},
		"alike":  {alike, slices.Index(exact.Names(), "tau"), func(share float64) float64 { return diag.Quantile(slices.Concat(exact.Draws("tau")...), share) }},
	} {
		flagged := 0
		for seed := range uint64(4) {
			fit, e := evidenceOf(t, c.target, Settings{Seed: 100 + seed})
			t.Logf("%s, seed %d: %.4f of the points did not move, %.4f of the trajectories were rough", name, seed, e.Still, e.Rough)
			if !fit.Diagnose().OK() {
				flagged++
				continue
			}
			draws := fit.Column(c.column)
			for _, share := range shares {
				got, want := diag.Quantile(slices.Concat(draws...), share), c.want(share)
				if off := math.Abs(got - want); off > 4.5*diag.MCSEQuantile(draws, share) && off > 0.02*math.Abs(want) {
					t.Errorf("%s, seed %d: quantile %g is %.3f, want %.3f, and nothing is flagged (%.3g of the points did not move, %.3g of the trajectories were rough)", name, seed, share, got, want, e.Still, e.Rough)
				}
			}
		}
		t.Logf("%s: %d of 4 runs are flagged", name, flagged)
	}
}

// The mass of a mode of a quarter of the posterior, half as wide as the other in 20 dimensions, and the evidence, are right within their errors for 50 seeds.
func TestMassesOfModesOfManySeeds(t *testing.T) {
	const n = 20
	start := make([]float64, n)
	for i := range start {
		start[i] = -3
	}
	var mass, log, squares float64
	for seed := range uint64(50) {
		_, e := evidenceOf(t, twoNormals(n), Settings{Seed: seed, Draws: 500, Init: [][]float64{start, nil, nil, nil}})
		if len(e.Modes) != 2 {
			t.Errorf("seed %d: %d modes", seed, len(e.Modes))
			continue
		}
		m := e.Modes[0]
		if m.Q[0] > 0 {
			m = e.Modes[1]
		}
		z := (m.Share - 0.25) / max(m.Error, 0.01)
		if math.Abs(z) > 5 || math.Abs(e.Log) > 5*max(e.Error, 0.03) {
			t.Errorf("seed %d: %g +- %g of the narrow mode, %v", seed, m.Share, m.Error, e)
		}
		mass, log, squares = mass+m.Share/50, log+e.Log/50, squares+e.Log*e.Log/50
	}
	t.Logf("the narrow mode holds %.4f on average; log evidence %.4f, scatter %.3f", mass, log, math.Sqrt(squares-log*log))
	if math.Abs(mass-0.25) > 0.01 || math.Abs(log) > 0.03 {
		t.Errorf("the narrow mode holds %.4f on average, and the log evidence is %.4f: want 0.25 and 0", mass, log)
	}
}
