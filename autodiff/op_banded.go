// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// BandedMatVec returns the products M x of banded n x n matrices, or M^T x if transposed, with the
// vectors in the last axis of x. Row o of the last two axes of band, which has 2h+1 rows of n,
// holds the diagonal M[i, i+o-h] at i; elements outside the matrix are not read. Leading axes
// broadcast, so that there is one matrix for all rows of x, or one for each. Gradient: M^T g; of
// the band g_i x_(i+o-h).
func BandedMatVec(band, x *Node, transposed bool) *Node {
	if bad := notReal("banded_matvec", band, x); bad != nil {
		return bad
	}
	k := len(band.shape)
	if k < 2 || len(x.shape) < 1 || band.shape[k-2]%2 == 0 || last(band.shape) != last(x.shape) {
		return failed(&tensor.ShapeError{Op: "banded_matvec", Got: []tensor.Shape{band.shape, x.shape}, Want: "an odd number of diagonals, each as long as the vector"})
	}
	return banded(bandedOp, withTail(nil, last(x.shape)), int(truth(transposed)), band, x)
}

// bandedOuter returns the band u_i v_(i+o-h) of 2h+1 diagonals.
func bandedOuter(u, v *Node, diagonals int) *Node {
	return banded(bandedOuterOp, tensor.Shape{diagonals, last(u.shape)}, 0, u, v)
}

var (
	bandedRows      = rowOp{1, []int{2, 1}}
	bandedOuterRows = rowOp{2, []int{1, 1}}
)

func banded(op *Op, tail tensor.Shape, attr int, in ...*Node) *Node {
	r := bandedRows
	if op == bandedOuterOp {
		r = bandedOuterRows
	}
	lead, bad := r.lead(op.Name, in...)
	if bad != nil {
		return bad
	}
	y := newNode(op, withTail(lead, tail...), in...)
	y.attr = []int{attr}
	return y
}

var bandedOp, bandedOuterOp *Op

func init() {
	bandedOp = register(&Op{Name: "banded_matvec", Arity: 2, kind: compiler.Step, Smooth: true, lift: bandedRows.lift,
		vjp: func(g, y *Node, x []*Node) []*Node {
			band := x[0]
			u, v := g, x[1]
			if y.attr[0] == 1 {
				u, v = v, u
			}
			return []*Node{bandedOuter(u, v, band.shape[len(band.shape)-2]), BandedMatVec(band, g, y.attr[0] == 0)}
		},
		run:    func(c *cpu.Call) error { return c.Each(runBanded[float64], runBanded[float32]) },
		device: cuda.BandedMatVec,
		Sample: func(in Source) []*Node {
			return []*Node{BandedMatVec(in(-1, 1, 3, 5), in(-1, 1, 2, 5), false), BandedMatVec(in(-1, 1, 2, 5, 4), in(-1, 1, 4), true)}
		}})
	bandedOuterOp = register(&Op{Name: "banded_outer", Arity: 2, kind: compiler.Step, Smooth: true, lift: bandedOuterRows.lift,
		vjp: func(g, _ *Node, x []*Node) []*Node {
			return []*Node{BandedMatVec(g, x[1], false), BandedMatVec(g, x[0], true)}
		},
		run:    func(c *cpu.Call) error { return c.Each(runBandedOuter[float64], runBandedOuter[float32]) },
		device: cuda.BandedOuter,
		Sample: func(in Source) []*Node {
			return []*Node{bandedOuter(in(-1, 1, 2, 5), in(-1, 1, 5), 3)}
		}})
}

// overlap returns the i from lo to hi-1 for which i and i+d are within 0..n-1.
func overlap(n, d int) (lo, hi int) { return max(0, -d), min(n, n-d) }

func runBanded[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	n := last(c.Shape)
	diagonals := c.InShape[0][len(c.InShape[0])-2]
	if n == 0 {
		return nil
	}
	return bandedRows.each(c, diagonals*n, func(at []int) func(hand, from, to int) {
		mul, fma := cpu.Mul[T](c), cpu.FMA[T](c, false)
		return func(_, from, to int) {
			for r := from; r < to; r++ {
				band, x, y := in[0][at[2*r]:], in[1][at[2*r+1]:], out[r*n:(r+1)*n]
				mul(&y[0], &band[diagonals/2*n], &x[0], n) // the main diagonal
				for o := range diagonals {
					d := o - diagonals/2
					lo, hi := overlap(n, d)
					if lo >= hi || d == 0 {
						continue
					}
					if c.Attr[0] == 0 {
						fma(&y[lo], &band[o*n+lo], &x[lo+d], &y[lo], hi-lo)
					} else {
						fma(&y[lo+d], &band[o*n+lo], &x[lo], &y[lo+d], hi-lo)
					}
				}
			}
		}
	})
}

func runBandedOuter[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	k := len(c.Shape)
	diagonals, n := c.Shape[k-2], c.Shape[k-1]
	return bandedOuterRows.each(c, diagonals*n, func(at []int) func(hand, from, to int) {
		mul := cpu.Mul[T](c)
		return func(_, from, to int) {
			for r := from; r < to; r++ {
				u, v, y := in[0][at[2*r]:], in[1][at[2*r+1]:], out[r*diagonals*n:(r+1)*diagonals*n]
				clear(y)
				for o := range diagonals {
					d := o - diagonals/2
					if lo, hi := overlap(n, d); lo < hi {
						mul(&y[o*n+lo], &u[lo], &v[lo+d], hi-lo)
					}
				}
			}
		}
	})
}
