// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package linalg

import "math"

// Damped solves the trust-region problem of Moré, in which h minimises |A h + f| with |h|
// at most radius, from the factorisation of A. Its solution is that of least squares damped
// by a multiplier par: (A^T A + par) h = -A^T f.
type Damped struct {
	q *PivotedQR
	// s is the upper triangular factor of [R; sqrt(par) I], by columns.
	s       []float64
	z, y, w []float64
	row     []float64
}

// NewDamped returns the workspace for problems with the factored matrix q.
func NewDamped(q *PivotedQR) *Damped {
	n := q.N
	mem := NewArena(n*n + 4*n)
	return &Damped{q: q, s: mem.Floats(n * n), z: mem.Floats(n), y: mem.Floats(n), w: mem.Floats(n), row: mem.Floats(n)}
}

// Within sets h and returns its multiplier, for b = Q^T f and a guess par. The length of h
// is within a tenth of radius unless the undamped step is shorter (Moré, Lecture Notes in
// Mathematics 630, 1978, algorithm 5.5).
func (t *Damped) Within(h, b []float64, radius, par float64) float64 {
	q, n := t.q, t.q.N
	q.SolveUpper(t.z, b)
	t.unpivot(h)
	length := Norm(h)
	if !Finite(length) { // a nearly singular triangle: only damped steps are safe
		length = math.MaxFloat64
	}
	excess := length - radius
	if excess <= 0.1*radius {
		return 0
	}
	lower := 0.0
	if q.Rank == n {
		t.direction(h, length)
		q.SolveTransposed(t.w)
		if l := Norm(t.w); l > 0 && Finite(l) {
			lower = excess / radius / l / l
		}
	}
	for k := range n { // gradient R^T b
		t.w[k] = Dot(q.A[k*q.M:k*q.M+k], b[:k]) + q.Diag[k]*b[k]
	}
	slope := Norm(t.w)
	upper := slope / radius
	if upper == 0 {
		upper = math.SmallestNonzeroFloat64 / min(radius, 0.1)
	}
	par = min(max(par, lower), upper)
	if par == 0 {
		par = slope / length
	}
	for range 10 {
		if par == 0 {
			par = max(math.SmallestNonzeroFloat64, 0.001*upper)
		}
		t.Damp(par, b)
		t.solve(t.z, t.y)
		t.unpivot(h)
		length = Norm(h)
		last := excess
		excess = length - radius
		if math.Abs(excess) <= 0.1*radius || lower == 0 && excess <= last && last < 0 {
			break
		}
		t.direction(h, length)
		t.solveTransposed(t.w)
		l := Norm(t.w)
		if excess > 0 {
			lower = max(lower, par)
		} else {
			upper = min(upper, par)
		}
		par = max(lower, par+excess/radius/l/l)
	}
	return par
}

// unpivot sets h = -P z.
func (t *Damped) unpivot(h []float64) {
	for k, to := range t.q.Perm {
		h[to] = -t.z[k]
	}
}

// direction sets w = P^T h / length.
func (t *Damped) direction(h []float64, length float64) {
	for k, to := range t.q.Perm {
		t.w[k] = h[to] / length
	}
}

// Damp rotates the rows sqrt(par) I into R: s becomes the triangular factor and y the
// right-hand side that belongs to b.
func (t *Damped) Damp(par float64, b []float64) {
	q, n := t.q, t.q.N
	for k := range n {
		copy(t.s[k*n:], q.A[k*q.M:k*q.M+k])
		t.s[k*n+k] = q.Diag[k]
	}
	copy(t.y, b[:n])
	root := math.Sqrt(par)
	for j := range n { // row j of sqrt(par) I fills in from column j on
		clear(t.row[j:])
		t.row[j] = root
		right := 0.0
		for k := j; k < n; k++ {
			c, s, r := rotation(t.s[k*n+k], t.row[k])
			if s == 0 {
				continue
			}
			t.s[k*n+k] = r
			t.y[k], right = c*t.y[k]+s*right, c*right-s*t.y[k]
			for i := k + 1; i < n; i++ {
				x := &t.s[i*n+k]
				*x, t.row[i] = c**x+s*t.row[i], c*t.row[i]-s**x
			}
		}
	}
}

// solve solves S z = y.
func (t *Damped) solve(z, y []float64) {
	n := t.q.N
	copy(z, y)
	for k := n - 1; k >= 0; k-- {
		z[k] /= t.s[k*n+k]
		AddScaled(z[:k], -z[k], t.s[k*n:k*n+k])
	}
}

// solveTransposed solves S^T z = z in place.
func (t *Damped) solveTransposed(z []float64) {
	n := t.q.N
	for k := range n {
		z[k] = (z[k] - Dot(t.s[k*n:k*n+k], z[:k])) / t.s[k*n+k]
	}
}

// Normal sets a = -(A^T A + par)^-1 A^T c for the multiplier of the last Damp, from Q^T c.
func (t *Damped) Normal(a, qtc []float64) {
	q, n := t.q, t.q.N
	for k := range n {
		t.w[k] = Dot(q.A[k*q.M:k*q.M+k], qtc[:k]) + q.Diag[k]*qtc[k]
	}
	t.solveTransposed(t.w)
	t.solve(t.z, t.w)
	t.unpivot(a)
}
