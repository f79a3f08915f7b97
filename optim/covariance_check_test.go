// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/optim"
)

// A second decay fitted to data that have one only is named as not determined wherever its errors are larger than what they
// describe; parameters of a model that fits the data are not, and neither is a straight line far from the origin.
func TestErrorsThatMeanNothing(t *testing.T) {
	t.Parallel()
	decay := func(p []float64, x float64) float64 { return p[0] + p[1]*math.Exp(-x/p[2]) }
	two := func(p []float64, x float64) float64 { return decay(p, x) + p[3]*math.Exp(-x/p[4]) }
	line := func(p []float64, x float64) float64 { return p[0] + p[1]*(x+1.7e5) }
	fit := func(f func(p []float64, x float64) float64, start, truth []float64, bounded bool, seed uint64) *optim.Result {
		rng := rand.New(rand.NewPCG(seed, 5))
		x, y := make([]float64, 50), make([]float64, 50)
		for i := range x {
			x[i] = math.Pow(10, -3+4*float64(i)/49)
			y[i] = f(truth, x[i]) + 0.002*rng.NormFloat64()
		}
		p := &optim.Problem{M: 50, N: len(start), Start: start, Residual: func(r, q []float64) error {
			for i := range r {
				r[i] = (f(q, x[i]) - y[i]) / 0.002
			}
			return nil
		}}
		if bounded {
			p.Lower, p.Upper = []float64{0, 0, 1e-6, 0, 1e-6}[:len(start)], []float64{2, 1, 1e6, 1, 1e6}[:len(start)]
		}
		r, err := optim.LeastSquares(context.Background(), p, optim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for seed := range uint64(40) {
		for _, bounded := range []bool{false, true} {
			r := fit(two, []float64{1, 0.2, 0.2, 0.1, 3}, []float64{1, 0.25, 0.5, 0, 1}, bounded, seed)
			for i, sd := range r.SD() {
				if r.Active[i] == 0 && sd > 100*max(1, math.Abs(r.X[i])) && len(r.Undetermined) == 0 {
					t.Errorf("seed %d, bounded %v: parameter %d is %g +- %g, and nothing is undetermined", seed, bounded, i, r.X[i], sd)
				}
			}
			if r := fit(decay, []float64{1, 0.2, 0.2}, []float64{1, 0.25, 0.5}, bounded, seed); len(r.Undetermined) > 0 {
				t.Errorf("seed %d, bounded %v: one decay: %v", seed, bounded, r.Warnings)
			}
		}
		if r := fit(line, []float64{1, 1}, []float64{0.3, 1e-4}, false, seed); slices.Contains(r.Undetermined, "p0") {
			t.Errorf("seed %d: a line: %v", seed, r.Warnings)
		}
	}
}
