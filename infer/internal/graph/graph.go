// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package graph finds its way in the graph of a log density: which nodes depend on which, and what is constant.
package graph

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// Reads reports whether a node depends on another.
func Reads(n, on *ad.Node) bool {
	seen := map[*ad.Node]bool{}
	var visit func(n *ad.Node) bool
	visit = func(n *ad.Node) bool {
		if n == on {
			return true
		}
		if seen[n] {
			return false
		}
		seen[n] = true
		return slices.ContainsFunc(n.In(), visit)
	}
	return visit(n)
}

// Consumers lists for every node of a graph those that read it.
func Consumers(out *ad.Node) map[*ad.Node][]*ad.Node {
	readers, seen, open := map[*ad.Node][]*ad.Node{}, map[*ad.Node]bool{out: true}, []*ad.Node{out}
	for len(open) > 0 {
		n := open[len(open)-1]
		open = open[:len(open)-1]
		for _, x := range n.In() {
			if !slices.Contains(readers[x], n) {
				readers[x] = append(readers[x], n)
			}
			if !seen[x] {
				seen[x] = true
				open = append(open, x)
			}
		}
	}
	return readers
}

// Closure returns the nodes that depend on one, by the readers of Consumers.
func Closure(readers map[*ad.Node][]*ad.Node, of *ad.Node) map[*ad.Node]bool {
	seen, open := map[*ad.Node]bool{of: true}, []*ad.Node{of}
	for len(open) > 0 {
		n := open[len(open)-1]
		open = open[:len(open)-1]
		for _, r := range readers[n] {
			if !seen[r] {
				seen[r] = true
				open = append(open, r)
			}
		}
	}
	return seen
}

// Constant reports whether a node depends on no input.
func Constant(n *ad.Node) bool {
	seen := map[*ad.Node]bool{}
	var visit func(n *ad.Node) bool
	visit = func(n *ad.Node) bool {
		if seen[n] || n.IsConst() {
			return true
		}
		seen[n] = true
		return n.Op() != nil && !slices.ContainsFunc(n.In(), func(x *ad.Node) bool { return !visit(x) })
	}
	return visit(n)
}

// Row returns the elements of a node in a row.
func Row(n *ad.Node) *ad.Node { return ad.Reshape(n, n.Size()) }

// Like returns a constant of the shape of a node.
func Like(n *ad.Node, v []float64) *ad.Node {
	if len(n.Shape()) == 0 {
		return ad.Scalar(v[0])
	}
	return ad.Const(v, n.Shape()...)
}

// State makes a workspace of a program with the values of the inputs from a number on.
func State(prog *ad.Program, from int, given [][]float64) *ad.State {
	s := prog.NewState()
	for i, d := range given {
		if err := s.SetInput(from+i, d); err != nil {
			panic(err) // the program has these inputs, and reals
		}
	}
	return s
}

// reaches is the number of distances from 0 that FarPlace tries of each input, in decades to either side.
const reaches = 12

// FarPlaces returns the number of places that are worth a look where one of the first inputs of a program at a time is far from 0, at most a few hundred.
func FarPlaces(inputs int) int { return min(reaches*inputs, 240) }

// Place writes numbers between -1 and 1 into the first inputs of a program. Conditions that depend on parameters may not be met there: at far place number k, counted
// from 0, one input has elements of sizes up to 1e6.
func Place(s *ad.State, inputs, far int, random *tensor.Stream) {
	if inputs == 0 {
		return
	}
	q := s.InputSpan(0, inputs)
	for i := range q {
		q[i] = 2*random.Float64() - 1
	}
	if far < 0 {
		return
	}
	away := s.Input(far / reaches)
	side := 1 - 2*float64(far%2)
	for i := range away {
		away[i] = side * math.Pow(10, float64(far%reaches/2)+random.Float64())
	}
}

// Replaced returns a node with those above it exchanged for which the function gives another one; what stands above an exchanged node is not
// visited. Without any, it is the node itself.
func Replaced(out *ad.Node, by func(n *ad.Node) *ad.Node) *ad.Node {
	var old, others []*ad.Node
	seen := map[*ad.Node]bool{}
	var visit func(n *ad.Node)
	visit = func(n *ad.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if other := by(n); other != nil {
			old, others = append(old, n), append(others, other)
			return
		}
		for _, x := range n.In() {
			visit(x)
		}
	}
	visit(out)
	if len(old) == 0 {
		return out
	}
	return ad.Substitute([]*ad.Node{out}, old, others)[0]
}
