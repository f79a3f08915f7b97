// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package value holds the values of programs of the Stan language while these are staged: numbers that are known, and nodes of a graph for
// those that depend on parameters.
package value

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/given"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
)

func init() { given.BuildsGraphs() }

// Value is a value of a Type. Containers of numbers are stored densely, in row-major order over Shape: the dimensions of the array, then
// those of the vector or matrix. They are known numbers (F), a Node (N), or put together from elements of Nodes and known numbers.
//
// Lanes above 0 marks the values of as many repetitions of a loop at once: they have a first axis of that length, which Shape leaves out.
type Value struct {
	Type  typing.Type
	Shape []int
	Lanes int
	F     []float64
	N     *ad.Node
	// Elems are those of a tuple, the elements of an array of tuples, or the real and imaginary part of complex values.
	Elems []Value

	parts *parts
}

// parts say where the elements of a value come from.
type parts struct {
	nodes []*ad.Node // flat
	from  []int32    // by element: the index of a node, or -1 for the number in F
	at    []int32    // by element: the place in the node
	cols  []*ad.Node // of a vector in lanes: its elements by lane, if that is how it was put together
}

// Unset are the values of variables before they are assigned to.
var (
	UnsetReal = math.NaN()
	UnsetInt  = float64(math.MinInt32)
)

// ErrUnroll says that something cannot be done for all repetitions of a loop at once.
var ErrUnroll = errors.New("stan: the repetitions of this loop depend on each other: run them one after another")

// Split is an ErrUnroll that happens because numbers differ between repetitions: those with the same number can run at once.
type Split struct{ By []float64 }

func (s *Split) Error() string { return ErrUnroll.Error() }

// Is says that a Split is an ErrUnroll.
func (s *Split) Is(target error) bool { return target == ErrUnroll }

// Same returns a known integer that is the same in all lanes; otherwise a *Split.
func (v Value) Same() (int, error) {
	for _, x := range v.F {
		if x != v.F[0] {
			return 0, &Split{v.F}
		}
	}
	return int(v.F[0]), nil
}

// Size is the number of elements of a shape.
func Size(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// Size is the number of elements without lanes.
func (v Value) Size() int { return Size(v.Shape) }

// Known says whether a value depends on no parameter.
func (v Value) Known() bool {
	if v.Elems != nil || v.Type.Kind == typing.Tuple {
		for _, e := range v.Elems {
			if !e.Known() {
				return false
			}
		}
		return true
	}
	return v.N == nil && v.parts == nil
}

// Full returns the shape with the axis of lanes.
func (v Value) Full() []int {
	if v.Lanes > 0 {
		return append([]int{v.Lanes}, v.Shape...)
	}
	return v.Shape
}

// ByLane makes lanes of the elements of a container.
func (v Value) ByLane(lanes int) Value {
	v = v.Settle()
	kind := typing.Real
	if v.Type.Kind == typing.Int {
		kind = typing.Int
	}
	out := Value{Type: typing.Of(kind), Lanes: lanes, F: v.F}
	if v.N != nil {
		out.N = ad.Reshape(v.N, lanes)
	}
	return out
}

// Int returns a known integer.
func Int(n int) Value { return Value{Type: typing.Of(typing.Int), F: []float64{float64(n)}} }

// Real returns a known number.
func Real(x float64) Value { return Value{Type: typing.Of(typing.Real), F: []float64{x}} }

// Bool returns 1 or 0.
func Bool(b bool) Value {
	if b {
		return Int(1)
	}
	return Int(0)
}

// Known returns a value of known numbers.
func Known(t typing.Type, f []float64, shape ...int) Value { return Value{Type: t, F: f, Shape: shape} }

// Of returns a value that is a Node with the shape of the value.
func Of(t typing.Type, n *ad.Node, shape ...int) Value { return Value{Type: t, N: n, Shape: shape} }

// Vector returns a known vector.
func Vector(f []float64) Value { return Known(typing.Of(typing.Vector), f, len(f)) }

// Complex returns a complex value of its parts.
func Complex(t typing.Type, re, im Value) Value {
	return Value{Type: t, Shape: re.Shape, Lanes: max(re.Lanes, im.Lanes), Elems: []Value{re, im}}
}

// Parts returns the real and the imaginary part.
func (v Value) Parts() (re, im Value) {
	if v.Type.Kind.IsComplex() {
		return v.Elems[0], v.Elems[1]
	}
	t := v.Type
	t.Kind = t.Kind.Realed()
	if t.Kind == typing.Int {
		t.Kind = typing.Real
	}
	zero := Known(t, make([]float64, v.Size()), v.Shape...)
	v.Type = t
	return v, zero
}

// Number returns a known scalar.
func (v Value) Number() float64 { return v.F[0] }

// Integer returns a known integer.
func (v Value) Integer() int { return int(v.F[0]) }

// Ints returns known integers.
func (v Value) Ints() []int {
	out := make([]int, len(v.F))
	for i, x := range v.F {
		out[i] = int(x)
	}
	return out
}

// Node returns the value as a Node, with a first axis of lanes if it has any.
func (v Value) Node() *ad.Node {
	switch {
	case v.N != nil:
		return v.N
	case v.parts != nil:
		return v.assemble()
	}
	if v.Elems != nil {
		return ad.Fail(fmt.Errorf("stan: a value of type %s is not an array of numbers", v.Type))
	}
	if full := v.Full(); len(full) == 0 {
		return ad.Scalar(v.F[0])
	}
	return ad.Const(v.F, v.Full()...)
}

// flat returns a node of rank 1.
func flat(n *ad.Node) *ad.Node {
	if len(n.Shape()) == 1 {
		return n
	}
	return ad.Reshape(n, n.Size())
}

// assemble makes one Node of the elements.
func (v Value) assemble() *ad.Node {
	p := v.parts
	n := len(p.from)
	if p.cols != nil {
		return ad.Permute(ad.Stack(0, p.cols...), 1, 0)
	}
	// one node in its own order
	if len(p.nodes) == 1 && p.nodes[0].Size() == n && p.inOrder() {
		return ad.Reshape(p.nodes[0], v.Full()...)
	}
	if n == 0 {
		return ad.Const(nil, v.Full()...)
	}
	used := make([]int, len(p.nodes))
	for i := range used {
		used[i] = -1
	}
	known := []float64{}
	var pieces []*ad.Node
	start := make([]int, len(p.nodes))
	total := 0
	for _, f := range p.from {
		if f >= 0 && used[f] < 0 {
			used[f] = len(pieces)
			pieces = append(pieces, p.nodes[f])
			start[f] = total
			total += p.nodes[f].Size()
		}
	}
	index := make([]int, n)
	identity := true
	for i, f := range p.from {
		if f < 0 {
			index[i] = total + len(known)
			known = append(known, v.F[i])
		} else {
			index[i] = start[f] + int(p.at[i])
		}
		identity = identity && index[i] == i
	}
	if len(known) > 0 {
		pieces = append(pieces, ad.Const(known, len(known)))
		total += len(known)
	}
	all := pieces[0]
	if len(pieces) > 1 {
		all = ad.Concat(0, pieces...)
	}
	switch {
	case identity && total == n:
	case run(index):
		all = ad.Slice(all, 0, index[0], index[0]+n)
	default:
		all = ad.Gather(all, ad.Ints(index, n), 0)
	}
	return ad.Reshape(all, v.Full()...)
}

// FromScalars returns a value of its elements, Nodes without axes; without lengths it has one dimension.
func FromScalars(t typing.Type, list []*ad.Node, shape ...int) Value {
	if shape == nil {
		shape = []int{len(list)}
	}
	p := &parts{nodes: make([]*ad.Node, len(list)), from: make([]int32, len(list)), at: make([]int32, len(list))}
	for i, n := range list {
		p.nodes[i], p.from[i] = ad.Reshape(n, 1), int32(i)
	}
	return Value{Type: t, Shape: shape, F: make([]float64, len(list)), parts: p}
}

// Scattered says whether a value without lanes was put together from single elements.
func (v Value) Scattered() bool { return v.parts != nil && v.Lanes == 0 }

// Scalars returns the elements of a value without lanes, each as a Node without axes.
func (v Value) Scalars() []*ad.Node {
	out := make([]*ad.Node, v.Size())
	var whole *ad.Node
	for i := range out {
		n, at := whole, i
		switch {
		case v.parts != nil && v.parts.from[i] >= 0:
			n, at = v.parts.nodes[v.parts.from[i]], int(v.parts.at[i])
		case v.F != nil:
			out[i] = ad.Scalar(v.F[i])
			continue
		case n == nil:
			whole = flat(v.N)
			n = whole
		}
		if n.Size() > 1 {
			n = ad.Slice(n, 0, at, at+1)
		}
		out[i] = ad.Reshape(n)
	}
	return out
}

func (p *parts) inOrder() bool {
	for i, f := range p.from {
		if f != 0 || int(p.at[i]) != i {
			return false
		}
	}
	return true
}

// Settle returns the value with its elements in one Node.
func (v Value) Settle() Value {
	if v.parts != nil {
		v.N, v.parts, v.F = v.assemble(), nil, nil
	}
	return v
}

// split returns a value whose elements can be replaced one by one. A value without lanes gets some if lanes is above 0.
func (v Value) split(lanes int) Value {
	if lanes > 0 && v.Lanes == 0 {
		v = v.Spread(lanes)
	}
	n := Size(v.Full())
	switch {
	case v.parts != nil:
		v.parts = &parts{nodes: slices.Clone(v.parts.nodes), from: slices.Clone(v.parts.from), at: slices.Clone(v.parts.at)}
		v.F = slices.Clone(v.F)
		return v
	case v.N != nil:
		p := &parts{nodes: []*ad.Node{flat(v.N)}, from: make([]int32, n), at: make([]int32, n)}
		for i := range p.at {
			p.at[i] = int32(i)
		}
		v.parts, v.N, v.F = p, nil, make([]float64, n)
		return v
	}
	p := &parts{from: make([]int32, n), at: make([]int32, n)}
	for i := range p.from {
		p.from[i] = -1
	}
	v.parts, v.F = p, slices.Clone(v.F)
	return v
}

// Spread repeats a value over lanes.
func (v Value) Spread(lanes int) Value {
	if v.Lanes > 0 || lanes == 0 {
		return v
	}
	if v.Elems != nil {
		v.Elems = slices.Clone(v.Elems)
		for i := range v.Elems {
			v.Elems[i] = v.Elems[i].Spread(lanes)
		}
		v.Lanes = lanes
		return v
	}
	index := make([]int, lanes*v.Size())
	for i := range index {
		index[i] = i % max(1, v.Size())
	}
	out := v.pick(index)
	out.Type, out.Shape, out.Lanes = v.Type, v.Shape, lanes
	return out
}

// pick returns a flat value of the elements at places of the whole, lanes included.
func (v Value) pick(index []int) Value {
	out := Value{Type: v.Type, Shape: []int{len(index)}}
	switch {
	case v.parts != nil:
		p := &parts{nodes: v.parts.nodes, from: make([]int32, len(index)), at: make([]int32, len(index))}
		out.F = make([]float64, len(index))
		known := true
		for i, k := range index {
			p.from[i], p.at[i], out.F[i] = v.parts.from[k], v.parts.at[k], v.F[k]
			known = known && p.from[i] < 0
		}
		if !known {
			out.parts = p
		}
	case v.N != nil:
		n := v.N
		if len(index) == n.Size() && identity(index) {
			out.N = flat(n)
		} else if len(index) == 1 && n.Size() > 1 {
			out.N = ad.Slice(flat(n), 0, index[0], index[0]+1)
		} else if run(index) {
			out.N = ad.Slice(flat(n), 0, index[0], index[0]+len(index))
		} else {
			out.N = ad.Gather(flat(n), ad.Ints(index, len(index)), 0)
		}
	default:
		out.F = make([]float64, len(index))
		for i, k := range index {
			out.F[i] = v.F[k]
		}
	}
	return out
}

func identity(index []int) bool {
	for i, k := range index {
		if i != k {
			return false
		}
	}
	return true
}

// run says whether places follow one another.
func run(index []int) bool {
	if len(index) == 0 {
		return false
	}
	for i, k := range index {
		if k != index[0]+i {
			return false
		}
	}
	return true
}

// Take returns the elements at places of a value, lanes included, as a value of a type and shape.
func (v Value) Take(index []int, t typing.Type, lanes int, shape ...int) Value {
	if v.Type.Kind.IsComplex() {
		r := t
		r.Kind = r.Kind.Realed()
		return Complex(t, v.Elems[0].Take(index, r, lanes, shape...), v.Elems[1].Take(index, r, lanes, shape...))
	}
	if k := len(index) / max(1, lanes); lanes > 0 && len(shape) == 1 && k > 1 && k <= MostColumns && !v.Known() && len(index) > 0 {
		return v.columnsAt(index, t, lanes, k)
	}
	out := v.pick(index)
	out.Type, out.Shape, out.Lanes = t, shape, lanes
	if out.N != nil {
		out.N = ad.Reshape(out.N, out.Full()...)
	}
	return out
}

// Put returns a value whose elements at places, lanes included, are those of another one, in order. If v is owned, it may be changed itself.
func (v Value) Put(index []int, x Value, owned bool) Value {
	if v.Type.Kind.IsComplex() {
		re, im := x.Parts()
		return Complex(v.Type, v.Elems[0].Put(index, re, owned), v.Elems[1].Put(index, im, owned))
	}
	if v.Known() && x.Known() {
		if !owned {
			v.F = slices.Clone(v.F)
		}
		for i, k := range index {
			v.F[k] = x.F[i]
		}
		return v
	}
	out := v
	if !owned || v.parts == nil {
		out = v.split(0)
	}
	p := out.parts
	switch {
	case x.parts != nil:
		base := int32(len(p.nodes))
		p.nodes = append(p.nodes, x.parts.nodes...)
		for i, k := range index {
			out.F[k] = x.F[i]
			p.from[k], p.at[k] = x.parts.from[i], x.parts.at[i]
			if p.from[k] >= 0 {
				p.from[k] += base
			}
		}
	case x.N != nil:
		base := int32(len(p.nodes))
		p.nodes = append(p.nodes, flat(x.N))
		for i, k := range index {
			p.from[k], p.at[k] = base, int32(i)
		}
	default:
		for i, k := range index {
			p.from[k], out.F[k] = -1, x.F[i]
		}
	}
	if len(p.nodes) > 2*len(p.from)+64 {
		out.tidy()
	}
	return out
}

// tidy drops nodes of which no element is left.
func (v *Value) tidy() {
	p := v.parts
	to := make([]int32, len(p.nodes))
	for i := range to {
		to[i] = -1
	}
	var nodes []*ad.Node
	for i, f := range p.from {
		if f < 0 {
			continue
		}
		if to[f] < 0 {
			to[f] = int32(len(nodes))
			nodes = append(nodes, p.nodes[f])
		}
		p.from[i] = to[f]
	}
	p.nodes = nodes
}

// Reshape gives a value another type and shape with as many elements.
func (v Value) Reshape(t typing.Type, shape ...int) Value {
	if v.Type.Kind.IsComplex() {
		r := t
		r.Kind = r.Kind.Realed()
		return Complex(t, v.Elems[0].Reshape(r, shape...), v.Elems[1].Reshape(r, shape...))
	}
	v.Type, v.Shape = t, shape
	if v.N != nil {
		v.N = ad.Reshape(v.N, v.Full()...)
	}
	return v
}

// As promotes a value to a type.
func (v Value) As(t typing.Type) Value {
	if t.Kind == typing.Tuple && len(v.Elems) > 0 {
		v.Elems = slices.Clone(v.Elems)
		for i := range v.Elems {
			if v.Type.Dims > 0 {
				v.Elems[i] = v.Elems[i].As(t.Element())
			} else {
				v.Elems[i] = v.Elems[i].As(t.Elems[i])
			}
		}
		v.Type = t
		return v
	}
	if t.Kind.IsComplex() && !v.Type.Kind.IsComplex() {
		re, im := v.Parts()
		r := t
		r.Kind = r.Kind.Realed()
		re.Type, im.Type = r, r
		return Complex(t, re, im)
	}
	v.Type = t
	v.Type.Data = false
	return v
}

// Unset returns a variable of a type before it is assigned to.
func Unset(t typing.Type, shape ...int) Value {
	if t.Kind.IsComplex() {
		r := t
		r.Kind = r.Kind.Realed()
		return Complex(t, Unset(r, shape...), Unset(r, shape...))
	}
	f := make([]float64, Size(shape))
	u := UnsetReal
	if t.Kind == typing.Int {
		u = UnsetInt
	}
	for i := range f {
		f[i] = u
	}
	return Known(t, f, shape...)
}

// Check returns the mistake of the graph.
func (v Value) Check() error {
	if v.N != nil {
		return v.N.Err()
	}
	for _, e := range v.Elems {
		if err := e.Check(); err != nil {
			return err
		}
	}
	return nil
}
