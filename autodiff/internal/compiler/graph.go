// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"math"
	"slices"
	"strconv"

	"github.com/euryale-dev/euryale/tensor"
)

// Value is one value of the compiler's graph: what is left after merging equal ones,
// folding constants and applying algebra.
type Value struct {
	id     int
	Op     *Op // operation; nil for a leaf
	In     []*Value
	Shape  tensor.Shape
	Attr   []int     // axes, permutation, slice bounds or the like, depending on the operation
	Obj    any       // attributes that do not fit Attr
	IsInt  bool      // whether the elements are indices
	Data   []float64 // elements of a constant
	Ints   []int64   // elements of a constant of indices
	Name   string    // name of an input
	Layout layout
	Place  placement
}

// Size returns the number of elements.
func (v *Value) Size() int          { return v.Shape.Size() }
func (v *Value) constant() bool     { return v.Op == nil && v.Data != nil }
func (v *Value) is(c Code) bool     { return v.Op != nil && v.Op.Code == c }
func (v *Value) kindIs(k Kind) bool { return v.Op != nil && v.Op.Kind == k }

// number returns the value of a constant whose elements are all one number.
func (v *Value) number() (float64, bool) {
	for v.is(Broadcast) || v.is(Reshape) {
		v = v.In[0]
	}
	if v.constant() && len(v.Data) == 1 {
		return v.Data[0], true
	}
	return 0, false
}

func (v *Value) isNumber(c float64) bool {
	x, ok := v.number()
	return ok && x == c
}

// elementKey identifies elementwise values that are equal because op and inputs are, by their numbers; -1 for none.
type elementKey struct {
	op      *Op
	a, b, c int32
}

// key identifies other values that are equal because op, inputs and attributes are.
type key struct {
	op      *Op
	a, b, c int
	rest    string
	obj     any
}

// Graph makes the values of a graph.
type Graph struct {
	values []*Value
	made   map[key]*Value
	same   map[elementKey]*Value
	fresh  []Value  // room for values to come
	room   []*Value // room for inputs to come
	numKey map[uint64]*Value
	buf    []byte
	// Apart lets products read matrices whose rows lie apart in an array, without a copy.
	Apart bool
}

// NewGraph makes an empty graph with room for so many values, and more if need be.
func NewGraph(n int) *Graph {
	return &Graph{values: make([]*Value, 0, n), made: map[key]*Value{}, same: make(map[elementKey]*Value, n/2), numKey: map[uint64]*Value{}}
}

// Input adds a leaf that runs fill.
func (r *Graph) Input(name string, shape tensor.Shape, isInt bool) *Value {
	return r.add(&Value{Shape: shape, IsInt: isInt, Name: name})
}

// Constant adds a leaf of numbers.
func (r *Graph) Constant(shape tensor.Shape, data []float64) *Value {
	if len(data) == 1 {
		return r.reshape(r.num(data[0]), shape)
	}
	return r.add(&Value{Shape: shape, Data: data})
}

// Indices adds a leaf of indices.
func (r *Graph) Indices(shape tensor.Shape, ints []int64) *Value {
	return r.add(&Value{Shape: shape, Ints: ints, IsInt: true})
}

// num returns the scalar constant c.
func (r *Graph) num(c float64) *Value {
	bits := math.Float64bits(c)
	if v := r.numKey[bits]; v != nil {
		return v
	}
	v := r.add(&Value{Shape: tensor.Shape{}, Data: []float64{c}})
	r.numKey[bits] = v
	return v
}

func (r *Graph) add(v *Value) *Value {
	v.id = len(r.values)
	r.values = append(r.values, v)
	return v
}

// Make returns the value op(in...), simplified or found if it stood already.
func (r *Graph) Make(op *Op, shape tensor.Shape, attr []int, obj any, isInt bool, in ...*Value) *Value {
	switch {
	case op.Kind == Elementwise:
		return r.elementwise(op, in...)
	case op.Kind == Reduction:
		return r.reduction(op, attr, in[0])
	case op.Code == Reshape:
		return r.reshape(in[0], shape)
	case op.Code == Broadcast:
		return r.broadcast(in[0], shape)
	case op.Code == Permute && in[0].is(Permute):
		if attr = composed(in[0].Attr, attr); attr == nil {
			return in[0].In[0]
		}
		in = in[0].In
	case op.Code == Permute || op.Code == Slice:
		if in[0].is(Broadcast) && in[0].In[0].Size() == 1 {
			return r.broadcast(r.reshape(in[0].In[0], tensor.Shape{}), shape)
		}
	}
	return r.unique(&Value{Op: op, Shape: shape, Attr: attr, Obj: obj, IsInt: isInt, In: slices.Clone(in)})
}

// composed returns the permutation of axes that first and then second make together; nil if it moves none.
func composed(first, second []int) []int {
	out, moves := make([]int, len(second)), false
	for i, p := range second {
		out[i] = first[p]
		moves = moves || out[i] != i
	}
	if !moves {
		return nil
	}
	return out
}

// chunk is the number of values, and of inputs, that are allocated at once.
const chunk = 128

// inputs returns a copy of a list of inputs.
func (r *Graph) inputs(in []*Value) []*Value {
	n := len(in)
	if n > chunk {
		return slices.Clone(in)
	}
	if len(r.room) < n {
		r.room = make([]*Value, chunk)
	}
	out := r.room[:n:n]
	r.room = r.room[n:]
	copy(out, in)
	return out
}

// uniqueElements returns the elementwise value op(in...), of which there is one.
func (r *Graph) uniqueElements(op *Op, shape tensor.Shape, in []*Value) *Value {
	k := elementKey{op, -1, -1, -1}
	for i, x := range in {
		*[]*int32{&k.a, &k.b, &k.c}[i] = int32(x.id)
	}
	if old := r.same[k]; old != nil {
		return old
	}
	if len(r.fresh) == 0 {
		r.fresh = make([]Value, chunk)
	}
	v := &r.fresh[0]
	r.fresh = r.fresh[1:]
	v.Op, v.Shape, v.In = op, shape, in
	r.same[k] = v
	return r.add(v)
}

// unique returns v, which is not elementwise, or the equal value that stands already.
func (r *Graph) unique(v *Value) *Value {
	k := key{op: v.Op, a: -1, b: -1, c: -1}
	ids := [3]*int{&k.a, &k.b, &k.c}
	for i, x := range v.In {
		if i < 3 {
			*ids[i] = x.id
		}
	}
	if v.Obj != nil && !v.Op.Pure {
		return r.add(v) // opaque: never merged
	}
	k.obj = v.Obj
	b := r.buf[:0]
	for _, d := range v.Shape {
		b = append(strconv.AppendInt(b, int64(d), 36), ',')
	}
	b = append(b, '|')
	for _, d := range v.Attr {
		b = append(strconv.AppendInt(b, int64(d), 36), ',')
	}
	for _, x := range v.In[min(3, len(v.In)):] {
		b = append(strconv.AppendInt(b, int64(x.id), 36), ';')
	}
	r.buf, k.rest = b, string(b)
	if old := r.made[k]; old != nil {
		return old
	}
	r.made[k] = v
	return r.add(v)
}

func (r *Graph) reshape(x *Value, s tensor.Shape) *Value {
	for x.is(Reshape) {
		x = x.In[0]
	}
	if x.Shape.Equal(s) {
		return x
	}
	if x.is(Broadcast) && x.In[0].Size() == 1 {
		return r.broadcast(r.reshape(x.In[0], tensor.Shape{}), s)
	}
	if x.constant() && len(x.Data) > 1 {
		return r.add(&Value{Shape: s, Data: x.Data})
	}
	return r.unique(&Value{Op: coded[Reshape], Shape: s, In: []*Value{x}, IsInt: x.IsInt})
}

func (r *Graph) broadcast(x *Value, s tensor.Shape) *Value {
	if x.is(Broadcast) {
		x = x.In[0]
	}
	if x.Shape.Equal(s) {
		return x
	}
	if x.Size() == s.Size() {
		return r.reshape(x, s)
	}
	return r.unique(&Value{Op: coded[Broadcast], Shape: s, In: []*Value{x}, IsInt: x.IsInt})
}

// elementwise applies op where its inputs still differ: it strips broadcasts
// from the inputs, works on the smallest shape that covers them and repeats the
// result.
func (r *Graph) elementwise(op *Op, in ...*Value) *Value {
	full, joint := in[0].Shape, tensor.Shape{}
	in = r.inputs(in)
	for i, x := range in {
		full, _ = tensor.Broadcast(full, x.Shape)
		if x.is(Broadcast) {
			in[i] = x.In[0]
		}
		joint, _ = tensor.Broadcast(joint, in[i].Shape)
	}
	v := r.simplify(op, joint, in)
	return r.broadcast(r.reshape(v, joint), full)
}

// apply is elementwise with the operation of a code.
func (r *Graph) apply(c Code, in ...*Value) *Value { return r.elementwise(coded[c], in...) }

// raw is op(in...) of known shape, folded if constant.
func (r *Graph) raw(op *Op, shape tensor.Shape, in ...*Value) *Value {
	if v := r.fold(op, shape, in); v != nil {
		return v
	}
	if op.Commutative && in[0].id > in[1].id {
		in[0], in[1] = in[1], in[0]
	}
	return r.uniqueElements(op, shape, in)
}
