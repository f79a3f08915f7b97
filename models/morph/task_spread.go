// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// spread adds the standard deviations at a minimum from the Fisher information, if there
// are few parameters and the data determine them.
func (t *Task) spread(f *Solution) {
	n := len(f.X)
	problem, err := t.Inversion.Problem()
	if err != nil || n > mostJacobian {
		return
	}
	r := make([]float64, problem.M)
	if problem.Residual(r, f.X) != nil {
		return
	}
	f.Points = problem.M
	sum := 0.0
	for _, x := range r {
		sum += x * x
	}
	f.Reduced = sum / float64(max(1, problem.M-n))
	per, err := t.Inversion.Information(f.X)
	if err != nil {
		return
	}
	total := mat.NewSymDense(n, nil)
	for _, e := range per {
		for i := range n {
			for j := i; j < n; j++ {
				total.SetSym(i, j, total.At(i, j)+e[i*n+j])
			}
		}
	}
	var chol mat.Cholesky
	var cov mat.SymDense
	if !chol.Factorize(total) || chol.InverseTo(&cov) != nil {
		f.Warnings = append(f.Warnings, "the data do not determine all parameters, so there are no standard deviations")
		return
	}
	scale := 1.0
	if t.relative() {
		scale = f.Reduced
	}
	for i := range n {
		f.SD[i] = math.Sqrt(scale * cov.At(i, i))
	}
}
