package autodiff

import (
	"math"
	"slices"
	"strconv"

	"github.com/euryale-dev/euryale/tensor"
)

// value is one value of the compiler's graph: what is left after merging equal ones,
// folding constants and applying algebra.
type value struct {
	id     int
	op     *primitive // nil for a leaf
	in     []*value
	shape  tensor.Shape
	attr   []int
	obj    any
	isInt  bool
	data   []float64 // of a constant
	ints   []int64
	name   string // of an input
	layout layout
	place  placement
}

func (v *value) size() int            { return v.shape.Size() }
func (v *value) constant() bool       { return v.op == nil && v.data != nil }
func (v *value) is(c opCode) bool     { return v.op != nil && v.op.Code == c }
func (v *value) kindIs(k opKind) bool { return v.op != nil && v.op.Kind == k }

// number returns the value of a constant whose elements are all one number.
func (v *value) number() (float64, bool) {
	for v.is(codeBroadcast) || v.is(codeReshape) {
		v = v.in[0]
	}
	if v.constant() && len(v.data) == 1 {
		return v.data[0], true
	}
	return 0, false
}

func (v *value) isNumber(c float64) bool {
	x, ok := v.number()
	return ok && x == c
}

// key identifies values that are equal because op, inputs and attributes are.
type key struct {
	op      *primitive
	a, b, c int
	rest    string
}

// rewriter makes the values of a graph.
type rewriter struct {
	values []*value
	made   map[key]*value
	numKey map[uint64]*value
	buf    []byte
}

func newRewriter() *rewriter {
	return &rewriter{made: map[key]*value{}, numKey: map[uint64]*value{}}
}

// input adds a leaf that runs fill.
func (r *rewriter) input(name string, shape tensor.Shape, isInt bool) *value {
	return r.add(&value{shape: shape, isInt: isInt, name: name})
}

// constant adds a leaf of numbers.
func (r *rewriter) constant(shape tensor.Shape, data []float64) *value {
	if len(data) == 1 {
		return r.reshape(r.num(data[0]), shape)
	}
	return r.add(&value{shape: shape, data: data})
}

// indices adds a leaf of indices.
func (r *rewriter) indices(shape tensor.Shape, ints []int64) *value {
	return r.add(&value{shape: shape, ints: ints, isInt: true})
}

// num returns the scalar constant c.
func (r *rewriter) num(c float64) *value {
	bits := math.Float64bits(c)
	if v := r.numKey[bits]; v != nil {
		return v
	}
	v := r.add(&value{shape: tensor.Shape{}, data: []float64{c}})
	r.numKey[bits] = v
	return v
}

func (r *rewriter) add(v *value) *value {
	v.id = len(r.values)
	r.values = append(r.values, v)
	return v
}

// make returns the value op(in...), simplified or found if it stood already.
func (r *rewriter) make(op *primitive, shape tensor.Shape, attr []int, obj any, isInt bool, in ...*value) *value {
	switch {
	case op.Kind == elementwise:
		return r.elementwise(op, in...)
	case op.Kind == reduction:
		return r.reduction(op, attr, in[0])
	case op.Code == codeReshape:
		return r.reshape(in[0], shape)
	case op.Code == codeBroadcast:
		return r.broadcast(in[0], shape)
	case op.Code == codePermute || op.Code == codeSlice:
		if in[0].is(codeBroadcast) && in[0].in[0].size() == 1 {
			return r.broadcast(r.reshape(in[0].in[0], tensor.Shape{}), shape)
		}
	}
	return r.unique(&value{op: op, shape: shape, attr: attr, obj: obj, isInt: isInt, in: in})
}

// unique returns v, or the equal value that stands already.
func (r *rewriter) unique(v *value) *value {
	k := key{op: v.op, a: -1, b: -1, c: -1}
	ids := [3]*int{&k.a, &k.b, &k.c}
	for i, x := range v.in {
		if i < 3 {
			*ids[i] = x.id
		}
	}
	if v.op.Kind != elementwise {
		if v.obj != nil {
			return r.add(v) // opaque: never merged
		}
		b := r.buf[:0]
		for _, d := range v.shape {
			b = append(strconv.AppendInt(b, int64(d), 36), ',')
		}
		b = append(b, '|')
		for _, d := range v.attr {
			b = append(strconv.AppendInt(b, int64(d), 36), ',')
		}
		for _, x := range v.in[min(3, len(v.in)):] {
			b = append(strconv.AppendInt(b, int64(x.id), 36), ';')
		}
		r.buf, k.rest = b, string(b)
	}
	if old := r.made[k]; old != nil {
		return old
	}
	r.made[k] = v
	return r.add(v)
}

func (r *rewriter) reshape(x *value, s tensor.Shape) *value {
	for x.is(codeReshape) {
		x = x.in[0]
	}
	if x.shape.Equal(s) {
		return x
	}
	if x.is(codeBroadcast) && x.in[0].size() == 1 {
		return r.broadcast(r.reshape(x.in[0], tensor.Shape{}), s)
	}
	if x.constant() && len(x.data) > 1 {
		return r.add(&value{shape: s, data: x.data})
	}
	return r.unique(&value{op: coded[codeReshape], shape: s, in: []*value{x}, isInt: x.isInt})
}

func (r *rewriter) broadcast(x *value, s tensor.Shape) *value {
	if x.is(codeBroadcast) {
		x = x.in[0]
	}
	if x.shape.Equal(s) {
		return x
	}
	if x.size() == s.Size() {
		return r.reshape(x, s)
	}
	return r.unique(&value{op: coded[codeBroadcast], shape: s, in: []*value{x}, isInt: x.isInt})
}

// elementwise applies op where its inputs still differ: it strips broadcasts
// from the inputs, works on the smallest shape that covers them and repeats the
// result.
func (r *rewriter) elementwise(op *primitive, in ...*value) *value {
	full, joint := in[0].shape, tensor.Shape{}
	in = slices.Clone(in)
	for i, x := range in {
		full, _ = tensor.Broadcast(full, x.shape)
		if x.is(codeBroadcast) {
			in[i] = x.in[0]
		}
		joint, _ = tensor.Broadcast(joint, in[i].shape)
	}
	v := r.simplify(op, joint, in)
	return r.broadcast(r.reshape(v, joint), full)
}

// apply is elementwise with the operation of a code.
func (r *rewriter) apply(c opCode, in ...*value) *value { return r.elementwise(coded[c], in...) }

// raw is op(in...) of known shape, folded if constant.
func (r *rewriter) raw(op *primitive, shape tensor.Shape, in ...*value) *value {
	if v := r.fold(op, shape, in); v != nil {
		return v
	}
	if op.Commutative && in[0].id > in[1].id {
		in[0], in[1] = in[1], in[0]
	}
	return r.unique(&value{op: op, shape: shape, in: in})
}

// foldLimit is the largest constant array worth computing at compile time.
const foldLimit = 1 << 16

func (r *rewriter) fold(op *primitive, shape tensor.Shape, in []*value) *value {
	numbers := true
	var c [3]float64
	for i, x := range in {
		if v, ok := x.number(); ok {
			c[i] = v
		} else if numbers = false; !x.constant() {
			return nil
		}
	}
	if numbers {
		return r.broadcast(r.num(op.Eval(c[:op.Arity]...)), shape)
	}
	if shape.Size() > foldLimit {
		return nil
	}
	strides := make([][]int, len(in))
	for i, x := range in {
		strides[i] = alignedStrides(x.shape, x.shape.Strides(), shape)
	}
	data := make([]float64, shape.Size())
	walk(shape, func(idx []int, flat int) {
		var a [3]float64
		for i, x := range in {
			if a[i] = c[i]; x.constant() {
				at := 0
				for d, k := range idx {
					at += k * strides[i][d]
				}
				a[i] = x.data[at]
			}
		}
		data[flat] = op.Eval(a[:op.Arity]...)
	})
	return r.add(&value{shape: shape, data: data})
}

// reduction moves broadcasts and signs out of sums, and drops axes of length 1.
// Factors stay inside: a sum of x may overflow where one of s*x does not.
func (r *rewriter) reduction(op *primitive, axes []int, x *value) *value {
	shape := without(x.shape, axes)
	real := slices.DeleteFunc(slices.Clone(axes), func(a int) bool { return x.shape[a] == 1 })
	if len(real) == 0 {
		return r.reshape(x, shape)
	}
	if x.is(codeBroadcast) && x.size() > 0 {
		return r.reduceBroadcast(op, real, x, shape)
	}
	if x.constant() && x.size() <= foldLimit {
		return r.foldReduction(op, axes, x, shape)
	}
	if op.Code == codeSum && x.is(codeNeg) {
		return r.apply(codeNeg, r.reduction(op, axes, x.in[0]))
	}
	v := r.unique(&value{op: op, shape: without(x.shape, real), attr: real, in: []*value{x}})
	return r.reshape(v, shape)
}

// reduceBroadcast reduces before repeating; a sum over a repeated axis is a
// product with its length.
func (r *rewriter) reduceBroadcast(op *primitive, axes []int, x *value, shape tensor.Shape) *value {
	src := x.in[0]
	aligned := make(tensor.Shape, len(x.shape))
	for i := range aligned {
		aligned[i] = 1
	}
	copy(aligned[len(aligned)-len(src.shape):], src.shape)
	times := 1.0
	for _, a := range axes {
		if aligned[a] == 1 {
			times *= float64(x.shape[a])
		}
	}
	v := r.reduction(op, axes, r.reshape(src, aligned))
	if op.Code == codeSum && times != 1 {
		v = r.apply(codeMul, r.num(times), v)
	}
	return r.reshape(r.broadcast(v, without(x.shape, axes)), shape)
}

func (r *rewriter) foldReduction(op *primitive, axes []int, x *value, shape tensor.Shape) *value {
	data, seen := make([]float64, shape.Size()), make([]bool, shape.Size())
	strides := keptStrides(x.shape, axes)
	walk(x.shape, func(idx []int, flat int) {
		at := 0
		for d, k := range idx {
			at += k * strides[d]
		}
		if v := x.data[flat]; seen[at] {
			data[at] = op.F2(data[at], v)
		} else {
			data[at], seen[at] = v, true
		}
	})
	if len(data) == 1 {
		return r.reshape(r.num(data[0]), shape)
	}
	return r.add(&value{shape: shape, data: data})
}

// keptStrides returns, for each axis of s, the stride of a reduction over axes:
// 0 for those.
func keptStrides(s tensor.Shape, axes []int) []int {
	out, n := make([]int, len(s)), 1
	for i := len(s) - 1; i >= 0; i-- {
		if !slices.Contains(axes, i) {
			out[i] = n
			n *= s[i]
		}
	}
	return out
}
