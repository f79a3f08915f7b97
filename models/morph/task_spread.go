// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"context"
	"math"

	"github.com/euryale-dev/euryale/optim"
)

// spread adds the standard deviations at a minimum from the Jacobian of the residuals, if there are few parameters: infinite
// ones for those that the data do not determine, with a warning.
func (t *Task) spread(f *Solution) {
	n := len(f.X)
	l, err := t.Inversion.linear()
	if err != nil || l.scene.Penalty != nil || n > mostJacobian {
		return
	}
	m := len(l.data)
	r, j := make([]float64, m), make([]float64, n*m)
	if l.residuals(r, f.X) != nil {
		return
	}
	sum := 0.0
	for _, x := range r {
		sum += x * x
	}
	f.Points, f.Reduced = m, sum/float64(max(1, m-n))
	if l.jacobian(j, f.X) != nil {
		return
	}
	fit, err := spreadOf(j, t.Names())
	if err != nil {
		f.Warnings = append(f.Warnings, "there are no standard deviations: "+err.Error())
		return
	}
	f.undetermined = fit.Undetermined
	f.Warnings = append(f.Warnings, fit.Warnings...)
	scale := 1.0
	if t.relative() {
		scale = math.Sqrt(f.Reduced)
	}
	for i, sd := range fit.SD() {
		f.SD[i] = scale * sd
	}
}

// spreadOf returns the covariance of parameters with the given Jacobian of residuals, column by column, and the combinations
// that the residuals do not determine.
func spreadOf(jacobian []float64, names []string) (*optim.Result, error) {
	n := len(names)
	m := len(jacobian) / n
	zero := make([]float64, n)
	return optim.LeastSquares(context.Background(), &optim.Problem{M: m, N: n, Names: names, Start: zero,
		Residual: func(r, x []float64) error {
			clear(r)
			for k, v := range x {
				for i := range r {
					r[i] += v * jacobian[k*m+i]
				}
			}
			return nil
		},
		Jacobian: func(j, _ []float64) error { copy(j, jacobian); return nil }}, optim.Settings{})
}
