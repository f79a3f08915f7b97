// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/optim"
)

// A curved valley whose floor barely falls, beside residuals that no parameter changes, is left as soon as the patience is over, and the fit
// says so; without a patience it is followed to its end.
func TestPatience(t *testing.T) {
	fit := func(s optim.Settings) *optim.Result {
		t.Helper()
		p := &optim.Problem{N: 2, M: 3, Start: []float64{-1.2, 1}, Residual: func(r, x []float64) error {
			r[0], r[1], r[2] = 30, 0.1*(1-x[0]), 1000*(x[1]-x[0]*x[0])
			return nil
		}}
		r, err := optim.LeastSquares(context.Background(), p, s)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, method := range []optim.Method{optim.LM, optim.TRF, optim.Dogbox} {
		short := fit(optim.Settings{Method: method, Patience: 8, FTol: 1e-4, NoPolish: true})
		long := fit(optim.Settings{Method: method, FTol: 1e-12})
		if short.Status != optim.CostSettled || 3*short.NFev > long.NFev || short.Cost > long.Cost*(1+1e-3) {
			t.Errorf("%s: with a patience %v after %d evaluations at a cost of %g, without %v after %d at %g", method, short.Status, short.NFev, short.Cost, long.Status, long.NFev, long.Cost)
		}
	}
	p := &optim.Problem{N: 1, M: 1, Start: []float64{0}, Residual: func(r, x []float64) error { r[0] = x[0]; return nil }}
	if _, err := optim.LeastSquares(context.Background(), p, optim.Settings{Patience: -1}); err == nil || !strings.Contains(err.Error(), "the patience is -1") {
		t.Errorf("a negative patience gives %v", err)
	}
}
