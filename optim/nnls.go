package optim

import "fmt"

// NNLS returns the x >= 0 that minimises |A x - b|, for a matrix of m rows and n
// columns given column by column (Lawson & Hanson, Solving Least Squares
// Problems, 1974, chapter 23).
func NNLS(a []float64, m, n int, b []float64) ([]float64, error) {
	if m < 1 || n < 0 || len(a) != m*n || len(b) != m {
		return nil, fmt.Errorf("optim: NNLS of %d elements as %d x %d with %d values: want %d and %d", len(a), m, n, len(b), m*n, m)
	}
	if !allFinite(a) || !allFinite(b) {
		return nil, fmt.Errorf("optim: NNLS of NaN or infinity")
	}
	x := make([]float64, n)
	newActiveSet(m, n).solve(x, a, b)
	return x, nil
}

// activeSet keeps the memory of NNLS between calls.
type activeSet struct {
	m, n    int
	passive []bool // may be above 0
	q       *pivoted
	at      []int
	r, z, s []float64
}

func newActiveSet(m, n int) *activeSet {
	rows := max(m, n)
	floats := func(k int) []float64 { return make([]float64, k) }
	return &activeSet{m: m, n: n, passive: make([]bool, n), q: newPivoted(rows, n, floats), at: make([]int, n), r: floats(rows), z: floats(n), s: floats(n)}
}

func (t *activeSet) solve(x, a, b []float64) {
	clear(x)
	clear(t.passive)
	size := norm(b)
	for range 3*t.n + 10 {
		copy(t.r, b)
		for k, v := range x {
			axpy(t.r[:t.m], -v, a[k*t.m:(k+1)*t.m])
		}
		best, at := 0.0, -1
		for k := range t.n {
			col := a[k*t.m : (k+1)*t.m]
			length := norm(col)
			if t.passive[k] || length == 0 {
				continue
			}
			if g := dot(col, t.r[:t.m]) / length; g > best {
				best, at = g, k
			}
		}
		if at < 0 || best <= 1e-14*size {
			return
		}
		t.passive[at] = true
		if !t.inner(x, a, b, at) {
			return
		}
	}
}

// inner solves over the passive columns, dropping those that would be negative;
// false if the column that was just added came out again at once.
func (t *activeSet) inner(x, a, b []float64, added int) bool {
	for range t.n + 1 {
		t.leastSquares(a, b)
		step, worst := 1.0, -1
		for k, p := range t.passive {
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
		if !finite(step) {
			step = 0
		}
		for k, p := range t.passive {
			if !p {
				continue
			}
			x[k] += step * (t.s[k] - x[k])
			if x[k] <= 0 || k == worst {
				x[k], t.passive[k] = 0, false
			}
		}
		if !t.passive[added] && step == 0 {
			return false
		}
	}
	return false
}

// leastSquares sets s to the solution over the passive columns, 0 elsewhere.
func (t *activeSet) leastSquares(a, b []float64) {
	k := 0
	rows := t.q.m
	for i, p := range t.passive {
		if p {
			to := t.q.a[k*rows : (k+1)*rows]
			copy(to, a[i*t.m:(i+1)*t.m])
			clear(to[t.m:])
			t.at[k] = i
			k++
		}
	}
	t.q.n = k
	t.q.factor()
	copy(t.r, b)
	clear(t.r[t.m:])
	t.q.transposed(t.r)
	t.q.back(t.z[:k], t.r)
	clear(t.s)
	for i, to := range t.q.perm[:k] {
		t.s[t.at[to]] = t.z[i]
	}
}
