// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Sandwich returns the covariance of the estimator that needs no errors of the data (Huber 1967,
// White doi:10.2307/1912934):
//
//	H^-1 (sum_i psi_i^2 J_i J_i^T) H^-1,  H = sum_i psi'_i J_i J_i^T
//
// with psi = rho'(z) r. Quote it where residuals scatter unevenly. It is nil if the Jacobian was not stored or does not determine all
// fitted parameters.
func (r *Result) Sandwich() []float64 {
	k := r.NFree
	if r.Jacobian == nil || r.Rank < k {
		return nil
	}
	at := r.free
	if at == nil {
		at = make([]int, k)
		for i := range at {
			at[i] = i
		}
	}
	curve, square := r.influence()
	scale := make([]float64, k)
	for a, i := range at {
		scale[a] = 1 / linalg.Norm(r.Jacobian[i*r.M:(i+1)*r.M])
	}
	l, err := choleskyOf(r.gram(at, scale, curve), k)
	if err != nil {
		return nil
	}
	h := make([]float64, k*k) // H^-1 with the scales
	for c := range k {
		e := make([]float64, k)
		e[c] = 1
		linalg.SolveCholesky(l, e)
		for i, v := range e {
			h[i*k+c] = v * scale[i]
		}
	}
	inner := sandwich(h, r.gram(at, scale, square), k, k)
	if r.tieJacobian == nil {
		return inner
	}
	return sandwich(r.tieJacobian, inner, len(r.X), k)
}

// influence returns psi', which is kept above 0, and psi^2 of every residual.
func (r *Result) influence() (curve, square []float64) {
	curve, square = make([]float64, r.M), make([]float64, r.M)
	for i, v := range r.Residuals {
		psi, slope := v, 1.0
		if i < r.M-r.PriorResiduals {
			psi, slope = r.loss.influence(v, r.lossScale)
		}
		if curve[i] = slope; v != 0 {
			curve[i] = max(slope, leastCurvature*psi/v)
		}
		square[i] = psi * psi
	}
	return curve, square
}

// gram is the products of the columns at, scaled, with weights w of the rows.
func (r *Result) gram(at []int, scale, w []float64) []float64 {
	k := len(at)
	out := make([]float64, k*k)
	for a, i := range at {
		for b, j := range at[:a+1] {
			s := 0.0
			x, y := r.Jacobian[i*r.M:(i+1)*r.M], r.Jacobian[j*r.M:(j+1)*r.M]
			for e, v := range w {
				s += v * x[e] * y[e]
			}
			out[a*k+b] = s * scale[a] * scale[b]
			out[b*k+a] = out[a*k+b]
		}
	}
	return out
}

// SandwichSD returns the square roots of Sandwich's diagonal, or NaN if there is none.
func (r *Result) SandwichSD() []float64 {
	out := roots(r.Sandwich(), len(r.X))
	for i, v := range out {
		if math.IsInf(v, 0) {
			out[i] = math.NaN()
		}
	}
	return out
}
