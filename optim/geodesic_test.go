// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/optim"
)

// The second derivative along a vector must be that of the residual along a
// line, whether by the graph or by differences of it.
func TestSecondDerivativeAlongALine(t *testing.T) {
	p := twoDecays(t)
	x, v := p.Start, []float64{.1, -.2, .05, .3, -.1}
	got := make([]float64, p.M)
	if err := p.Second(got, x, v); err != nil {
		t.Fatal(err)
	}
	r := make([][]float64, 3)
	const h = 1e-4
	for k := range r {
		at := make([]float64, len(x))
		for i := range at {
			at[i] = x[i] + float64(k-1)*h*v[i]
		}
		r[k] = make([]float64, p.M)
		if err := p.Residual(r[k], at); err != nil {
			t.Fatal(err)
		}
	}
	for i, g := range got {
		if want := (r[0][i] - 2*r[1][i] + r[2][i]) / (h * h); math.Abs(g-want) > 1e-6*max(1, math.Abs(want)) {
			t.Errorf("residual %d: %g, want %g", i, g, want)
		}
	}
}

// Along the valley of Rosenbrock's function the geodesic needs fewer steps, by
// the exact second derivative and by differences.
func TestGeodesicIsShorter(t *testing.T) {
	p := mghProblem(t, "rosenbrock", mghCase{N: 2, M: 2, X0: []float64{-1.2, 1}})
	steps := map[string]int{}
	for name, s := range map[string]optim.Settings{"plain": {}, "exact": {Geodesic: true}, "difference": {Geodesic: true}, "robust": {Geodesic: true, Loss: optim.SoftL1}} {
		q := p.Clone()
		if name == "difference" {
			q.Second = nil
		}
		r, err := optim.LeastSquares(context.Background(), q, s)
		if err != nil || distance(r.X, []float64{1, 1}) > 1e-7 {
			t.Fatalf("%s: %v %v", name, err, r)
		}
		steps[name] = r.Steps
	}
	if steps["exact"] >= steps["plain"] || steps["difference"] >= steps["plain"] {
		t.Errorf("steps %v", steps)
	}
	if _, err := optim.LeastSquares(context.Background(), p, optim.Settings{Geodesic: true, Method: optim.TRF}); err == nil {
		t.Error("geodesic with trf, no error")
	}
}
