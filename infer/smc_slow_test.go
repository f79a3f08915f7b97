// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package infer

import (
	"math"
	"testing"
)

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
