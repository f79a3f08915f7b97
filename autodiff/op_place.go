// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// Concat joins arrays along one axis; the lengths along the other axes must agree. Gradient: each
// array gets its part.
func Concat(axis int, xs ...*Node) *Node {
	if len(xs) == 0 {
		return mistake("concat", "there is nothing to join: pass at least one array")
	}
	if bad := notReal("concat", xs...); bad != nil {
		return bad
	}
	ax, bad := axisIn("concat", xs[0].shape, axis)
	if bad != nil {
		return bad
	}
	s := xs[0].shape.Clone()
	for _, x := range xs[1:] {
		t := x.shape.Clone()
		if len(t) != len(s) {
			return failed(&tensor.ShapeError{Op: "concat", Got: shapesOf(xs), Want: "the same number of axes in each"})
		}
		s[ax] += t[ax]
		if !s.Valid() {
			break // newNode says so
		}
		t[ax] = s[ax]
		if !t.Equal(s) {
			return failed(&tensor.ShapeError{Op: "concat", Got: shapesOf(xs), Want: "equal lengths outside the joined axis"})
		}
	}
	if len(xs) == 1 {
		return xs[0]
	}
	n := newNode(concatOp, s, xs...)
	n.attr = []int{ax}
	return n
}

// Stack joins arrays of one shape along a new axis. Gradient: each array gets its part.
func Stack(axis int, xs ...*Node) *Node {
	if bad := notReal("stack", xs...); bad != nil {
		return bad
	}
	parts := make([]*Node, len(xs))
	for i, x := range xs {
		ax, ok := axisOf(axis, len(x.shape)+1)
		if !ok {
			return mistake("stack", "there is no place for a new axis %d among the axes of shape %v: count from 0, or from the end by negative numbers", axis, x.shape)
		}
		parts[i] = Reshape(x, slices.Insert(x.shape.Clone(), ax, 1)...)
	}
	return Concat(axis, parts...)
}

// Pad puts before[i] and after[i] copies of value around axis i.
// Gradient: the inner part.
func Pad(x *Node, before, after []int, value float64) *Node {
	if bad := notReal("pad", x); bad != nil {
		return bad
	}
	if len(before) != len(x.shape) || len(after) != len(x.shape) || anyNegative(before) || anyNegative(after) {
		return mistake("pad", "the widths are %v and %v for shape %v: give a width of at least 0 for each axis", before, after, x.shape)
	}
	s, attr := x.shape.Clone(), wholeSlice(x.shape)
	for i := range s {
		if !(tensor.Shape{before[i]}).Valid() || !(tensor.Shape{after[i]}).Valid() {
			return failed(&tensor.ShapeError{Op: "pad", Got: []tensor.Shape{x.shape, before, after}, Want: countable})
		}
		s[i] += before[i] + after[i]
		attr[3*i] = before[i]
	}
	y := embedded(x, s, attr)
	if value == 0 {
		return y
	}
	inside := embedded(Full(1, x.shape...), s, attr)
	return Add(y, Scale(value, Sub(Scalar(1), inside)))
}

// embedded places x among zeros of shape s, at start + k*step of each axis.
func embedded(x *Node, s tensor.Shape, attr []int) *Node {
	if bad := notReal("embed", x); bad != nil {
		return bad
	}
	n := newNode(embedOp, s.Clone(), x)
	n.attr = attr
	return n
}

var concatOp, embedOp *Op

func init() {
	concatOp = register(&Op{Name: "concat", code: compiler.Concat, Arity: -1, kind: compiler.Step, Smooth: true,
		vjp: func(g, y *Node, x []*Node) []*Node {
			out, at := make([]*Node, len(x)), 0
			for i, p := range x {
				n := p.shape[y.attr[0]]
				out[i] = Slice(g, y.attr[0], at, at+n)
				at += n
			}
			return out
		},
		run:    func(c *cpu.Call) error { return c.Each(concat[float64], concat[float32]) },
		device: cuda.Concat,
		Sample: func(in Source) []*Node {
			return []*Node{Concat(1, in(-2, 2, 2, 3), in(-2, 2, 2, 1)), Concat(0, in(-2, 2, 2), in(-2, 2, 3))}
		},
	})
	embedOp = register(&Op{Name: "embed", Arity: 1, kind: compiler.Step, lift: (*batcher).sliced, Smooth: true,
		vjp:    func(g, y *Node, _ []*Node) []*Node { return []*Node{sliced(g, y.attr)} },
		run:    func(c *cpu.Call) error { return c.Each(embed[float64], embed[float32]) },
		device: cuda.Embed,
		Sample: func(in Source) []*Node { return []*Node{Pad(in(-2, 2, 2, 3), []int{1, 0}, []int{0, 2}, 0.5)} },
	})
}

func concat[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	outer, inner, row := around(c.Shape, c.Attr[0])
	row *= inner
	at := 0
	for i, x := range in {
		w := c.InShape[i][c.Attr[0]] * inner
		if outer > 0 && w > 0 {
			cpu.CopyRows(c.Level, outer, w, out[at:], row, x, w)
		}
		at += w
	}
	return nil
}

func embed[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	clear(out)
	if len(in[0]) > 0 {
		place(out, in[0], c.Shape, c.InShape[0], c.Attr)
	}
	return nil
}

// place copies in to start + k*step of the first axis, and so on inside.
func place[T cpu.Real](out, in []T, to, from tensor.Shape, attr []int) {
	if len(from) == 0 {
		out[0] = in[0]
		return
	}
	size, part := to[1:].Size(), from[1:].Size()
	at, by := attr[0]*size, attr[1]*size
	for k := range from[0] {
		switch {
		case len(from) == 1:
			out[at] = in[k]
		case len(from) == 2 && attr[4] == 1:
			copy(out[at+attr[3]:at+attr[3]+part], in[k*part:])
		default:
			place(out[at:at+size], in[k*part:(k+1)*part], to[1:], from[1:], attr[3:])
		}
		at += by
	}
}

// around splits shape at an axis into the sizes before and after it and its length.
func around(s tensor.Shape, axis int) (outer, inner, n int) {
	return s[:axis].Size(), s[axis+1:].Size(), s[axis]
}
