// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/tensor"
)

const (
	viewKind        = compiler.View
	elementwiseKind = compiler.Elementwise
)

// moved returns the places, among the elements of its first input, of the elements of an operation that only rearranges them; ok is false
// for other operations. nil stands for all in order.
func moved(n *Node) (places []int32, ok bool) {
	if n.op == nil || len(n.in) == 0 {
		return nil, false
	}
	x := n.in[0]
	strides := x.shape.Strides()
	switch n.op {
	case reshapeOp:
		return nil, true
	case broadcastOp:
		return walked(n.shape, compiler.AlignedStrides(x.shape, strides, n.shape), 0), true
	case permuteOp:
		own := make([]int, len(strides))
		for i, p := range n.attr {
			own[i] = strides[p]
		}
		return walked(n.shape, own, 0), true
	case sliceOp:
		own, from := make([]int, len(strides)), 0
		for i, s := range strides {
			from += n.attr[3*i] * s
			own[i] = n.attr[3*i+1] * s
		}
		return walked(n.shape, own, from), true
	case gatherOp:
		idx := n.in[1].ints
		if idx == nil {
			return nil, false
		}
		outer, inner, count := around(x.shape, n.attr[0])
		places = make([]int32, 0, n.Size())
		for o := range outer {
			for _, k := range idx {
				if k < 0 || int(k) >= count {
					return nil, false
				}
				for i := range inner {
					places = append(places, int32((o*count+int(k))*inner+i))
				}
			}
		}
		return places, true
	}
	return nil, false
}

// walked lists the places of an array with strides.
func walked(shape tensor.Shape, strides []int, from int) []int32 {
	places := make([]int32, 0, shape.Size())
	index := make([]int, len(shape))
	for at := from; len(places) < cap(places); {
		places = append(places, int32(at))
		for d := len(shape) - 1; d >= 0; d-- {
			index[d]++
			at += strides[d]
			if index[d] < shape[d] {
				break
			}
			at -= index[d] * strides[d]
			index[d] = 0
		}
	}
	return places
}

// through returns places[by], where nil stands for all in order.
func through(places, by []int32) []int32 {
	switch {
	case by == nil:
		return places
	case places == nil:
		return by
	}
	out := make([]int32, len(by))
	for i, k := range by {
		out[i] = places[k]
	}
	return out
}

// placesOf returns the Node whose elements n rearranges, in any number of steps, and the places there; nil stands for all in order.
func placesOf(n *Node) (base *Node, places []int32) {
	for {
		p, ok := moved(n)
		if !ok {
			return n, places
		}
		places = through(p, places)
		n = n.in[0]
	}
}

// taken gathers elements of a Node as a vector.
func taken(n *Node, places []int32) *Node {
	flat := Reshape(n, n.Size())
	inOrder, run := len(places) == n.Size(), true
	for i, p := range places {
		run = run && int(p) == int(places[0])+i
	}
	if run && inOrder {
		return flat
	}
	if run && len(places) > 0 {
		return Slice(flat, 0, int(places[0]), int(places[0])+len(places))
	}
	if !slices.ContainsFunc(places, func(p int32) bool { return p != places[0] }) && len(places) > 0 {
		return Broadcast(Slice(flat, 0, int(places[0]), int(places[0])+1), len(places))
	}
	idx := make([]int, len(places))
	for i, p := range places {
		idx[i] = int(p)
	}
	return Gather(flat, Ints(idx), 0)
}
