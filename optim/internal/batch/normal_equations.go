// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// solver solves the small systems of a worker's lanes, one after the other.
type solver struct {
	// m and n are the numbers of residuals and of parameters.
	m, n     int
	settings *Settings
	// lower and upper are the bounds, nil where there are none.
	lower, upper []float64

	// gram is the lower triangle of [J f]^T [J f], of n+1 rows.
	gram []float64
	// at lists the free parameters.
	at []int
	// a is the Cholesky factor of the normal equations of the free parameters, with the
	// inverses of its diagonal; smallestPivot is the square of the smallest diagonal element.
	a             []float64
	smallestPivot float64
	// b, w and q are scratch of n numbers.
	b, w, q []float64

	// jacobianQR factors the scaled Jacobian, and rotated is Q^T f.
	jacobianQR *linalg.PivotedQR
	rotated    []float64
	// dampedQR factors [R; sqrt(par) I], and rhs is the right-hand side of its problem.
	dampedQR *linalg.PivotedQR
	rhs      []float64

	// cov is the covariance of a finished row; singular and v are singular values and
	// right vectors.
	cov, singular, v []float64
}

// leastPivot is the smallest pivot of scaled normal equations with which half the digits of
// a step are kept. Below it the condition number of the Jacobian is about 1e7 or larger.
const leastPivot = 1e-13

func newSolver(m, n int, s *Settings, rows *Rows) *solver {
	mem := linalg.NewArena((n+1)*(n+1) + 3*n*n + 8*n)
	t := &solver{m: m, n: n, settings: s, lower: rows.Lower, upper: rows.Upper}
	t.gram, t.a, t.v, t.cov = mem.Floats((n+1)*(n+1)), mem.Floats(n*n), mem.Floats(n*n), mem.Floats(n*n)
	t.b, t.w, t.q, t.singular, t.rhs = mem.Floats(n), mem.Floats(n), mem.Floats(n), mem.Floats(n), mem.Floats(2*n)
	t.at = make([]int, n)
	return t
}

// costOf is the cost of lane l, whose Gram matrix has been formed.
func (t *solver) costOf(c *Worker, l int) float64 {
	if c.plain == nil {
		return t.gram[len(t.gram)-1] / 2
	}
	s := 0.0
	rho := c.outputs[t.n+1][l:]
	for i := 0; i < len(rho); i += Lanes {
		s += rho[i]
	}
	return t.settings.LossScale * t.settings.LossScale * s / 2
}

// linearise sets the normal equations of a lane by scaling its Gram matrix. It returns false
// where they are not finite.
func (t *solver) linearise(v *lane) bool {
	n := t.n
	w := n + 1
	v.size = math.Sqrt(t.gram[n*w+n])
	v.orthogonal = false
	for i := range n {
		col := math.Sqrt(t.gram[i*w+i])
		if !linalg.Finite(col) || !linalg.Finite(t.gram[n*w+i]) {
			return false
		}
		v.longest[i] = max(v.longest[i], col)
		v.scale[i] = 1
		if v.longest[i] > 0 {
			v.scale[i] = 1 / v.longest[i]
		}
		v.column[i] = col * v.scale[i]
		v.g[i] = t.gram[n*w+i] * v.scale[i]
		for j := range i + 1 {
			h := t.gram[i*w+j] * v.scale[i] * v.scale[j]
			v.h[i*n+j], v.h[j*n+i] = h, h
		}
	}
	return true
}

// findFree marks the parameters that no bound stops at x, and clears the step.
func (t *solver) findFree(v *lane) {
	for k, g := range v.g {
		v.free[k] = t.lower == nil || !(v.x[k] <= t.lower[k] && g > 0 || v.x[k] >= t.upper[k] && g < 0)
		v.y[k] = 0
	}
}

// clipped returns x moved to the bounds of parameter k.
func (t *solver) clipped(k int, x float64) float64 {
	if t.lower == nil {
		return x
	}
	return min(max(x, t.lower[k]), t.upper[k])
}

// moved returns parameter k after the step. One that the step takes to a bound lies on it, without rounding: beside it, it
// would count as free, and hold all others back.
func (t *solver) moved(v *lane, k int) float64 {
	if t.lower != nil {
		switch y := v.y[k]; {
		case y <= (t.lower[k]-v.x[k])/v.scale[k]:
			return t.lower[k]
		case y >= (t.upper[k]-v.x[k])/v.scale[k]:
			return t.upper[k]
		}
	}
	return t.clipped(k, v.x[k]+v.scale[k]*v.y[k])
}

// solve sets the free elements of y to the step damped by par, for given other elements.
func (t *solver) solve(v *lane, par float64) {
	if v.orthogonal {
		t.solveOrthogonal(v, par)
		return
	}
	k := t.factor(v, par)
	for i, fi := range t.at[:k] {
		s := -v.g[fi]
		if k < t.n {
			for j, y := range v.y {
				if !v.free[j] {
					s -= v.h[fi*t.n+j] * y
				}
			}
		}
		t.b[i] = s
	}
	solveInverse(t.a, t.b[:k], k)
	for i, fi := range t.at[:k] {
		v.y[fi] = t.b[i]
	}
}

// listFree lists the free parameters in at and returns their number.
func (t *solver) listFree(v *lane) (k int) {
	for i, is := range v.free {
		if is {
			t.at[k] = i
			k++
		}
	}
	return k
}

// factor computes the Cholesky factor of the free part of h + par, and its smallest pivot.
func (t *solver) factor(v *lane, par float64) (k int) {
	n := t.n
	k = t.listFree(v)
	t.smallestPivot = math.Inf(1)
	for i, fi := range t.at[:k] {
		row := t.a[i*k : i*k+i]
		for j := range i {
			s := v.h[fi*n+t.at[j]]
			for e, x := range t.a[j*k : j*k+j] {
				s -= row[e] * x
			}
			row[j] = s * t.a[j*k+j] // the diagonal holds inverses
		}
		p := v.h[fi*n+fi] + par
		for _, x := range row {
			p -= x * x
		}
		t.smallestPivot = min(t.smallestPivot, p)
		t.a[i*k+i] = 1 / math.Sqrt(max(p, 1e-18))
	}
	return k
}
