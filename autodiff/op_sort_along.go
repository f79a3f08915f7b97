// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// TakeAlong takes elements along one axis with separate indices for every row: with axis 1, y[i,k,j]
// = x[i, idx[i,k,j], j]. The other axes of idx have the lengths of x. A run fails if an index is out
// of range. Gradient: ScatterAlong.
func TakeAlong(x, idx *Node, axis int) *Node {
	ax, bad := along("take_along", x, idx, axis)
	if bad != nil {
		return bad
	}
	return takeAlong(x, idx, ax)
}

// ScatterAlong adds the elements of x to zeros, with separate indices for every row: with axis 1,
// y[i, idx[i,k,j], j] += x[i,k,j]. The axis of the result has n elements. Gradient: TakeAlong.
func ScatterAlong(x, idx *Node, axis, n int) *Node {
	ax, bad := along("scatter_along", x, idx, axis)
	if bad != nil {
		return bad
	}
	if x.shape[ax] != idx.shape[ax] || n < 0 {
		return mistake("scatter_along", "the elements have shape %v and the indices %v, for a result of length %d: want equal shapes and a length of at least 0", x.shape, idx.shape, n)
	}
	return scatterAlong(x, idx, ax, n)
}

func takeAlong(x, idx *Node, ax int) *Node {
	s := x.shape.Clone()
	s[ax] = idx.shape[ax]
	y := newNode(takeAlongOp, s, x, idx)
	y.attr = []int{ax}
	return y
}

func scatterAlong(x, idx *Node, ax, n int) *Node {
	s := x.shape.Clone()
	s[ax] = n
	y := newNode(scatterAlongOp, s, x, idx)
	y.attr = []int{ax}
	return y
}

// along checks the arguments and resolves the axis.
func along(op string, x, idx *Node, axis int) (int, *Node) {
	if bad := firstErr(x, idx); bad != nil {
		return 0, bad
	}
	ax, ok := axisOf(axis, len(x.shape))
	if !ok || !idx.isInt || x.isInt || len(idx.shape) != len(x.shape) ||
		!compiler.WithoutAxes(idx.shape, []int{ax}).Equal(compiler.WithoutAxes(x.shape, []int{ax})) {
		return 0, failed(&tensor.ShapeError{Op: op, Got: []tensor.Shape{x.shape, idx.shape}, Want: "an axis in range, and indices (Ints, IntInput or Argsort) with the same lengths along all other axes"})
	}
	return ax, nil
}

var takeAlongOp, scatterAlongOp *Op

func init() {
	takeAlongOp = register(&Op{Name: "take_along", code: compiler.TakeAlong, Arity: 2, kind: compiler.Step, lift: (*batcher).along, Smooth: true,
		vjp: func(g, y *Node, x []*Node) []*Node {
			return []*Node{scatterAlong(g, x[1], y.attr[0], x[0].shape[y.attr[0]]), nil}
		},
		run:    func(c *cpu.Call) error { return c.Each(runTakeAlong[float64], runTakeAlong[float32]) },
		device: cuda.TakeAlong,
		Sample: func(in Source) []*Node {
			return []*Node{TakeAlong(in(-2, 2, 2, 3), Ints([]int{2, 0, 2, 1, 1, 0, 0, 2}, 2, 4), 1), TakeAlong(in(-2, 2, 3), Ints([]int{1, 1}), 0)}
		}})
	scatterAlongOp = register(&Op{Name: "scatter_along", code: compiler.ScatterAlong, Arity: 2, kind: compiler.Step, lift: (*batcher).along, Smooth: true,
		vjp:    func(g, y *Node, x []*Node) []*Node { return []*Node{takeAlong(g, x[1], y.attr[0]), nil} },
		run:    func(c *cpu.Call) error { return c.Each(runScatterAlong[float64], runScatterAlong[float32]) },
		device: cuda.ScatterAlong,
		Sample: func(in Source) []*Node {
			return []*Node{ScatterAlong(in(-2, 2, 3, 2), Ints([]int{2, 0, 2, 1, 1, 0}, 3, 2), 0, 4)}
		}})
}

func runTakeAlong[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	outer, inner, k := around(c.Shape, c.Attr[0])
	n := c.InShape[0][c.Attr[0]]
	if inner == 1 {
		return eachAlong(c, outer, k, n, func() func(o int) int {
			return func(o int) int {
				x := in[0][o*n : (o+1)*n]
				for p, i := range c.Ints[1][o*k : (o+1)*k] {
					if uint64(i) >= uint64(n) {
						return p
					}
					out[o*k+p] = x[i]
				}
				return k
			}
		})
	}
	return rowwise(c, outer, inner, k, n, func(o, j, p, i int) { out[(o*k+p)*inner+j] = in[0][(o*n+i)*inner+j] })
}

func runScatterAlong[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	outer, inner, n := around(c.Shape, c.Attr[0])
	k := c.InShape[0][c.Attr[0]]
	if inner == 1 {
		return eachAlong(c, outer, k, n, func() func(o int) int {
			return func(o int) int {
				y := out[o*n : (o+1)*n]
				clear(y)
				for p, i := range c.Ints[1][o*k : (o+1)*k] {
					if uint64(i) >= uint64(n) {
						return p
					}
					y[i] += in[0][o*k+p]
				}
				return k
			}
		})
	}
	clear(out)
	return rowwise(c, outer, inner, k, n, func(o, j, p, i int) { out[(o*n+i)*inner+j] += in[0][(o*k+p)*inner+j] })
}

// alongRows is what eachAlong keeps between runs.
type alongRows struct {
	f   func(hand, from, to int)
	bad atomic.Int64 // the first position of an index that is outside
}

// eachAlong calls a function for 0..outer-1, rows of k indices, on several goroutines, and says which index is not in 0..n-1. The function
// returns the position of the first such in its row; k: there is none. make makes it, once.
func eachAlong(c *cpu.Call, outer, k, n int, make func() func(o int) int) error {
	s := cpu.Scratch(c, func() *alongRows {
		s, row := &alongRows{}, make()
		s.f = func(_, from, to int) {
			for o := from; o < to; o++ {
				if p := row(o); p < k {
					for at := int64(o*k + p); ; {
						if old := s.bad.Load(); at >= old || s.bad.CompareAndSwap(old, at) {
							return
						}
					}
				}
			}
		}
		return s
	})
	s.bad.Store(math.MaxInt64)
	const multiplications = 8 // that take as long as an index
	c.EachRow(outer, multiplications*outer*max(k, n/4), s.f)
	if p := s.bad.Load(); p < math.MaxInt64 {
		return outside(c, c.Ints[1][p], int(p), n)
	}
	return nil
}

// rowwise calls f with the indices (o, j) outside the axis, the position p and the index i in 0..n-1
// stored there. Indices without a batch axis serve all lanes, which are innermost.
func rowwise(c *cpu.Call, outer, inner, k, n int, f func(o, j, p, i int)) error {
	idx := c.Ints[1]
	if len(idx) == 0 {
		return nil
	}
	own := len(idx) / (outer * k)
	lanes := inner / own
	for o := range outer {
		for p := range k {
			for j := range inner {
				i := idx[(o*k+p)*own+j/lanes]
				if i < 0 || int(i) >= n {
					return outside(c, i, (o*k+p)*own+j/lanes, n)
				}
				f(o, j, p, int(i))
			}
		}
	}
	return nil
}

// outside says which index, the p-th of all, is not in 0..n-1.
func outside(c *cpu.Call, i int64, p, n int) error {
	return fmt.Errorf("autodiff: %s: the index at position %[3]d is %[2]d: want 0..%[4]d", c.Op.Name, i, p, n-1)
}
