// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
)

// Sort returns the elements in ascending order along one axis, or descending if that is set; a NaN
// counts as the largest. Gradient: moved back to the original positions.
func Sort(x *Node, axis int, descending bool) *Node {
	idx := Argsort(x, axis, descending)
	if idx.err != nil {
		return idx
	}
	return takeAlong(x, idx, idx.attr[0])
}

// Argsort returns the indices that put the elements in order along one axis, with the lower index
// first among equal elements; a NaN counts as the largest. Gradient: none.
func Argsort(x *Node, axis int, descending bool) *Node {
	if bad := notReal("argsort", x); bad != nil {
		return bad
	}
	ax, bad := axisIn("argsort", x.shape, axis)
	if bad != nil {
		return bad
	}
	return ranked(x, ax, x.shape[ax], descending)
}

// TopK returns the k largest elements along one axis in descending order, or the k smallest in
// ascending order, and their indices; among equal elements the lower index comes first, and a NaN
// counts as the largest. Gradient: moved back to the original positions.
func TopK(x *Node, k, axis int, largest bool) (values, indices *Node) {
	if bad := notReal("top_k", x); bad != nil {
		return bad, bad
	}
	ax, ok := axisOf(axis, len(x.shape))
	if !ok || k < 0 || k > x.shape[ax] {
		bad := mistake("top_k", "there are no %d elements along axis %d of shape %v: want at most the length of an axis that exists", k, axis, x.shape)
		return bad, bad
	}
	idx := ranked(x, ax, k, largest)
	return takeAlong(x, idx, ax), idx
}

// ranked returns the Node of the first k indices in order.
func ranked(x *Node, ax, k int, descending bool) *Node {
	s := x.shape.Clone()
	s[ax] = k
	idx := newNode(argsortOp, s, x)
	idx.attr, idx.isInt = []int{ax, int(truth(descending))}, true
	return idx
}

var argsortOp *Op

func init() {
	argsortOp = register(&Op{Name: "argsort", Arity: 1, kind: compiler.Step,
		run:    func(c *cpu.Call) error { return c.Each(runArgsort[float64], runArgsort[float32]) },
		device: cuda.Argsort,
		Sample: func(in Source) []*Node {
			v, _ := TopK(in(-2, 2, 2, 5, 2), 3, 1, true)
			return []*Node{Sort(in(-2, 2, 5), 0, false), Sort(in(-2, 2, 2, 4), 1, true), v}
		}})
}

// ranking orders the positions in one row.
type ranking[T cpu.Real] struct {
	keys       []T
	places     []int
	compare    func(i, j int) int
	descending bool
}

// order is negative if position i comes before position j.
func (r *ranking[T]) order(i, j int) int {
	a, b := r.keys[i], r.keys[j]
	if r.descending {
		a, b = b, a
	}
	switch {
	case a < b || a == a && b != b:
		return -1
	case a > b || a != a && b == b:
		return 1
	}
	return i - j
}

// first puts the first k places in order: a heap with the last of them on top
// takes each place that comes before it.
func (r *ranking[T]) first(k int) []int {
	top := r.places[:k]
	for i := range top {
		top[i] = i
	}
	if 0 < k && k < len(r.keys) {
		for i := k/2 - 1; i >= 0; i-- {
			r.sink(top, i)
		}
		for i := k; i < len(r.keys); i++ {
			if r.order(i, top[0]) < 0 {
				top[0] = i
				r.sink(top, 0)
			}
		}
	}
	slices.SortFunc(top, r.compare)
	return top
}

func (r *ranking[T]) sink(h []int, i int) {
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && r.order(h[c], h[c+1]) < 0 {
			c++
		}
		if r.order(h[c], h[i]) < 0 {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

func runArgsort[T cpu.Real](c *cpu.Call, _ []T, in [][]T) error {
	outer, inner, n := around(c.InShape[0], c.Attr[0])
	k := c.Shape[c.Attr[0]]
	r := cpu.Scratch(c, func() *ranking[T] {
		r := &ranking[T]{keys: make([]T, n), places: make([]int, n), descending: c.Attr[1] == 1}
		r.compare = r.order
		return r
	})
	for o := range outer {
		for j := range inner {
			for i := range n {
				r.keys[i] = in[0][(o*n+i)*inner+j]
			}
			for i, p := range r.first(k) {
				c.OutInts[(o*k+i)*inner+j] = int64(p)
			}
		}
	}
	return nil
}
