// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
)

// linearUse is a place where a log density reads a parameter q linearly, before anything else:
//
//	eta = offset + factor q
//
// It is where the observations tell about q, as the rate of a Poisson distribution does whose logarithm is a Gaussian process.
type linearUse struct {
	eta, offset *ad.Node
	// factor has one number for each element of q where matrix is nil. Otherwise it is the matrix, of which rows and columns have factors.
	factor              *ad.Node
	matrix, row, column *ad.Node
}

// nodes are those that depend on other parameters.
func (u *linearUse) nodes() []*ad.Node {
	if u.matrix == nil {
		return []*ad.Node{u.offset, u.factor}
	}
	return []*ad.Node{u.offset, u.matrix, u.row, u.column}
}

const (
	mostUses = 16 // that are looked at for a parameter
	// largestFactor is the number of elements up to which factors are matrices, since each gradient then decomposes one.
	largestFactor = 200
)

// useSearch follows a parameter through a graph.
type useSearch struct {
	readers  map[*ad.Node][]*ad.Node
	q        *ad.Node
	others   []*ad.Node // the other parameters
	on       map[*ad.Node]bool
	varies   map[*ad.Node]bool // nodes that depend on other parameters
	found    []linearUse
	examined int
}

// linearUses lists the linear uses of a parameter that depend on others too, the deepest first.
func linearUses(readers map[*ad.Node][]*ad.Node, q *ad.Node, others []*ad.Node) []linearUse {
	s := &useSearch{readers: readers, q: q, others: others, on: graph.Closure(readers, q), varies: map[*ad.Node]bool{}}
	for _, o := range others {
		for n := range graph.Closure(readers, o) {
			s.varies[n] = true
		}
	}
	s.follow(q, nil, nil)
	slices.Reverse(s.found)
	return s.found
}

// follow goes on from a node that is linear in q, by way of a product of a matrix and before, if there was one.
func (s *useSearch) follow(at, product, before *ad.Node) {
	if s.examined++; s.examined > 200 {
		return
	}
	if at != s.q && len(s.found) < mostUses { // those further on may be one of several ways
		s.take(at, product, before)
	}
	for _, next := range s.readers[at] {
		in := next.In()
		other := func(k int) bool { return !s.on[in[k]] && next.Size() == at.Size() }
		switch next.Op().Name {
		case "neg", "reshape", "broadcast":
			if next.Size() == at.Size() {
				s.follow(next, product, before)
			}
		case "add", "sub", "mul":
			if in[0] == at && other(1) || in[1] == at && other(0) {
				s.follow(next, product, before)
			}
		case "div":
			if in[0] == at && other(1) {
				s.follow(next, product, before)
			}
		case "matmul":
			if product == nil && in[1] == at && !s.on[in[0]] && len(in[0].Shape()) == 2 && next.Size() == in[0].Shape()[0] {
				s.follow(next, next, at)
			}
		}
	}
}

// take adds the use at a node if it depends on other parameters.
func (s *useSearch) take(eta, product, before *ad.Node) {
	zero := ad.Full(0, s.q.Shape()...)
	use := linearUse{eta: eta, offset: graph.Row(ad.Substitute([]*ad.Node{eta}, []*ad.Node{s.q}, []*ad.Node{zero})[0])}
	free := func(n *ad.Node) *ad.Node { return ad.Substitute([]*ad.Node{n}, []*ad.Node{s.q}, []*ad.Node{zero})[0] }
	if product == nil {
		use.factor = graph.Row(free(ad.Grad(eta, s.q)[0]))
	} else {
		m := product.In()[0]
		column := graph.Row(free(ad.Grad(before, s.q)[0]))
		if n := max(s.q.Size(), eta.Size()); n > largestFactor || !s.varies[m] && !s.depends(column) {
			return
		}
		y := ad.Input("product", product.Shape()...)
		row := graph.Row(ad.Grad(ad.Substitute([]*ad.Node{eta}, []*ad.Node{product}, []*ad.Node{y})[0], y)[0])
		use.matrix, use.row, use.column = m, row, column
	}
	if slices.ContainsFunc(use.nodes(), s.depends) {
		s.found = append(s.found, use)
	}
}

// depends reports whether a node depends on other parameters.
func (s *useSearch) depends(n *ad.Node) bool {
	return slices.ContainsFunc(s.others, func(o *ad.Node) bool { return graph.Reads(n, o) })
}
