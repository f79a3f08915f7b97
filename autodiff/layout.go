package autodiff

import (
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// layout says where a value's elements lie: in the array of root, from offset,
// with strides. Views share their root's array.
type layout struct {
	root    *value
	offset  int
	strides []int
	after   *value // set by a barrier: not before this value is known
}

func own(v *value) layout { return layout{root: v, strides: v.shape.Strides()} }

// contiguous reports whether the elements of v lie in row-major order without gaps.
func (v *value) contiguous() bool { return packed(v.shape, v.layout.strides) }

func packed(s tensor.Shape, strides []int) bool {
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
func (v *value) whole() bool {
	return v.layout.offset == 0 && v.size() == v.layout.root.size() && v.contiguous()
}

// layouts gives every value its layout and returns the values in order, with the
// copies that views need.
type layouts struct {
	order  []*value
	nextID int
}

func (l *layouts) add(v *value) {
	switch {
	case v.kindIs(barrier):
		v.layout = v.in[0].layout
		v.layout.after = v.in[1]
	case v.kindIs(view):
		v.layout = l.view(v)
	case v.kindIs(step):
		l.contiguousInputs(v)
		v.layout = own(v)
	default:
		v.layout = own(v)
	}
	l.order = append(l.order, v)
}

// copied returns a value that holds x's elements in order.
func (l *layouts) copied(x *value) *value {
	c := &value{id: l.nextID, op: coded[codeCopy], in: []*value{x}, shape: x.shape, isInt: x.isInt}
	l.nextID++
	c.layout = own(c)
	l.order = append(l.order, c)
	return c
}

func (l *layouts) view(v *value) layout {
	x := v.in[0]
	from := x.layout
	out := layout{root: from.root, offset: from.offset, after: from.after, strides: make([]int, len(v.shape))}
	switch v.op.Code {
	case codeReshape:
		if x.contiguous() {
			out.strides = v.shape.Strides()
			return out
		}
		if s, ok := unitReshape(x.shape, from.strides, v.shape); ok {
			out.strides = s
			return out
		}
		c := l.copied(x)
		v.in = []*value{c}
		return layout{root: c, strides: v.shape.Strides()}
	case codePermute:
		for i, p := range v.attr {
			out.strides[i] = from.strides[p]
		}
	case codeBroadcast:
		out.strides = alignedStrides(x.shape, from.strides, v.shape)
	case codeSlice:
		for i, s := range from.strides {
			out.offset += v.attr[3*i] * s
			out.strides[i] = v.attr[3*i+1] * s
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
// transposed ones as they are, everything else is copied.
func (l *layouts) contiguousInputs(v *value) {
	v.in = slices.Clone(v.in)
	if v.op.Code == codeMatmul {
		v.attr = []int{0, 0}
	}
	for i, x := range v.in {
		if x.contiguous() {
			continue
		}
		if v.op.Code == codeMatmul {
			if t, ok := transposed(x); ok {
				v.in[i], v.attr[i] = t, 1
				continue
			}
		}
		v.in[i] = l.copied(x)
	}
}

// transposed returns the row-major matrices of which x is the transpose.
func transposed(x *value) (*value, bool) {
	k := len(x.shape)
	t := &value{id: x.id, op: x.op, in: x.in, shape: x.shape.Clone(), layout: x.layout}
	t.layout.strides = slices.Clone(x.layout.strides)
	t.shape[k-1], t.shape[k-2] = t.shape[k-2], t.shape[k-1]
	s := t.layout.strides
	s[k-1], s[k-2] = s[k-2], s[k-1]
	return t, t.contiguous()
}
