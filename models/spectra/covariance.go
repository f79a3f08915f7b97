// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// errors computes covariances from the Hessian of -2 log posterior. The first parameters are velocities.
func (fit *Fit) errors(h []float64, d *descent, velocities int) {
	n := len(fit.X)
	fit.SD, fit.Conditional, fit.Cov = slices.Repeat([]float64{math.NaN()}, n), slices.Repeat([]float64{math.NaN()}, n), make([]float64, n*n)
	for k, x := range fit.X {
		if !d.fixed[k] && (x <= d.lower[k] || x >= d.upper[k]) {
			fit.AtBound = append(fit.AtBound, fit.Names[k])
		}
	}
	for k := range velocities {
		fit.held = append(fit.held, math.Sqrt(2/h[k*n+k]))
	}
	free := d.free()
	cov, good := inverse(h, n, free)
	fit.BadHessian = !good
	for a, k := range free {
		for b, l := range free {
			fit.Cov[k*n+l] = cov[a*len(free)+b]
		}
		fit.SD[k] = math.Sqrt(cov[a*len(free)+a])
	}
	var atmosphere []int
	for _, k := range free {
		if k > velocities {
			atmosphere = append(atmosphere, k)
		}
	}
	cov, _ = inverse(h, n, atmosphere)
	for a, k := range atmosphere {
		fit.Conditional[k] = math.Sqrt(cov[a*len(atmosphere)+a])
	}
}

// inverse returns the covariance of some parameters, given the Hessian of -2 log L of all: twice the inverse
// of its part. Where that has a negative variance, twice one over the element of the Hessian stands for it,
// which is NaN in turn where that is negative, and the result is not good.
func inverse(h []float64, n int, list []int) (cov []float64, good bool) {
	m := len(list)
	if m == 0 {
		return nil, true
	}
	part := mat.NewDense(m, m, nil)
	for a, k := range list {
		for b, l := range list {
			part.Set(a, b, (h[k*n+l]+h[l*n+k])/4)
		}
	}
	cov, good = make([]float64, m*m), true
	var inv mat.Dense
	if err := inv.Inverse(part); err != nil && inv.IsEmpty() {
		good = false
	} else {
		for a := range m {
			for b := range m {
				cov[a*m+b] = inv.At(a, b)
			}
		}
	}
	for a := range m {
		if v := cov[a*m+a]; !(v > 0) || math.IsInf(v, 1) {
			good = false
			if cov[a*m+a] = 1 / part.At(a, a); !(cov[a*m+a] >= 0) {
				cov[a*m+a] = math.NaN()
			}
		}
	}
	return cov, good
}

// atWall returns the search as it stands with the parameters held that it has at a wall: those along whose axis the
// plane lies that the penalty of a network comes from. It also returns the Hessian without the curvature of the
// penalty, which says nothing of the star. Where the wall is oblique, as at a corner that a hull cuts off, or there is
// none, search and Hessian are what they were.
func (l *layout) atWall(h []float64, d *descent) ([]float64, *descent) {
	if d.rough || !(d.best.penalty > 0) {
		return h, d
	}
	n, w := len(d.at), d.best.wall(d.at)
	most, total := -1, 0.0
	for k := l.velocities + 1; k < n; k++ {
		x := w.slope[k] * w.slope[k] / math.Abs(d.best.h[k*n+k]) // of a change of one standard deviation
		if total += x; most < 0 || x > w.slope[most]*w.slope[most]/math.Abs(d.best.h[most*n+most]) {
			most = k
		}
	}
	const along = 1e-6
	if x := w.slope[most] * w.slope[most] / math.Abs(d.best.h[most*n+most]); d.fixed[most] || !(total-x < along*x) {
		return h, d
	}
	h = slices.Clone(h)
	h[most*n+most] -= 2 * w.slope[most] * w.slope[most]
	held := *d
	held.lower, held.upper = l.covered()
	for k := range n {
		if k != most {
			held.lower[k], held.upper[k] = d.lower[k], d.upper[k]
		}
	}
	held.best.slope = make([]float64, n)
	if w.slope[most] > 0 {
		held.upper[most] = d.at[most]
	} else {
		held.lower[most] = d.at[most]
	}
	return h, &held
}
