// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
)

// Gather takes the elements idx along one axis, which the axes of idx replace in the result.
// Gradient: ScatterAdd. A run fails if an index is out of range.
func Gather(x, idx *Node, axis int) *Node {
	if bad := cmp.Or(notReal("gather", x), firstErr(idx)); bad != nil {
		return bad
	}
	ax, ok := axisOf(axis, len(x.shape))
	if !ok || !idx.isInt {
		return mistake("gather", "cannot gather along axis %d of shape %v with %v: want an axis in range, and indices (Ints or IntInput)", axis, x.shape, idx)
	}
	s := slices.Concat(x.shape[:ax], idx.shape, x.shape[ax+1:])
	n := newNode(gatherOp, s, x, idx)
	n.attr = []int{ax, len(idx.shape)}
	return n
}

// ScatterAdd adds the elements of x to zeros: along axis, element idx[k] of the result, which has
// n, receives element k of x. In x, the axes of idx take the place of that axis. Gradient: Gather.
func ScatterAdd(x, idx *Node, axis, n int) *Node {
	if bad := cmp.Or(notReal("scatter_add", x), firstErr(idx)); bad != nil {
		return bad
	}
	ax, ok := axisOf(axis, len(x.shape)-len(idx.shape)+1)
	if !ok || !idx.isInt || !idx.shape.Equal(x.shape[ax:ax+len(idx.shape)]) {
		return mistake("scatter_add", "cannot scatter along axis %d of shape %v with %v: want indices whose shape matches the axes of x from that axis on", axis, x.shape, idx)
	}
	if n < 0 {
		return mistake("scatter_add", "the result would have length %d: want at least 0", n)
	}
	s := slices.Concat(x.shape[:ax], []int{n}, x.shape[ax+len(idx.shape):])
	out := newNode(scatterOp, s, x, idx)
	out.attr = []int{ax, len(idx.shape)}
	return out
}

// Bincount returns how often each of the integers 0..n-1 occurs in idx.
func Bincount(idx *Node, n int) *Node {
	if bad := firstErr(idx); bad != nil {
		return bad
	}
	return ScatterAdd(Full(1, idx.Size()), Reshape(idx, idx.Size()), 0, n)
}

// Argmax returns the index of the largest element along one axis. Of equal elements it takes the
// first, and a NaN counts as the largest. Gradient: none.
func Argmax(x *Node, axis int) *Node { return arg(argmaxOp, x, axis) }

// Argmin returns the index of the smallest element along one axis. Of equal elements it takes the
// first, and a NaN counts as the smallest. Gradient: none.
func Argmin(x *Node, axis int) *Node { return arg(argminOp, x, axis) }

func arg(op *Op, x *Node, axis int) *Node {
	if bad := notReal(op.Name, x); bad != nil {
		return bad
	}
	ax, ok := axisOf(axis, len(x.shape))
	if !ok || x.shape[ax] == 0 {
		return mistake(op.Name, "axis %d of shape %v does not exist or is empty: want an axis with elements", axis, x.shape)
	}
	n := newNode(op, compiler.WithoutAxes(x.shape, []int{ax}), x)
	n.attr, n.isInt = []int{ax}, true
	return n
}

// Float converts indices to reals. Gradient: none.
func Float(idx *Node) *Node {
	if bad := firstErr(idx); bad != nil {
		return bad
	}
	if !idx.isInt {
		return idx
	}
	return newNode(floatOp, idx.shape, idx)
}

// FloorIndex converts reals to indices by rounding down. Numbers that are not finite become -1.
// Gradient: none.
func FloorIndex(x *Node) *Node {
	if bad := notReal("floor_index", x); bad != nil {
		return bad
	}
	n := newNode(floorIndexOp, x.shape, x)
	n.isInt = true
	return n
}

var gatherOp, scatterOp, argmaxOp, argminOp, floatOp, floorIndexOp *Op

func init() {
	gatherOp = register(&Op{Name: "gather", Arity: 2, kind: compiler.Step, lift: (*batcher).picked, Smooth: true,
		vjp: func(g, y *Node, x []*Node) []*Node {
			return []*Node{ScatterAdd(g, x[1], y.attr[0], x[0].shape[y.attr[0]]), nil}
		},
		run:    func(c *cpu.Call) error { return c.Each(gather[float64], gather[float32]) },
		device: cuda.Gather,
		Sample: func(in Source) []*Node {
			idx := Ints([]int{2, 0, 2, 1})
			return []*Node{Gather(in(-2, 2, 3), idx, 0), Gather(in(-2, 2, 2, 3, 2), Reshape(idx, 2, 2), 1)}
		}})
	scatterOp = register(&Op{Name: "scatter_add", Arity: 2, kind: compiler.Step, lift: (*batcher).picked, Smooth: true,
		vjp:    func(g, y *Node, x []*Node) []*Node { return []*Node{Gather(g, x[1], y.attr[0]), nil} },
		run:    func(c *cpu.Call) error { return c.Each(scatter[float64], scatter[float32]) },
		device: cuda.ScatterAdd,
		Sample: func(in Source) []*Node {
			return []*Node{ScatterAdd(in(-2, 2, 2, 4), Ints([]int{2, 0, 2, 1}), 1, 3)}
		}})
	argmaxOp = register(&Op{Name: "argmax", Arity: 1, kind: compiler.Step,
		run: func(c *cpu.Call) error { return c.Each(argBest[float64], argBest[float32]) }, device: cuda.ArgBest("a > b"), f2: func(x, y float64) float64 { return truth(x > y) }})
	argminOp = register(&Op{Name: "argmin", Arity: 1, kind: compiler.Step,
		run: func(c *cpu.Call) error { return c.Each(argBest[float64], argBest[float32]) }, device: cuda.ArgBest("a < b"), f2: func(x, y float64) float64 { return truth(x < y) }})
	floatOp = register(&Op{Name: "float", Arity: 1, kind: compiler.Step,
		run:    func(c *cpu.Call) error { return c.Each(toReal[float64], toReal[float32]) },
		device: cuda.Float})
	floorIndexOp = register(&Op{Name: "floor_index", Arity: 1, kind: compiler.Step,
		run:    func(c *cpu.Call) error { return c.Each(toIndex[float64], toIndex[float32]) },
		device: cuda.FloorIndex})
}

// gather: c.in[0] is (outer, n, inner), the result (outer, len(idx), inner).
func gather[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	outer, inner, n := around(c.InShape[0], c.Attr[0])
	idx := c.Ints[1]
	if outer == 1 && inner == 1 && gatherVector(out, in[0], idx) {
		return nil
	}
	for o := range outer {
		src, dst := in[0][o*n*inner:], out[o*len(idx)*inner:]
		for k, i := range idx {
			if i < 0 || int(i) >= n {
				return fmt.Errorf("autodiff: gather: the index at position %[2]d is %[1]d: want 0..%[3]d", i, k, n-1)
			}
			if inner == 1 {
				dst[k] = src[i]
				continue
			}
			copy(dst[k*inner:(k+1)*inner], src[int(i)*inner:(int(i)+1)*inner])
		}
	}
	return nil
}

// gatherVector gathers elements of a vector; false: an index is out of range.
func gatherVector[T cpu.Real](out, from []T, idx []int64) bool {
	out = out[:len(idx)]
	for k, i := range idx {
		if uint64(i) >= uint64(len(from)) {
			return false
		}
		out[k] = from[i]
	}
	return true
}

// scatterVector adds elements of a vector; false: an index is out of range.
func scatterVector[T cpu.Real](out, from []T, idx []int64) bool {
	from = from[:len(idx)]
	for k, i := range idx {
		if uint64(i) >= uint64(len(out)) {
			return false
		}
		out[i] += from[k]
	}
	return true
}

// scatter is the transpose of gather.
func scatter[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	outer, inner, n := around(c.Shape, c.Attr[0])
	idx := c.Ints[1]
	clear(out)
	if outer == 1 && inner == 1 {
		if scatterVector(out, in[0], idx) {
			return nil
		}
		clear(out) // the general way says what is wrong
	}
	for o := range outer {
		dst, src := out[o*n*inner:(o+1)*n*inner], in[0][o*len(idx)*inner:(o+1)*len(idx)*inner]
		for k, i := range idx {
			if i < 0 || int(i) >= n {
				return fmt.Errorf("autodiff: scatter_add: the index at position %[2]d is %[1]d: want 0..%[3]d", i, k, n-1)
			}
			if inner == 1 {
				dst[i] += src[k]
				continue
			}
			d, s := dst[int(i)*inner:(int(i)+1)*inner], src[k*inner:(k+1)*inner]
			for j, v := range s {
				d[j] += v
			}
		}
	}
	return nil
}

func argBest[T cpu.Real](c *cpu.Call, _ []T, in [][]T) error {
	outer, inner, n := around(c.InShape[0], c.Attr[0])
	for o := range outer {
		for j := range inner {
			x, best := in[0][o*n*inner+j:], 0
			for k := 1; k < n; k++ {
				a, b := float64(x[k*inner]), float64(x[best*inner])
				if c.Op.F2(a, b) != 0 || (math.IsNaN(a) && !math.IsNaN(b)) {
					if !math.IsNaN(b) {
						best = k
					}
				}
			}
			c.OutInts[o*inner+j] = int64(best)
		}
	}
	return nil
}

func toIndex[T cpu.Real](c *cpu.Call, _ []T, in [][]T) error {
	for i, v := range in[0] {
		c.OutInts[i] = -1
		if x := math.Floor(float64(v)); math.Abs(x) < 1<<31 {
			c.OutInts[i] = int64(x)
		}
	}
	return nil
}

func toReal[T cpu.Real](c *cpu.Call, out []T, _ [][]T) error {
	for i, v := range c.Ints[0] {
		out[i] = T(v)
	}
	return nil
}
