// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// mended is a Jacobian in which NaN, which exact derivatives have where 0 meets infinity, as that of (t/tau)^b at t = 0, is replaced by difference quotients where these
// are finite. Infinite derivatives stay.
func mended(m int, residual, jacobian func(out, x []float64) error) func(out, x []float64) error {
	var at, up, down []float64
	return func(j, x []float64) error {
		if err := jacobian(j, x); err != nil {
			return err
		}
		for k := range x {
			column := j[k*m : (k+1)*m]
			if !slices.ContainsFunc(column, math.IsNaN) {
				continue
			}
			if at == nil {
				at, up, down = make([]float64, len(x)), make([]float64, m), make([]float64, m)
			}
			h := 6e-6 * max(math.Abs(x[k]), 1e-3)
			for s, to := range [][]float64{up, down} {
				copy(at, x)
				at[k] += h * float64(1-2*s)
				if err := residual(to, at); err != nil {
					return err
				}
			}
			for i, v := range column {
				if d := (up[i] - down[i]) / (2 * h); math.IsNaN(v) && linalg.Finite(d) {
					column[i] = d
				}
			}
		}
		return nil
	}
}
