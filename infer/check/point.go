// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
	"slices"
)

// A verdict is about the point that was given. Where that is a minimum, the residuals have no part along the Jacobian, and
// the part outside is all there is. Where a fit stopped early, or a prior or a bound holds the parameters, the part along the
// Jacobian is what the data would still gain if the parameters moved, and it belongs to the misfit of the point.

// alongSquare returns the squared length of the part of Z along the columns of the parameters, and their number.
func (w *residuals) alongSquare() (square, columns float64) {
	for i, k := range w.kept {
		if k >= 0 {
			a := dot(w.base.q[i], w.d.Z)
			square, columns = square+a*a, columns+1
		}
	}
	return square, columns
}

// rare is the probability below which the part of Z along the Jacobian is no longer that of a draw or of a fit.
const rare = 1e-3

// atPoint returns the sum of squares and the degrees of freedom by which the point is judged: those outside the Jacobian, or
// all of Z where the part along the Jacobian is larger than that of a draw from a posterior would be.
func (w *residuals) atPoint() (square, dof float64) {
	if !w.d.AtPoint && !w.d.Drawn || w.absorbed || w.d.Robust || w.dof() < 1 {
		return w.square, w.dof()
	}
	along, columns := w.alongSquare()
	scale := w.scale()
	square, dof = w.square, w.dof()
	if left := dof - float64(w.d.OnBounds); left >= 1 {
		dof = left
	}
	if columns == 0 || scale == 0 {
		return square, dof
	}
	if _, p := chiSquaredTails(along/(scale*scale), columns); p >= rare {
		return square, dof
	}
	if w.d.Drawn {
		dof += columns
	}
	return square + along, dof
}

// offMinimum returns the flag of a fit that is not where least squares would have put it, or false. A tenth of a standard
// deviation is allowed, and more where the data leave a direction open, along which the derivatives say little.
func (w *residuals) offMinimum() (Flag, bool) {
	said := slices.ContainsFunc(w.d.Findings, func(f Flag) bool { return f.Kind == KindUnconverged })
	if !w.d.AtPoint || w.d.Robust || w.d.Penalised || len(w.d.Priors) > 0 || said || w.dof() < 1 || w.exact() {
		return Flag{}, false
	}
	along, _ := w.alongSquare()
	scale := w.scale()
	allowed := 0.1
	if len(w.d.Unknown) > 0 {
		allowed = 3
	}
	if !(math.Sqrt(along) > allowed*scale) || along <= 1e-12*dot(w.d.Z, w.d.Z) {
		return Flag{}, false
	}
	return Flag{Kind: KindUnconverged, Text: fmt.Sprintf("the fit is not at a minimum: by the derivatives at the result, the sum of squares could fall from %.4g to %.4g, and the parameters would move by %s standard deviations", w.square+along, w.square, size(math.Sqrt(along)/scale)),
		Remedy: "start the fit nearer to the solution, or give the parameters other units or bounds"}, true
}
