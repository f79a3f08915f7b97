// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"encoding/binary"
	"math"
	"slices"
)

// simplerFunctions returns x with Nodes that are computed alike made one, so that their gradients are added up before they are passed on,
// with logarithms of exponentials and of sigmoids resolved, and with functions of gathered elements computed before they are gathered.
func simplerFunctions(x *Node) *Node {
	made := map[*Node]*Node{}
	known := &alike{of: map[alikeKey]*Node{}, is: map[*Node]bool{}}
	for _, n := range upstream(x) {
		in, changed := make([]*Node, len(n.in)), false
		for i, y := range n.in {
			if in[i] = y; made[y] != nil {
				in[i], changed = made[y], true
			}
		}
		m := n
		if changed {
			c := *n
			c.in, c.id = in, lastID.Add(1)
			m = &c
		}
		if s := number(m); s != nil {
			m = s
		} else if s := simplerLog(m); s != nil {
			m = s
		} else if s := simplerPower(m); s != nil {
			m = s
		} else if s := fewerColumns(m); s != nil {
			m = s
		} else if s := beforeGather(m); s != nil {
			m = s
		}
		m = known.all(m)
		if m != n {
			made[n] = m
		}
	}
	if made[x] != nil {
		return made[x]
	}
	return x
}

// number returns an elementwise function of known numbers as a number; nil if n is none.
func number(n *Node) *Node {
	if n.op == nil || n.op.kind != elementwiseKind || n.Size() != 1 {
		return nil
	}
	x := make([]float64, len(n.in))
	for i, y := range n.in {
		if len(y.data) != 1 {
			return nil
		}
		x[i] = y.data[0]
	}
	return Reshape(Scalar(n.op.prim.Eval(x...)), n.shape...)
}

// alike finds Nodes that are computed alike.
type alike struct {
	of  map[alikeKey]*Node
	is  map[*Node]bool // the first of their kind, and all that they are made from
	buf []byte
}

// all returns the first Node that is computed as n is, with inputs that are the first of their kind.
func (k *alike) all(n *Node) *Node {
	if k.is[n] {
		return n
	}
	in, changed := make([]*Node, len(n.in)), false
	for i, x := range n.in {
		in[i] = k.all(x)
		changed = changed || in[i] != x
	}
	if changed {
		c := *n
		c.in, c.id = in, lastID.Add(1)
		n = &c
	}
	n = k.first(n)
	k.is[n] = true
	return n
}

// alikeKey is what a Node is computed from. Attributes, shapes and further inputs are in rest.
type alikeKey struct {
	op      *Op
	a, b, c *Node
	rest    string
}

// mostAlike is the size up to which constants are compared.
const mostAlike = 16

// first returns the first Node that is computed as n is.
func (k *alike) first(n *Node) *Node {
	if n.obj != nil || n.isInput() || n.op == nil && len(n.data) > mostAlike || n.ints != nil || n.name != "" {
		return n
	}
	key := alikeKey{op: n.op}
	for i, p := range []**Node{&key.a, &key.b, &key.c} {
		if i < len(n.in) {
			*p = n.in[i]
		}
	}
	if n.op == nil || n.op.kind != elementwiseKind {
		b := k.buf[:0]
		for _, d := range n.shape {
			b = binary.AppendUvarint(b, uint64(d))
		}
		b = append(b, '|')
		for _, d := range n.attr {
			b = binary.AppendVarint(b, int64(d))
		}
		for _, v := range n.data {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		for _, x := range n.in[min(3, len(n.in)):] {
			b = binary.LittleEndian.AppendUint64(b, x.id)
		}
		k.buf, key.rest = b, string(b)
	}
	if old := k.of[key]; old != nil {
		return old
	}
	k.of[key] = n
	return n
}

// simplerLog returns the logarithm of an exponential or a sigmoid, or of 1 minus a sigmoid, without the logarithm; nil if n is none.
func simplerLog(n *Node) *Node {
	if n.op != logOp && n.op != log1pOp {
		return nil
	}
	arg, places := placesOf(n.in[0])
	var y *Node
	switch {
	case n.op == logOp && (arg.op == mulOp || arg.op == divOp) && isPositive(arg, 8) && places == nil:
		a, b := logOf(arg.in[0]), logOf(arg.in[1])
		if arg.op == divOp {
			b = Neg(b)
		}
		y = Add(a, b)
	case n.op == logOp && arg.op == expOp:
		y = arg.in[0]
	case n.op == logOp && arg.op == sigmoidOp:
		y = Neg(Softplus(Neg(arg.in[0])))
	case n.op == log1pOp && arg.op == negOp, n.op == logOp && arg.op == subOp && isOne(arg.in[0]) && arg.in[1].Size() == arg.Size():
		inner, more := placesOf(arg.in[len(arg.in)-1])
		if inner.op != sigmoidOp {
			return nil
		}
		places = through(more, places)
		y = Neg(Softplus(inner.in[0]))
	default:
		return nil
	}
	if places != nil {
		y = taken(y, places)
	}
	return Reshape(y, n.shape...)
}

// logOf is the logarithm of n in its simplest form.
func logOf(n *Node) *Node {
	l := Log(n)
	if s := simplerLog(l); s != nil {
		return s
	}
	return l
}

// simplerPower returns a positive number to a power other than one known number as an exponential; nil if n is no such power.
func simplerPower(n *Node) *Node {
	switch {
	case n.op == powOp && len(n.in[1].data) != 1 && isPositive(n.in[0], 8):
		return Exp(Mul(n.in[1], logOf(n.in[0])))
	case n.op == mulOp && n.in[0].op == expOp && n.in[1].op == expOp && n.in[0].shape.Equal(n.in[1].shape):
		return Exp(Add(n.in[0].in[0], n.in[1].in[0]))
	}
	return nil
}

// isPositive says that the elements of n are above 0 by the way they are computed, unless they underflow.
func isPositive(n *Node, depth int) bool {
	n, _ = placesOf(n)
	switch {
	case n.data != nil:
		return !slices.ContainsFunc(n.data, func(v float64) bool { return !(v > 0) })
	case depth == 0:
		return false
	case n.op == expOp || n.op == sigmoidOp || n.op == softplusOp:
		return true
	case n.op == addOp || n.op == mulOp || n.op == divOp:
		return isPositive(n.in[0], depth-1) && isPositive(n.in[1], depth-1)
	}
	return false
}

// fewerColumns returns the product of a known matrix and a vector times known factors, of which some are 0, without the columns of these;
// nil if n is no such product.
func fewerColumns(n *Node) *Node {
	if n.op != matmulOp || n.in[0].data == nil || len(n.in[0].shape) != 2 {
		return nil
	}
	v, places := placesOf(n.in[1])
	if places != nil || v.op != mulOp {
		return nil
	}
	for i, c := range v.in {
		if x := v.in[1-i]; c.data != nil && slices.Contains(c.data, 0) && c.Size() == v.Size() && x.Size() == v.Size() {
			return someColumns(n.in[0], c.data, x)
		}
	}
	return nil
}

// someColumns is the product of a matrix and a vector times factors, with the columns whose factor is not 0.
func someColumns(a *Node, factors []float64, x *Node) *Node {
	var kept []int32
	for j, c := range factors {
		if c != 0 {
			kept = append(kept, int32(j))
		}
	}
	rows, cols := a.shape[0], a.shape[1]
	if len(kept) == 0 {
		return Full(0, rows, 1)
	}
	data := make([]float64, 0, rows*len(kept))
	for i := range rows {
		for _, j := range kept {
			data = append(data, a.data[i*cols+int(j)]*factors[j])
		}
	}
	return MatMul(Const(data, rows, len(kept)), Reshape(taken(x, kept), len(kept), 1))
}

// isOne says whether n is the number 1.
func isOne(n *Node) bool { return len(n.data) == 1 && n.data[0] == 1 }

// beforeGather returns an elementwise function of gathered elements as gathered elements of the function, if these are fewer and all of them
// are used; otherwise nil. A function of an element that is not used might have no derivative.
func beforeGather(n *Node) *Node {
	if n.op == nil || n.op.kind != elementwiseKind {
		return nil
	}
	var from *Node
	for _, x := range n.in {
		switch {
		case x.Size() == 1:
		case x.op != gatherOp || x.in[1].ints == nil || len(x.in[0].shape) != 1 || len(x.shape) != 1:
			return nil
		case from == nil:
			from = x
		case x.in[0].Size() != from.in[0].Size() || !slices.Equal(x.in[1].ints, from.in[1].ints):
			return nil
		}
	}
	if from == nil || from.in[0].Size() >= from.Size() || len(n.shape) != 1 || !usesAll(from.in[1].ints, from.in[0].Size()) {
		return nil
	}
	in := slices.Clone(n.in)
	for i, x := range in {
		if x.Size() > 1 {
			in[i] = x.in[0]
		}
	}
	return Gather(apply(n.op, in...), from.in[1], 0)
}

// usesAll says whether all of n elements are among the indices.
func usesAll(idx []int64, n int) bool {
	seen, count := make([]bool, n), 0
	for _, k := range idx {
		if k >= 0 && int(k) < n && !seen[k] {
			seen[k] = true
			count++
		}
	}
	return count == n
}
