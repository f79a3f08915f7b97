// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/optim"
)

// Where a step lands at a point without derivatives, as 0^x has none for a small x, the fit goes on from the point before it with a shorter step.
func TestStepToWhereThereAreNoDerivatives(t *testing.T) {
	for _, method := range []optim.Method{optim.LM, optim.TRF, optim.Dogbox} {
		p := &optim.Problem{M: 2, N: 1, Start: []float64{10},
			Residual: func(r, x []float64) error { r[0], r[1] = x[0]-2, x[0]-4; return nil },
			Jacobian: func(j, x []float64) error {
				if j[0], j[1] = 1, 1; x[0] < 3.5 {
					j[1] = math.Inf(1)
				}
				return nil
			}}
		r, err := optim.LeastSquares(context.Background(), p, optim.Settings{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if !(r.X[0] >= 3.5 && r.X[0] < 3.6) || math.IsInf(r.Jacobian[1], 0) || r.Status.Converged() {
			t.Errorf("%s ends at %g with the derivatives %v: %s; want a point just above 3.5, where the derivatives end", method, r.X[0], r.Jacobian, r.Status.Message())
		}
	}
}
