package optim

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// stepper solves the small systems of a goroutine's lanes.
type stepper struct {
	m, n         int
	s            *BatchSettings
	lower, upper []float64 // nil: none

	gram   []float64 // lower triangle of [J f]^T [J f], (n+1) x (n+1)
	a      []float64 // Cholesky factor of the free part, row-major, inverses on its diagonal
	b, w   []float64
	q      []float64
	at     []int             // the free parameters
	tall   *linalg.PivotedQR // m x n, for sharpen
	flat   *linalg.PivotedQR // 2n x n, for steps from r
	rhs    []float64         // 2n
	tallB  []float64
	sd     []float64
	cov    []float64 // of a finished row
	v      []float64
	minute float64 // least pivot of the last factor
}

// dull is the least pivot of scaled normal equations that keeps half the digits
// of a step: beyond, the condition of the Jacobian is above 1e7 or nearly so.
const dull = 1e-13

func newStepper(m, n int, s *BatchSettings, rows *Rows) *stepper {
	mem := linalg.NewArena((n+1)*(n+1) + 3*n*n + 8*n)
	t := &stepper{m: m, n: n, s: s, lower: rows.Lower, upper: rows.Upper}
	t.gram, t.a, t.v, t.cov = mem.Floats((n+1)*(n+1)), mem.Floats(n*n), mem.Floats(n*n), mem.Floats(n*n)
	t.b, t.w, t.q, t.sd, t.rhs = mem.Floats(n), mem.Floats(n), mem.Floats(n), mem.Floats(n), mem.Floats(2*n)
	t.at = make([]int, n)
	return t
}

// costOf is the cost of a lane's outputs, of which gram has been formed.
func (t *stepper) costOf(c *batchWorker, l int) float64 {
	if c.plain == nil {
		return t.gram[len(t.gram)-1] / 2
	}
	s := 0.0
	rho := c.out[t.n+1][l:]
	for i := 0; i < len(rho); i += lanes {
		s += rho[i]
	}
	return t.s.LossScale * t.s.LossScale * s / 2
}

func sumSquares(x []float64) float64 {
	s := 0.0
	for i := 0; i < len(x); i += lanes {
		s += x[i] * x[i]
	}
	return s
}

// linearise scales the products in gram to the normal equations of a lane; false
// if they are not finite.
func (t *stepper) linearise(v *lane) bool {
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
		v.d[i] = 1
		if v.longest[i] > 0 {
			v.d[i] = 1 / v.longest[i]
		}
		v.column[i] = col * v.d[i]
		v.g[i] = t.gram[n*w+i] * v.d[i]
		for j := range i + 1 {
			h := t.gram[i*w+j] * v.d[i] * v.d[j]
			v.h[i*n+j], v.h[j*n+i] = h, h
		}
	}
	return true
}

// gramOf fills the lower triangle of the products of the columns and f, for one
// lane; f comes last.
func gramOf(out []float64, columns [][]float64, f []float64, l int) {
	n := len(columns)
	w := n + 1
	at := func(i int) []float64 {
		if i == n {
			return f[l:]
		}
		return columns[i][l:]
	}
	for i := 0; i < w; i += 2 {
		two := i+1 < w
		a0 := at(i)
		a1 := a0
		if two {
			a1 = at(i + 1)
		}
		for j := 0; j < i; j += 2 {
			p, q, r, s := block(a0, a1, at(j), at(j+1))
			out[i*w+j], out[i*w+j+1] = p, q
			if two {
				out[(i+1)*w+j], out[(i+1)*w+j+1] = r, s
			}
		}
		if !two {
			out[i*w+i] = sumSquares(a0)
			continue
		}
		out[i*w+i], out[(i+1)*w+i], out[(i+1)*w+i+1] = triangle(a0, a1)
	}
}

// block returns the four products of two pairs of columns.
func block(a0, a1, b0, b1 []float64) (p, q, r, s float64) {
	a1, b0, b1 = a1[:len(a0)], b0[:len(a0)], b1[:len(a0)]
	for i := 0; i < len(a0); i += lanes {
		x, y, u, v := a0[i], a1[i], b0[i], b1[i]
		p += x * u
		q += x * v
		r += y * u
		s += y * v
	}
	return p, q, r, s
}

func triangle(a0, a1 []float64) (p, q, r float64) {
	a1 = a1[:len(a0)]
	for i := 0; i < len(a0); i += lanes {
		x, y := a0[i], a1[i]
		p += x * x
		q += x * y
		r += y * y
	}
	return p, q, r
}

// bind finds the parameters that a bound stops at x.
func (t *stepper) bind(v *lane) {
	for k, g := range v.g {
		v.free[k] = t.lower == nil || !(v.x[k] <= t.lower[k] && g > 0 || v.x[k] >= t.upper[k] && g < 0)
		v.y[k] = 0
	}
}

func (t *stepper) clipped(k int, x float64) float64 {
	if t.lower == nil {
		return x
	}
	return min(max(x, t.lower[k]), t.upper[k])
}

// solve sets the free elements of y to the damped step, the others being given.
func (t *stepper) solve(v *lane, par float64) {
	if v.orthogonal {
		t.solveSharp(v, par)
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

// choose lists the free parameters.
func (t *stepper) choose(v *lane) (k int) {
	for i, is := range v.free {
		if is {
			t.at[k] = i
			k++
		}
	}
	return k
}

// factor decomposes the free part of h + par, and remembers the least pivot.
func (t *stepper) factor(v *lane, par float64) (k int) {
	n := t.n
	k = t.choose(v)
	t.minute = math.Inf(1)
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
		t.minute = min(t.minute, p)
		t.a[i*k+i] = 1 / math.Sqrt(max(p, 1e-18))
	}
	return k
}

// solveInverse solves L L^T x = x where the diagonal holds inverses.
func solveInverse(l, x []float64, n int) {
	forwardInverse(l, x, n)
	for i := n - 1; i >= 0; i-- {
		x[i] *= l[i*n+i]
		for j := range i {
			x[j] -= l[i*n+j] * x[i]
		}
	}
}

func forwardInverse(l, x []float64, n int) {
	for i := range n {
		s := x[i]
		for j, a := range l[i*n : i*n+i] {
			s -= a * x[j]
		}
		x[i] = s * l[i*n+i]
	}
}
