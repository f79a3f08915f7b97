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

// CubicCells says near which cells a piecewise cubic function is evaluated. Knot j of the function has the value y_j
// and w_j, its second derivative times a sixth of the square of the length of cell j, which lies between knots j and
// j+1. At the fraction t of that cell the function is
//
//	y_j (1-t) + y_(j+1) t + w_j B(1-t) + r_j w_(j+1) B(t),  B(t) = t^3 - t
//
// where r_j is the square of the length of cell j over that of cell j+1.
type CubicCells struct {
	first     []int64
	ratio     *Node
	ascending bool
}

// NewCubicCells makes the cells for evaluations at len(first) points: first holds the cells of the
// points before they are shifted, and ratio holds r, one number for each knot, of which the last
// two are not read. ascending promises that the cells ascend also after they are shifted, which
// spares a device a search in the gradient.
func NewCubicCells(first []int, ratio []float64, ascending bool) *CubicCells {
	c := &CubicCells{ratio: Const(ratio), ascending: ascending}
	for _, v := range first {
		c.first = append(c.first, int64(v))
	}
	return c
}

// At returns the derivative of some order (0 is the function itself) by t, at fraction t of cell
// first + floor(shift). Rows are in the last axes: those of y and w run over knots, and those of
// shift and t over points. Leading axes broadcast. A point outside all cells, or whose shift is not
// finite, gives NaN. Gradient: with respect to y, w and t.
func (c *CubicCells) At(y, w, shift, t *Node, order int) *Node {
	if bad := notReal("cubic", y, w, shift, t); bad != nil {
		return bad
	}
	if order < 0 {
		return mistake("cubic", "the derivative has order %d: want at least 0", order)
	}
	for i, x := range []*Node{y, w, shift, t} {
		if len(x.shape) == 0 || i < 2 && last(x.shape) != c.ratio.Size() || i > 1 && last(x.shape) != len(c.first) {
			return failed(&tensor.ShapeError{Op: "cubic", Got: shapesOf([]*Node{y, w, shift, t, c.ratio}), Want: "as many elements in y and in w as there are ratios, and as many points as cells"})
		}
	}
	lead, bad := cubicRows.lead("cubic", y, w, shift, t, c.ratio)
	if bad != nil {
		return bad
	}
	if order > 3 {
		return Full(0, withTail(lead, len(c.first))...)
	}
	v := newNode(cubicOp, withTail(lead, len(c.first)), y, w, shift, t, c.ratio)
	v.attr, v.obj = []int{order}, c
	return v
}

// back returns the gradients with respect to y and w one after the other in an axis before the last.
func (c *CubicCells) back(g, shift, t *Node, order int) *Node {
	lead, bad := cubicBackRows.lead("cubic_back", g, shift, t, c.ratio)
	if bad != nil {
		return bad
	}
	v := newNode(cubicBackOp, withTail(lead, 2, c.ratio.Size()), g, shift, t, c.ratio)
	v.attr, v.obj = []int{order}, c
	return v
}

var (
	cubicRows     = rowOp{1, []int{1, 1, 1, 1, 1}}
	cubicBackRows = rowOp{2, []int{1, 1, 1, 1}}
)

var cubicOp, cubicBackOp *Op

func init() {
	cells := func() *CubicCells {
		return NewCubicCells([]int{2, 1, 3, 1}, []float64{0.9, 0.8, 1.1, 0.9, 1, 1}, false)
	}
	shifts := func() *Node { return Const([]float64{-1.5, 0.25, 0, 1.75, 0.5, -0.25, -2, 1}, 2, 4) }
	cubicOp = register(&Op{Name: "cubic", Arity: 5, kind: compiler.Step, pure: true, Smooth: true, lift: cubicRows.lift,
		vjp: func(g, v *Node, x []*Node) []*Node {
			c, order := v.obj.(*CubicCells), v.attr[0]
			both := c.back(g, x[2], x[3], order)
			return []*Node{Index(both, -2, 0), Index(both, -2, 1), nil, Mul(g, c.At(x[0], x[1], x[2], x[3], order+1)), nil}
		},
		run:    func(c *cpu.Call) error { return c.Each(runCubic[float64], runCubic[float32]) },
		device: func(s *cuda.Step) bool { return cuda.Cubic(s, s.Obj.(*CubicCells).first) },
		Sample: func(in Source) []*Node {
			y, w, t := in(-1, 1, 2, 6), in(-1, 1, 6), in(0, 1, 4)
			return []*Node{cells().At(y, w, shifts(), t, 0), cells().At(y, w, shifts(), t, 1)}
		}})
	cubicBackOp = register(&Op{Name: "cubic_back", Arity: 4, kind: compiler.Step, pure: true, Smooth: true, lift: cubicBackRows.lift,
		vjp: func(g, v *Node, x []*Node) []*Node {
			c, order := v.obj.(*CubicCells), v.attr[0]
			y, w := Index(g, -2, 0), Index(g, -2, 1)
			return []*Node{c.At(y, w, x[1], x[2], order), nil, Mul(x[0], c.At(y, w, x[1], x[2], order+1)), nil}
		},
		run: func(c *cpu.Call) error { return c.Each(runCubicBack[float64], runCubicBack[float32]) },
		device: func(s *cuda.Step) bool {
			c := s.Obj.(*CubicCells)
			return cuda.CubicBack(s, c.first, c.ascending)
		},
		Sample: func(in Source) []*Node {
			up := NewCubicCells([]int{1, 1, 2, 4}, []float64{0.9, 0.8, 1.1, 0.9, 1, 1}, true)
			return []*Node{cells().back(in(-1, 1, 2, 4), shifts(), in(0, 1, 4), 0), cells().back(in(-1, 1, 4), shifts(), in(0, 1, 4), 2),
				up.back(in(-1, 1, 2, 4), Const([]float64{0.5, 0.5, 0.25, -0.5, -1, -0.5, 0, 0}, 2, 4), in(0, 1, 4), 0)}
		}})
}

// cubicWeights returns the weights of y_j, y_(j+1), w_j and w_(j+1) in a derivative by t.
func cubicWeights(order int, t, ratio float64) (a, b, c, d float64) {
	u := 1 - t
	switch order {
	case 0:
		return u, t, u * (u*u - 1), ratio * t * (t*t - 1)
	case 1:
		return -1, 1, 1 - 3*u*u, ratio * (3*t*t - 1)
	case 2:
		return 0, 0, 6 * u, ratio * 6 * t
	}
	return 0, 0, -6, ratio * 6
}

// cellOf returns the cell of a shifted point among those of n knots, or -1.
func cellOf(first int64, shift float64, n int) int {
	if !(shift > -1e15 && shift < 1e15) {
		return -1
	}
	j := int64(shift)
	if float64(j) > shift {
		j--
	}
	if j += first; j < 0 || j > int64(n)-2 {
		return -1
	}
	return int(j)
}

func runCubic[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	n, knots := last(c.Shape), last(c.InShape[0])
	return cubicRows.each(c, 16*n, func(at []int) func(hand, from, to int) {
		cells, order, ratio := c.Obj.(*CubicCells), c.Attr[0], in[4]
		return func(_, from, to int) {
			for r := from; r < to; r++ {
				y, w := in[0][at[5*r]:][:knots], in[1][at[5*r+1]:][:knots]
				shift, t := in[2][at[5*r+2]:][:n], in[3][at[5*r+3]:][:n]
				v := out[r*n : (r+1)*n]
				if order == 0 {
					cubicValues(v, y, w, shift, t, ratio, cells.first)
					continue
				}
				for k := range v {
					j := cellOf(cells.first[k], float64(shift[k]), knots)
					if j < 0 {
						v[k] = T(math.NaN())
						continue
					}
					a, b, p, q := cubicWeights(order, float64(t[k]), float64(ratio[j]))
					v[k] = T(a*float64(y[j]) + b*float64(y[j+1]) + (p*float64(w[j]) + q*float64(w[j+1])))
				}
			}
		}
	})
}

// cubicValues is the function itself, by far the most frequent order.
func cubicValues[T cpu.Real](v, y, w, shift, t, ratio []T, first []int64) {
	n := len(v)
	shift, t, first = shift[:n], t[:n], first[:n:n]
	for k, s := range shift {
		j := int(int32(s)) // what is outside of this range is outside of the knots
		if T(j) > s {
			j--
		}
		j += int(first[k])
		if uint(j) >= uint(len(y)-1) || s != s {
			v[k] = T(math.NaN())
			continue
		}
		a := t[k]
		b := 1 - a
		yj, wj := (*[2]T)(y[j:]), (*[2]T)(w[j:])
		v[k] = (b*yj[0] + a*yj[1]) + (b*(b*b-1)*wj[0] + ratio[j]*a*(a*a-1)*wj[1])
	}
}

func runCubicBack[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	knots, n := last(c.Shape), last(c.InShape[0])
	return cubicBackRows.each(c, 16*n, func(at []int) func(hand, from, to int) {
		cells, order, ratio := c.Obj.(*CubicCells), c.Attr[0], in[3]
		return func(_, from, to int) {
			for r := from; r < to; r++ {
				g, shift, t := in[0][at[4*r]:][:n], in[1][at[4*r+1]:][:n], in[2][at[4*r+2]:][:n]
				y, w := out[2*r*knots:][:knots], out[(2*r+1)*knots:][:knots]
				clear(y)
				clear(w)
				for k, v := range g {
					j := cellOf(cells.first[k], float64(shift[k]), knots)
					if j < 0 {
						continue
					}
					a, b, p, q := cubicWeights(order, float64(t[k]), float64(ratio[j]))
					y[j] += T(a * float64(v))
					y[j+1] += T(b * float64(v))
					w[j] += T(p * float64(v))
					w[j+1] += T(q * float64(v))
				}
			}
		}
	})
}
