// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// layout says where a value's elements lie: in the array of root, from offset,
// with strides. Views share their root's array.
type layout struct {
	Root    *Value
	Offset  int
	strides []int
	after   *Value // value that must be known before this one, set by a barrier
}

func own(v *Value) layout { return layout{Root: v, strides: v.Shape.Strides()} }

// contiguous reports whether the elements of v lie in row-major order without gaps.
func (v *Value) contiguous() bool { return Packed(v.Shape, v.Layout.strides) }

// Packed reports whether elements of the strides lie in row-major order without gaps.
func Packed(s tensor.Shape, strides []int) bool {
	n := 1
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == 0 {
			return true
		}
		if s[i] != 1 && strides[i] != n {
			return false
		}
		n *= s[i]
	}
	return true
}

// whole reports whether v is all of its root's array in order.
func (v *Value) whole() bool {
	return v.Layout.Offset == 0 && v.Size() == v.Layout.Root.Size() && v.contiguous()
}

// layouts gives every value its layout and returns the values in order, with the
// copies that views need.
type layouts struct {
	order  []*Value
	nextID int
	copies map[*Value]*Value // of values that several others need in order
	apart  bool              // whether products read matrices whose rows lie apart
}

// layOut lays out values, which have numbers below nextID.
func layOut(values []*Value, nextID int, apart bool) (*layouts, error) {
	l := &layouts{nextID: nextID, copies: map[*Value]*Value{}, apart: apart}
	for _, v := range values {
		l.add(v)
		if v.kindIs(View) && v.IsInt && v.Op.Code != Reshape && !(v.Op.Code == Slice && v.contiguous()) {
			return nil, fmt.Errorf("autodiff: %s cannot reorder indices: reorder them before they become a Node, or take neighbours along the first axis", v.Op.Name)
		}
	}
	return l, nil
}

// claim gives every root an array of its own, by a copy where it has none, and returns
// those that outlast the run.
func (l *layouts) claim(roots []*Value) (keep map[*Value]bool, err error) {
	keep = map[*Value]bool{}
	for i, v := range roots {
		root := v.Layout.Root
		if keep[root] && root.IsInt && v.whole() { // several outputs may be one array of indices, which nobody copies
			roots[i] = root
			continue
		}
		if root.Op == nil || keep[root] || !v.whole() {
			root = l.copied(v)
			roots[i] = root
		}
		if root.IsInt && root.Op.Code == Copy {
			return nil, fmt.Errorf("autodiff: output %d is a leaf of indices, which a program does not copy: read it where it was made", i)
		}
		keep[root] = true
		root.Place.escapes = true
	}
	return keep, nil
}

func (l *layouts) add(v *Value) {
	switch {
	case v.kindIs(Barrier):
		v.Layout = v.In[0].Layout
		v.Layout.after = v.In[1]
	case v.kindIs(View):
		v.Layout = l.view(v)
	case v.kindIs(Step):
		l.contiguousInputs(v)
		v.Layout = own(v)
	default:
		v.Layout = own(v)
	}
	l.order = append(l.order, v)
}

// copied returns a value that holds x's elements in order.
func (l *layouts) copied(x *Value) *Value {
	c := &Value{id: l.nextID, Op: coded[Copy], In: []*Value{x}, Shape: x.Shape, IsInt: x.IsInt}
	l.nextID++
	c.Layout = own(c)
	l.order = append(l.order, c)
	return c
}

// ordered returns the value that holds x's elements in order, the same one for all that read it.
func (l *layouts) ordered(x *Value) *Value {
	if l.copies[x] == nil {
		l.copies[x] = l.copied(x)
	}
	return l.copies[x]
}

func (l *layouts) view(v *Value) layout {
	x := v.In[0]
	from := x.Layout
	out := layout{Root: from.Root, Offset: from.Offset, after: from.after, strides: make([]int, len(v.Shape))}
	switch v.Op.Code {
	case Reshape:
		if x.contiguous() {
			out.strides = v.Shape.Strides()
			return out
		}
		if s, ok := unitReshape(x.Shape, from.strides, v.Shape); ok {
			out.strides = s
			return out
		}
		c := l.ordered(x)
		v.In = []*Value{c}
		return layout{Root: c, strides: v.Shape.Strides()}
	case Permute:
		for i, p := range v.Attr {
			out.strides[i] = from.strides[p]
		}
	case Broadcast:
		out.strides = AlignedStrides(x.Shape, from.strides, v.Shape)
	case Slice:
		for i, s := range from.strides {
			out.Offset += v.Attr[3*i] * s
			out.strides[i] = v.Attr[3*i+1] * s
		}
	}
	return out
}

// unitReshape returns the strides of a reshape that only adds or drops axes of
// length 1.
func unitReshape(from tensor.Shape, strides []int, to tensor.Shape) ([]int, bool) {
	a, b := squeeze(from), squeeze(to)
	if !a.Equal(b) {
		return nil, false
	}
	out, k := make([]int, len(to)), 0
	for i, d := range to {
		if d == 1 {
			continue
		}
		for from[k] == 1 {
			k++
		}
		out[i] = strides[k]
		k++
	}
	return out, true
}

func squeeze(s tensor.Shape) tensor.Shape {
	out := make(tensor.Shape, 0, len(s))
	for _, d := range s {
		if d != 1 {
			out = append(out, d)
		}
	}
	return out
}

// contiguousInputs gives a step inputs in row-major order: matmul takes
// transposed ones as they are, and on processors those whose rows lie apart, everything else is copied.
func (l *layouts) contiguousInputs(v *Value) {
	v.In = slices.Clone(v.In)
	if v.Op.Code == MatMul {
		v.Attr = []int{0, 0}
	}
	for i, x := range v.In {
		if x.contiguous() {
			continue
		}
		if v.Op.Code == MatMul {
			if t, ok := transposed(x); ok {
				v.In[i], v.Attr[i] = t, 1
				continue
			}
			if l.apart && x.rowsApart() {
				continue
			}
			if t, _ := transposed(x); l.apart && t.rowsApart() {
				v.In[i], v.Attr[i] = t, 1
				continue
			}
		}
		v.In[i] = l.ordered(x)
	}
}

// transposed returns the row-major matrices of which x is the transpose.
func transposed(x *Value) (*Value, bool) {
	k := len(x.Shape)
	t := &Value{id: x.id, Op: x.Op, In: x.In, Shape: x.Shape.Clone(), Layout: x.Layout}
	t.Layout.strides = slices.Clone(x.Layout.strides)
	t.Shape[k-1], t.Shape[k-2] = t.Shape[k-2], t.Shape[k-1]
	s := t.Layout.strides
	s[k-1], s[k-2] = s[k-2], s[k-1]
	return t, t.contiguous()
}

// rowsApart reports whether v is matrices whose rows are contiguous and follow each other at some distance.
func (v *Value) rowsApart() bool {
	k, s := len(v.Shape), v.Layout.strides
	return slices.Min(s) >= 0 && (s[k-1] == 1 || v.Shape[k-1] == 1) && (s[k-2] >= v.Shape[k-1] || v.Shape[k-2] == 1)
}

// Strides returns the distances between neighbours along each axis in the array of the root of v.
func (v *Value) Strides() []int { return v.Layout.strides }

// Span returns the number of elements from the first to the last one of v in the array of its root.
func (v *Value) Span() int {
	n := 1
	for i, d := range v.Shape {
		if d == 0 {
			return 0
		}
		n += (d - 1) * v.Layout.strides[i]
	}
	return n
}
