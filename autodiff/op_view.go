// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/tensor"
)

// Reshape returns the same elements under another shape of the same size; one length may be -1 and
// then follows from the others. Gradient: reshaped back.
func Reshape(x *Node, shape ...int) *Node {
	if bad := firstErr(x); bad != nil {
		return bad
	}
	s := tensor.Shape(shape).Clone()
	if i := slices.Index(s, -1); i >= 0 {
		s[i] = 1
		if n := s.Size(); n > 0 {
			s[i] = x.Size() / n
		}
	}
	if s.Size() != x.Size() || anyNegative(s) {
		return failed(&tensor.ShapeError{Op: "reshape", Got: []tensor.Shape{x.shape, shape}, Want: "the same number of elements as before"})
	}
	if s.Equal(x.shape) {
		return x
	}
	n := newNode(reshapeOp, s, x)
	n.isInt = x.isInt
	return n
}

// Permute reorders the axes: axis i of the result is axis perm[i] of x. Without perm the order is
// reversed. Gradient: the inverse permutation.
func Permute(x *Node, perm ...int) *Node {
	if bad := firstErr(x); bad != nil {
		return bad
	}
	k := len(x.shape)
	if len(perm) == 0 {
		for i := range k {
			perm = append(perm, k-1-i)
		}
	}
	s, seen := make(tensor.Shape, k), make([]bool, k)
	if len(perm) != k {
		return mistake("permute", "%v does not permute the axes of shape %v: name all %d axes", perm, x.shape, k)
	}
	for i, p := range perm {
		if p < 0 || p >= k || seen[p] {
			return mistake("permute", "%v does not permute the axes of shape %v: name each of 0..%d once", perm, x.shape, k-1)
		}
		s[i], seen[p] = x.shape[p], true
	}
	n := newNode(permuteOp, s, x)
	n.attr, n.isInt = slices.Clone(perm), x.isInt
	return n
}

// T swaps the last two axes. Gradient: swapped back.
func T(x *Node) *Node {
	if bad := firstErr(x); bad != nil {
		return bad
	}
	k := len(x.shape)
	if k < 2 {
		return mistake("transpose", "the array has shape %v: want at least two axes", x.shape)
	}
	perm := make([]int, k)
	for i := range perm {
		perm[i] = i
	}
	perm[k-1], perm[k-2] = k-2, k-1
	return Permute(x, perm...)
}

// Broadcast repeats x to the given shape by NumPy's rule. Gradient: summed over the repeats.
func Broadcast(x *Node, shape ...int) *Node {
	if bad := firstErr(x); bad != nil {
		return bad
	}
	s := tensor.Shape(shape)
	if r, ok := tensor.Broadcast(x.shape, s); !ok || !r.Equal(s) || anyNegative(s) {
		return failed(&tensor.ShapeError{Op: "broadcast", Got: []tensor.Shape{x.shape, s}, Want: "a first shape that broadcasts to the second"})
	}
	if s.Equal(x.shape) {
		return x
	}
	n := newNode(broadcastOp, s.Clone(), x)
	n.isInt = x.isInt
	return n
}

// Slice returns the elements start <= i < stop of one axis; negative bounds
// count from the end. Gradient: placed back among zeros.
func Slice(x *Node, axis, start, stop int) *Node { return SliceStep(x, axis, start, stop, 1) }

// SliceStep returns every step-th element from start up to, but not including,
// stop. A negative step walks down from start; stop = -1 then means "through
// element 0". Gradient: placed back among zeros.
func SliceStep(x *Node, axis, start, stop, step int) *Node {
	if bad := firstErr(x); bad != nil {
		return bad
	}
	ax, ok := axisOf(axis, len(x.shape))
	if !ok || step == 0 {
		return mistake("slice", "the axis is %d and the step %d for shape %v: want an axis in range, and a step other than 0", axis, step, x.shape)
	}
	n := x.shape[ax]
	if start < 0 {
		start += n
	}
	if stop < 0 && step > 0 {
		stop += n
	}
	count := 0
	if step > 0 && stop > start {
		count = (stop - start + step - 1) / step
	} else if step < 0 && start > stop {
		count = (start - stop - step - 1) / -step
	}
	if count > 0 && (start < 0 || start >= n || start+(count-1)*step < 0 || start+(count-1)*step >= n) {
		return mistake("slice", "the slice %d:%d:%d does not fit axis %d, which has %d elements: want bounds inside it", start, stop, step, ax, n)
	}
	if count == n && step == 1 {
		return x
	}
	if count == 0 {
		start, step = 0, 1 // where nothing lies does not matter
	}
	attr := wholeSlice(x.shape)
	attr[3*ax], attr[3*ax+1], attr[3*ax+2] = start, step, count
	return sliced(x, attr)
}

// Index returns element i of one axis, which is dropped. Gradient: placed back among zeros.
func Index(x *Node, axis, i int) *Node {
	if bad := firstErr(x); bad != nil {
		return bad
	}
	ax, bad := axisIn("index", x.shape, axis)
	if bad != nil {
		return bad
	}
	if i < 0 {
		i += x.shape[ax]
	}
	if i < 0 || i >= x.shape[ax] {
		return mistake("index", "there is no element %d along axis %d, which has %d elements, which are counted from 0: use an index inside the axis", i, ax, x.shape[ax])
	}
	return Reshape(Slice(x, ax, i, i+1), slices.Delete(x.shape.Clone(), ax, ax+1)...)
}

// Flip reverses one axis. Gradient: reversed back.
func Flip(x *Node, axis int) *Node {
	if bad := firstErr(x); bad != nil {
		return bad
	}
	ax, bad := axisIn("flip", x.shape, axis)
	if bad != nil {
		return bad
	}
	return SliceStep(x, ax, x.shape[ax]-1, -1, -1)
}

// sliced is x at start + k*step for k < count on each axis; attr holds those
// three for every axis.
func sliced(x *Node, attr []int) *Node {
	if y, ok := pieceOf(x, attr); ok && y != nil {
		return y
	}
	s := make(tensor.Shape, len(x.shape))
	for i := range s {
		s[i] = attr[3*i+2]
	}
	n := newNode(sliceOp, s, x)
	n.attr, n.isInt = attr, x.isInt
	return n
}

// pieceOf returns the slice of something that was placed among zeros, or of a sum of such, if it is one of the things
// placed; nil stands for zeros. Derivatives along a direction are made of slices of sums of placed slices.
func pieceOf(x *Node, attr []int) (y *Node, ok bool) {
	switch {
	case x.op == embedOp && slices.Equal(x.attr, attr):
		return x.in[0], true
	case x.op == embedOp:
		return nil, apart(x.attr, attr)
	case x.op == addOp && x.in[0].shape.Equal(x.shape) && x.in[1].shape.Equal(x.shape):
		a, okA := pieceOf(x.in[0], attr)
		b, okB := pieceOf(x.in[1], attr)
		switch {
		case !okA || !okB:
			return nil, false
		case a == nil:
			return b, true
		case b == nil:
			return a, true
		}
		return Add(a, b), true
	}
	return nil, false
}

// apart reports whether two slices have nothing in common because they are apart on some axis.
func apart(a, b []int) bool {
	for i := 0; i < len(a); i += 3 {
		lowA, highA := ends(a[i:])
		lowB, highB := ends(b[i:])
		if highA < lowB || highB < lowA {
			return true
		}
	}
	return false
}

// ends returns the first and the last element of a slice along an axis.
func ends(attr []int) (low, high int) {
	other := attr[0] + attr[1]*(attr[2]-1)
	return min(attr[0], other), max(attr[0], other)
}

func wholeSlice(s tensor.Shape) []int {
	attr := make([]int, 3*len(s))
	for i, d := range s {
		attr[3*i+1], attr[3*i+2] = 1, d
	}
	return attr
}

// axisOf resolves an axis that may count from the end.
func axisOf(axis, rank int) (int, bool) {
	if axis < 0 {
		axis += rank
	}
	return axis, axis >= 0 && axis < rank
}

// axisIn is axisOf with what is wrong, in an operation on arrays of shape s.
func axisIn(op string, s tensor.Shape, axis int) (ax int, bad *Node) {
	ax, ok := axisOf(axis, len(s))
	if !ok {
		return 0, mistake(op, "there is no axis %d in shape %v: count axes from 0, or from the end by negative numbers", axis, s)
	}
	return ax, nil
}

var reshapeOp, permuteOp, broadcastOp, sliceOp *Op

func init() {
	reshapeOp = register(&Op{Name: "reshape", code: compiler.Reshape, Arity: 1, kind: compiler.View, lift: func(b *batcher, n *Node) *Node { return Reshape(b.made[n.in[0]], b.shape(n)...) }, Smooth: true,
		vjp: func(g, _ *Node, x []*Node) []*Node { return []*Node{Reshape(g, x[0].shape...)} },
		Sample: func(in Source) []*Node {
			return []*Node{Reshape(in(-2, 2, 2, 6), 3, 4), Reshape(T(in(-2, 2, 2, 3)), 6)}
		},
	})
	permuteOp = register(&Op{Name: "permute", code: compiler.Permute, Arity: 1, kind: compiler.View, lift: func(b *batcher, n *Node) *Node {
		return Permute(b.made[n.in[0]], append(slices.Clone(n.attr), len(n.shape))...)
	}, Smooth: true,
		vjp: func(g, y *Node, _ []*Node) []*Node {
			inv := make([]int, len(y.attr))
			for i, p := range y.attr {
				inv[p] = i
			}
			return []*Node{Permute(g, inv...)}
		},
		Sample: func(in Source) []*Node { return []*Node{Permute(in(-2, 2, 2, 3, 4), 2, 0, 1), T(in(-2, 2, 3, 2))} },
	})
	broadcastOp = register(&Op{Name: "broadcast", code: compiler.Broadcast, Arity: 1, kind: compiler.View, lift: func(b *batcher, n *Node) *Node { return Broadcast(b.made[n.in[0]], b.shape(n)...) }, Smooth: true,
		vjp:    func(g, _ *Node, x []*Node) []*Node { return []*Node{sumTo(g, x[0].shape)} },
		Sample: func(in Source) []*Node { return []*Node{Broadcast(in(-2, 2, 3, 1), 2, 3, 4)} },
	})
	sliceOp = register(&Op{Name: "slice", code: compiler.Slice, Arity: 1, kind: compiler.View, lift: (*batcher).sliced, Smooth: true,
		vjp: func(g, y *Node, x []*Node) []*Node { return []*Node{embedded(g, x[0].shape, y.attr)} },
		Sample: func(in Source) []*Node {
			return []*Node{Slice(in(-2, 2, 5), 0, 1, 4), SliceStep(in(-2, 2, 2, 7), 1, 6, 0, -2)}
		},
	})
}
