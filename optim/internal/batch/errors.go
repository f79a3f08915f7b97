// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// store writes a finished fit to the result.
func (c *Worker) store(v *lane) {
	r, n, i := c.fits, c.model.N, v.row
	copy(r.X[i*n:], v.x)
	r.Cost[i], r.Status[i], r.NFev[i], r.Points[i] = v.cost, v.status, v.nfev, v.points
	for k, x := range v.x {
		switch {
		case r.Active == nil:
		case x <= c.rows.Lower[k] && v.g[k] >= 0:
			r.Active[i*n+k] = -1
		case x >= c.rows.Upper[k] && v.g[k] <= 0:
			r.Active[i*n+k] = 1
		}
	}
	if c.plain == nil {
		r.ChiSquared[i] = 2 * v.cost
		c.errors(v, i)
		return
	}
	if c.pending = append(c.pending, i); len(c.pending) == Lanes {
		c.finishPending()
	}
}

// finishPending computes the errors of the pending robust fits from their plain residuals.
func (c *Worker) finishPending() {
	if len(c.pending) == 0 {
		return
	}
	params, columns, weights := c.model.inputs(c.plain, c.rows)
	for l, row := range c.pending {
		c.pendingLanes[l].points, _ = c.fill(l, row, columns, weights)
		for k := range c.model.N {
			params[k*Lanes+l] = c.fits.X[row*c.model.N+k]
		}
	}
	if c.plain.Run() != nil {
		return
	}
	out := c.outputs
	c.outputs = nil
	for i := range c.plain.Program().Outputs() {
		c.outputs = append(c.outputs, c.plain.Output(i))
	}
	for l, row := range c.pending {
		v := &c.pendingLanes[l]
		v.reset(row, v.points)
		gramMatrix(c.solver.gram, c.outputs[1:c.model.N+1], c.outputs[0], l)
		if c.solver.linearise(v) {
			c.fits.ChiSquared[row] = v.size * v.size
			c.errors(v, row)
		}
	}
	c.outputs, c.pending = out, c.pending[:0]
}

// errors writes the standard deviations and the covariance of a row from the normal
// equations of v.
func (c *Worker) errors(v *lane, row int) {
	r, n := c.fits, c.model.N
	cov := c.solver.cov
	rank := c.solver.invert(v, cov, func(int) bool { return true })
	scale := 1.0
	switch {
	case c.settings.Factor != nil:
		if scale = c.settings.Factor(c.residuals(v), v.points-rank); math.IsNaN(scale) {
			scale = math.Inf(1)
		}
	case c.settings.RelativeSigma:
		if scale = r.ChiSquared[row] / float64(v.points-rank); v.points <= rank {
			scale = math.Inf(1)
		}
	}
	for k := range n {
		r.SD[row*n+k] = math.Sqrt(scale * cov[k*n+k])
	}
	if r.Cov != nil {
		to := r.Cov[row*n*n : (row+1)*n*n]
		for e, x := range cov {
			if to[e] = scale * x; math.IsInf(scale, 1) {
				to[e] = scale
			}
		}
	}
	if r.FreeSD == nil {
		return
	}
	on := slices.ContainsFunc(r.Active[row*n:(row+1)*n], func(a int8) bool { return a != 0 })
	if on {
		c.solver.invert(v, cov, func(k int) bool { return r.Active[row*n+k] == 0 })
	}
	for k := range n {
		r.FreeSD[row*n+k] = math.Sqrt(scale * cov[k*n+k])
		if cov[k*n+k] == 0 {
			r.FreeSD[row*n+k] = 0
		}
	}
}

// residuals returns the plain residuals of the row that a lane holds, without those of weight 0.
func (c *Worker) residuals(v *lane) (all []float64) {
	l := 0
	for &c.pendingLanes[l] != v {
		l++
	}
	for at := l; at < len(c.outputs[0]); at += Lanes {
		if r := c.outputs[0][at]; r != 0 {
			all = append(all, r)
		}
	}
	for len(all) < v.points { // residuals that are 0 by chance
		all = append(all, 0)
	}
	return all
}

// invert sets cov to the pseudo-inverse of the normal equations of the parameters for which
// use is true, and returns its rank. The diagonal is +Inf for parameters that the equations
// do not determine.
func (t *solver) invert(v *lane, cov []float64, use func(k int) bool) (rank int) {
	n := t.n
	for k := range n {
		v.free[k] = use(k)
	}
	k := t.factor(v, 0)
	clear(cov)
	if t.smallestPivot < leastPivot {
		return t.invertBySVD(v, cov)
	}
	for j, fj := range t.at[:k] {
		clear(t.b[:k])
		t.b[j] = 1
		solveInverse(t.a, t.b[:k], k)
		for i, fi := range t.at[:k] {
			cov[fi*n+fj] = t.b[i] * v.scale[fi] * v.scale[fj]
		}
	}
	return k
}

// invertBySVD is invert by the singular values of R, where the lane has it, or of h.
func (t *solver) invertBySVD(v *lane, cov []float64) (rank int) {
	n := t.n
	r, least := make([]float64, n*n), 0x1p-52*float64(max(t.m, n))
	if v.orthogonal {
		copy(r, v.r)
	} else {
		copy(r, v.h)
		least = math.Sqrt(0x1p-52 * float64(n)) // h holds squares
	}
	for i := range n {
		for j := range n {
			if !v.free[i] || !v.orthogonal && !v.free[j] {
				r[i*n+j] = 0
			}
		}
	}
	linalg.SVD(r, n, n, t.singular, t.v)
	if !v.orthogonal {
		for k, s := range t.singular {
			t.singular[k] = math.Sqrt(s)
		}
	}
	top := linalg.MaxAbs(t.singular)
	for k, s := range t.singular {
		dir := t.v[k*n : (k+1)*n]
		if s <= least*top {
			for i, x := range dir {
				if v.free[i] && math.Abs(x) > 1e-6 {
					cov[i*n+i] = math.Inf(1)
				}
			}
			continue
		}
		rank++
		for i, a := range dir {
			for j, b := range dir {
				cov[i*n+j] += a * b / (s * s) * v.scale[i] * v.scale[j]
			}
		}
	}
	return rank
}
