// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package linalg

// ActiveSet solves least squares with variables of at least 0 by the active-set method
// (Lawson & Hanson, Solving Least Squares Problems, 1974, chapter 23). It keeps its memory
// between calls.
type ActiveSet struct {
	m, n int
	// Passive marks the variables that may be above 0; the others are held at 0.
	Passive []bool
	// q holds the factored passive columns, which are the columns at of the matrix.
	q       *PivotedQR
	at      []int
	r, z, s []float64
}

// NewActiveSet returns the memory for matrices of m rows and n columns.
func NewActiveSet(m, n int) *ActiveSet {
	rows, mem := max(m, n), new(Arena)
	return &ActiveSet{m: m, n: n, Passive: make([]bool, n), q: NewPivotedQR(rows, n, mem), at: make([]int, n), r: mem.Floats(rows), z: mem.Floats(n), s: mem.Floats(n)}
}

// Solve sets x to the minimiser of |A x - b| with x >= 0, where a holds A by columns.
func (t *ActiveSet) Solve(x, a, b []float64) {
	clear(x)
	clear(t.Passive)
	size := Norm(b)
	for range 3*t.n + 10 {
		copy(t.r, b)
		for k, v := range x {
			AddScaled(t.r[:t.m], -v, a[k*t.m:(k+1)*t.m])
		}
		best, at := 0.0, -1
		for k := range t.n {
			col := a[k*t.m : (k+1)*t.m]
			length := Norm(col)
			if t.Passive[k] || length == 0 {
				continue
			}
			if g := Dot(col, t.r[:t.m]) / length; g > best {
				best, at = g, k
			}
		}
		if at < 0 || best <= 1e-14*size {
			return
		}
		t.Passive[at] = true
		if !t.inner(x, a, b, at) {
			return
		}
	}
}

// inner solves over the passive columns, dropping those that would be negative;
// false if the column that was just added came out again at once.
func (t *ActiveSet) inner(x, a, b []float64, added int) bool {
	for range t.n + 1 {
		t.leastSquares(a, b)
		step, worst := 1.0, -1
		for k, p := range t.Passive {
			if p && t.s[k] <= 0 {
				if f := x[k] / (x[k] - t.s[k]); f < step || worst < 0 {
					step, worst = min(f, step), k
				}
			}
		}
		if worst < 0 {
			copy(x, t.s)
			return true
		}
		if !Finite(step) {
			step = 0
		}
		for k, p := range t.Passive {
			if !p {
				continue
			}
			x[k] += step * (t.s[k] - x[k])
			if x[k] <= 0 || k == worst {
				x[k], t.Passive[k] = 0, false
			}
		}
		if !t.Passive[added] && step == 0 {
			return false
		}
	}
	return false
}

// leastSquares sets s to the solution over the passive columns, 0 elsewhere.
func (t *ActiveSet) leastSquares(a, b []float64) {
	k := 0
	rows := t.q.M
	for i, p := range t.Passive {
		if p {
			to := t.q.A[k*rows : (k+1)*rows]
			copy(to, a[i*t.m:(i+1)*t.m])
			clear(to[t.m:])
			t.at[k] = i
			k++
		}
	}
	t.q.N = k
	t.q.Factor()
	copy(t.r, b)
	clear(t.r[t.m:])
	t.q.MultiplyQT(t.r)
	t.q.SolveUpper(t.z[:k], t.r)
	clear(t.s)
	for i, to := range t.q.Perm[:k] {
		t.s[t.at[to]] = t.z[i]
	}
}
