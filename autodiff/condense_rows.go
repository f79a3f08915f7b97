// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"encoding/binary"
	"math"
	"slices"
)

// rowsJoiner finds the rows of a Node, that is, its parts along the first axis, that are computed from the same numbers.
type rowsJoiner struct {
	n      int // rows
	leaves []*rowsLeaf
	of     map[*Node]*rowsLeaf
	seen   map[*Node]bool
	first  []int32 // a row of each kind
	made   map[*Node]*Node
}

// rowsLeaf is an array with rows that is known, or rearranges elements of another Node.
type rowsLeaf struct {
	node, base *Node
	places     []int32
}

// fewestRows is the number of rows below which joining them is not worth it.
const fewestRows = 8

// joinedRows returns the sum of the elements of n with rows that are computed from the same numbers joined, or nil if that is not worth it.
func joinedRows(n *Node) *Node {
	if len(n.shape) == 0 || n.shape[0] < fewestRows || n.Size() == 0 {
		return nil
	}
	j := &rowsJoiner{n: n.shape[0], of: map[*Node]*rowsLeaf{}, seen: map[*Node]bool{}, made: map[*Node]*Node{}}
	if !j.walk(n) {
		return nil
	}
	counts := j.kinds()
	if counts == nil {
		return nil
	}
	shape := make([]int, len(n.shape))
	for i := range shape {
		shape[i] = 1
	}
	shape[0] = len(counts)
	return Sum(Mul(Const(counts, shape...), j.rebuilt(n)))
}

// rowed says whether x, an operand of n elementwise, has the rows of n.
func (j *rowsJoiner) rowed(n, x *Node) bool { return len(x.shape) == len(n.shape) && x.shape[0] == j.n }

// inner returns the inputs of n that have its rows, if it is computed row by row from them.
func (j *rowsJoiner) inner(n *Node) (in []*Node) {
	switch {
	case n.op == nil:
	case n.op.kind == elementwiseKind:
		for _, x := range n.in {
			if j.rowed(n, x) {
				in = append(in, x)
			}
		}
	case n.op == broadcastOp && j.rowed(n, n.in[0]), n.op == reshapeOp && len(n.in[0].shape) > 0 && n.in[0].shape[0] == j.n,
		(n.op == sumOp || n.op == maxOp || n.op == minOp) && n.attr[0] > 0, n.op == concatOp && n.attr[0] > 0:
		return n.in
	}
	return in
}

// walk collects the leaves, and says whether rows of them may be equal.
func (j *rowsJoiner) walk(n *Node) bool {
	if j.seen[n] {
		return true
	}
	j.seen[n] = true
	if in := j.inner(n); len(in) > 0 {
		return !slices.ContainsFunc(in, func(x *Node) bool { return !j.walk(x) })
	}
	l := &rowsLeaf{node: n}
	if l.base, l.places = placesOf(n); l.base.data == nil && l.places == nil {
		if !matrixOfRows(n) {
			return false // every row is of its own
		}
		l.base = n.in[0]
	}
	j.leaves, j.of[n] = append(j.leaves, l), l
	return true
}

// matrixOfRows says whether n is the product of a known matrix and something.
func matrixOfRows(n *Node) bool {
	return n.op == matmulOp && n.in[0].data != nil && len(n.in[0].shape) == 2 && len(n.in[1].shape) == 2
}

// kinds finds the rows that are equal, and returns how many there are of each kind; nil if there are too many kinds.
func (j *rowsJoiner) kinds() (counts []float64) {
	number := map[string]int{}
	var key []byte
	for i := range j.n {
		key = key[:0]
		for _, l := range j.leaves {
			key = l.appendRow(key, i, j.n)
		}
		k, ok := number[string(key)]
		if !ok {
			k = len(counts)
			if float64(k) > worthwhile*float64(j.n) {
				return nil
			}
			number[string(key)] = k
			counts, j.first = append(counts, 0), append(j.first, int32(i))
		}
		counts[k]++
	}
	return counts
}

// appendRow appends what row i of n is computed from.
func (l *rowsLeaf) appendRow(key []byte, i, n int) []byte {
	if l.base.data != nil {
		width := len(l.base.data) / n
		if l.places != nil {
			width = len(l.places) / n
		}
		for k := i * width; k < (i+1)*width; k++ {
			at := k
			if l.places != nil {
				at = int(l.places[k])
			}
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(l.base.data[at]))
		}
		return key
	}
	width := len(l.places) / n
	for _, p := range l.places[i*width : (i+1)*width] {
		key = binary.LittleEndian.AppendUint32(key, uint32(p))
	}
	return key
}

// rebuilt computes a row of each kind.
func (j *rowsJoiner) rebuilt(n *Node) *Node {
	if m := j.made[n]; m != nil {
		return m
	}
	m := j.rebuild(n)
	j.made[n] = m
	return m
}

func (j *rowsJoiner) rebuild(n *Node) *Node {
	shape := slices.Clone(n.shape)
	shape[0] = len(j.first)
	if l := j.of[n]; l != nil {
		return l.rows(j.first, j.n, shape)
	}
	switch n.op {
	case broadcastOp:
		return Broadcast(j.rebuilt(n.in[0]), shape...)
	case reshapeOp:
		return Reshape(j.rebuilt(n.in[0]), shape...)
	}
	in := slices.Clone(n.in)
	for i, x := range in {
		if n.op.kind != elementwiseKind || j.rowed(n, x) {
			in[i] = j.rebuilt(x)
		}
	}
	switch {
	case n.op.kind == elementwiseKind:
		return apply(n.op, in...)
	case n.op == concatOp:
		return Concat(n.attr[0], in...)
	}
	return over(n.op, in[0], n.attr)
}

// rows returns some rows of a leaf.
func (l *rowsLeaf) rows(first []int32, n int, shape []int) *Node {
	if l.base.data != nil && l.node != l.base && matrixOfRows(l.node) {
		k := l.base.shape[1]
		data := make([]float64, 0, len(first)*k)
		for _, i := range first {
			data = append(data, l.base.data[int(i)*k:(int(i)+1)*k]...)
		}
		return MatMul(Const(data, len(first), k), l.node.in[1])
	}
	width := l.node.Size() / n
	places := make([]int32, 0, len(first)*width)
	for _, i := range first {
		for k := int(i) * width; k < (int(i)+1)*width; k++ {
			at := int32(k)
			if l.places != nil {
				at = l.places[k]
			}
			places = append(places, at)
		}
	}
	if l.base.data != nil {
		return Const(picked(l.base.data, places), shape...)
	}
	return Reshape(taken(l.base, places), shape...)
}
