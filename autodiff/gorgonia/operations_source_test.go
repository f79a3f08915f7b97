// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"
)

// sources is the part of the table of operations that need no argument, or make a
// node of an operation. Random ones are drawn such that the outcome is certain.
func sources() []operation {
	shape := func(s *sketch) []int { return s.lengths(s.IntN(4)) }
	// Gorgonia takes random nodes of one shape, and unnamed inputs, for one node.
	fresh := func(s *sketch) []int {
		for {
			if n := shape(s); !s.shapes[fmt.Sprint(n)] {
				s.shapes[fmt.Sprint(n)] = true
				return n
			}
		}
	}
	return []operation{
		{name: "NewConstant", draw: func(s *sketch) []*G.Node { return s.plus(s.constant(-2, 2, shape(s)...)) }},
		{name: "OneHotVector", draw: func(s *sketch) []*G.Node {
			n := 2 + s.IntN(4)
			return s.plus(G.OneHotVector(s.IntN(n), n, s.typ))
		}},
		{name: "NodeFromAny", draw: func(s *sketch) []*G.Node {
			n := shape(s)
			return []*G.Node{s.adopt(G.NodeFromAny(s.g, s.value(s.normals(max(1, gt.Shape(n).TotalSize())), n), G.WithName(s.name())))}
		}},
		{name: "UniformRandomNode", draw: func(s *sketch) []*G.Node {
			return one(G.Ceil(G.UniformRandomNode(s.g, s.typ, 0.1, 0.9, fresh(s)...)))
		}},
		{name: "GaussianRandomNode", draw: func(s *sketch) []*G.Node {
			return s.plus(G.GaussianRandomNode(s.g, s.typ, s.NormFloat64(), 0, fresh(s)...))
		}},
		{name: "BinomialRandomNode", draw: func(s *sketch) []*G.Node {
			return s.plus(G.BinomialRandomNode(s.g, s.typ, float64(1+s.IntN(3)), 1, fresh(s)...))
		}},
		{name: "ApplyOp", draw: func(s *sketch) []*G.Node { return one(G.ApplyOp(G.Iop{}, s.any())) }},
		{name: "ApplyOpWithName", draw: func(s *sketch) []*G.Node { return one(G.ApplyOpWithName(G.Iop{}, s.name(), s.any())) }},
	}
}

// plus adds an argument to a node that has no input.
func (s *sketch) plus(n *G.Node) []*G.Node { return one(G.Add(s.shaped(n.Shape()...), n)) }
