// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// Tridiagonal is a factored tridiagonal matrix A = L D U with constant elements.
type Tridiagonal struct {
	below   *Node // L_(i,i-1), 0 for i = 0
	above   *Node // U_(i-1,i), 0 for i = 0
	inverse *Node // 1/D_i
	reach   int   // elements after which a sweep has forgotten where it began; 0 if that is never
	err     *Node
}

// NewTridiagonal factors the matrix with the given elements below, on and above the diagonal. below
// and above have one element less than the diagonal, and are equal for a symmetric matrix. It
// should be dominated by its diagonal: there is no pivoting, and a pivot must be positive. A
// mistake stays with the Nodes that [Tridiagonal.Solve] makes.
func NewTridiagonal(below, diagonal, above []float64) *Tridiagonal {
	n := len(diagonal)
	if n == 0 || len(below) != n-1 || len(above) != n-1 {
		return &Tridiagonal{err: mistake("tridiagonal", "there are %d elements on the diagonal, %d below and %d above: want one more on the diagonal than on the others", n, len(below), len(above))}
	}
	l, u, inverse := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, d := range diagonal {
		if i > 0 {
			l[i], u[i] = below[i-1]*inverse[i-1], above[i-1]*inverse[i-1]
			d -= l[i] * above[i-1]
		}
		if !(d > 0) || math.IsInf(d, 0) {
			return &Tridiagonal{err: mistake("tridiagonal", "pivot %d is %g: want a matrix whose diagonal dominates", i, d)}
		}
		inverse[i] = 1 / d
	}
	t := &Tridiagonal{below: Const(l), above: Const(u), inverse: Const(inverse)}
	if a, b := reach(l), reach(u); a > 0 && b > 0 {
		t.reach = max(a, b)
	}
	return t
}

// forgotten is the weight below which an element has no influence in float64.
const forgotten = 0x1p-60

// reach returns the smallest h for which every product of h successive factors is forgotten; 0 if it
// would be more than 64.
func reach(below []float64) int {
	worst := 0
	for i := range below {
		p, h := 1.0, 0
		for j := i; j > 0 && p > forgotten; j-- {
			p *= math.Abs(below[j])
			h++
		}
		worst = max(worst, h)
	}
	if worst > 64 {
		return 0
	}
	return max(worst, 1)
}

// Solve returns the x with A x = b for the rows of b, its last axis. Gradient: A^-T g.
func (t *Tridiagonal) Solve(b *Node) *Node { return t.solve(b, 0) }

// SolveTransposed returns the x with A^T x = b for the rows of b. Gradient: A^-1 g.
func (t *Tridiagonal) SolveTransposed(b *Node) *Node { return t.solve(b, 1) }

func (t *Tridiagonal) solve(b *Node, transposed int) *Node {
	if t.err != nil {
		return t.err
	}
	if bad := notReal("solve_tridiagonal", b); bad != nil {
		return bad
	}
	if len(b.shape) == 0 || last(b.shape) != t.below.Size() {
		return failed(&tensor.ShapeError{Op: "solve_tridiagonal", Got: []tensor.Shape{b.shape, t.below.shape}, Want: "rows as long as the diagonal"})
	}
	l, u := t.below, t.above
	if transposed == 1 {
		l, u = u, l
	}
	x := newNode(tridiagonalOp, b.shape, b, l, t.inverse, u)
	x.attr = []int{t.reach, transposed}
	x.obj = t
	return x
}

var tridiagonalRows = rowOp{1, []int{1, 1, 1, 1}}

var tridiagonalOp *Op

func init() {
	tridiagonalOp = register(&Op{Name: "solve_tridiagonal", Arity: 4, kind: compiler.Step, pure: true, Smooth: true, lift: tridiagonalRows.lift,
		vjp: func(g, x *Node, _ []*Node) []*Node {
			return []*Node{x.obj.(*Tridiagonal).solve(g, 1-x.attr[1]), nil, nil, nil}
		},
		run:    func(c *cpu.Call) error { return c.Each(runTridiagonal[float64], runTridiagonal[float32]) },
		device: cuda.Tridiagonal,
		Sample: func(in Source) []*Node {
			wide, off, ramp := make([]float64, 150), make([]float64, 149), make([]float64, 150)
			for i := range wide {
				wide[i], ramp[i] = 4+float64(i%3), math.Sin(float64(i))
			}
			for i := range off {
				off[i] = 1
			}
			return []*Node{NewTridiagonal([]float64{0.5, -1, 1}, []float64{2, 3, 4, 2.5}, []float64{0.25, -1, 0.5}).Solve(in(-1, 1, 5, 4)),
				NewTridiagonal(nil, []float64{2}, nil).SolveTransposed(in(-1, 1, 1)),
				NewTridiagonal(off, wide, off).Solve(Outer(in(-1, 1, 2), Const(ramp)))}
		}})
}

// runTridiagonal solves four rows at a time: a sweep waits for its last element, and four sweeps wait
// together. All arithmetic is float64.
func runTridiagonal[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	n := last(c.Shape)
	return tridiagonalRows.each(c, 4*n, func(at []int) func(hand, from, to int) {
		below, inverse, above := in[1][:n], in[2][:n], in[3][:n]
		return func(_, from, to int) {
			r := from
			for ; r+4 <= to; r += 4 {
				b := in[0]
				sweep4(out[r*n:(r+4)*n], b[at[4*r]:][:n], b[at[4*r+4]:][:n], b[at[4*r+8]:][:n], b[at[4*r+12]:][:n], below, inverse, above)
			}
			for ; r < to; r++ {
				sweep(out[r*n:(r+1)*n], in[0][at[4*r]:][:n], below, inverse, above)
			}
		}
	})
}

func sweep[T cpu.Real](x, b, below, inverse, above []T) {
	n := len(x)
	b, below, inverse, above = b[:n], below[:n], inverse[:n], above[:n]
	y := 0.0
	for i, v := range b {
		y = float64(v) - float64(below[i])*y
		x[i] = T(y)
	}
	z := y * float64(inverse[n-1])
	x[n-1] = T(z)
	for i := n - 2; i >= 0; i-- {
		z = float64(x[i])*float64(inverse[i]) - float64(above[i+1])*z
		x[i] = T(z)
	}
}

// sweep4 is sweep for four rows, with the same bits.
func sweep4[T cpu.Real](x, b0, b1, b2, b3, below, inverse, above []T) {
	n := len(b0)
	b1, b2, b3, below, inverse, above = b1[:n], b2[:n], b3[:n], below[:n], inverse[:n], above[:n]
	x0, x1, x2, x3 := x[:n], x[n:2*n], x[2*n:3*n], x[3*n:4*n]
	var y0, y1, y2, y3 float64
	for i := range b0 {
		l := float64(below[i])
		y0 = float64(b0[i]) - l*y0
		y1 = float64(b1[i]) - l*y1
		y2 = float64(b2[i]) - l*y2
		y3 = float64(b3[i]) - l*y3
		x0[i], x1[i], x2[i], x3[i] = T(y0), T(y1), T(y2), T(y3)
	}
	d := float64(inverse[n-1])
	y0, y1, y2, y3 = y0*d, y1*d, y2*d, y3*d
	x0[n-1], x1[n-1], x2[n-1], x3[n-1] = T(y0), T(y1), T(y2), T(y3)
	for i := n - 2; i >= 0; i-- {
		d, l := float64(inverse[i]), float64(above[i+1])
		y0 = float64(x0[i])*d - l*y0
		y1 = float64(x1[i])*d - l*y1
		y2 = float64(x2[i])*d - l*y2
		y3 = float64(x3[i])*d - l*y3
		x0[i], x1[i], x2[i], x3[i] = T(y0), T(y1), T(y2), T(y3)
	}
}
