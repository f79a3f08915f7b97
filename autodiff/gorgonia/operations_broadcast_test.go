// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"slices"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"
)

// broadcasts is the part of the table of operations that fit arrays to each other
// or fold several.
func broadcasts() []operation {
	var list []operation
	arithmetic := func(name string, f func(a, b *G.Node, left, right []byte) (*G.Node, error)) {
		list = append(list, operation{name: name, draw: func(s *sketch) []*G.Node {
			a, b, left, right := s.broadcast()
			a = s.positive(a)
			if name == "BroadcastPow" {
				return one(f(a, s.small(b), left, right))
			}
			return one(f(a, s.positive(b), left, right))
		}})
	}
	arithmetic("BroadcastAdd", G.BroadcastAdd)
	arithmetic("BroadcastSub", G.BroadcastSub)
	arithmetic("BroadcastHadamardProd", G.BroadcastHadamardProd)
	arithmetic("BroadcastHadamardDiv", G.BroadcastHadamardDiv)
	arithmetic("BroadcastPow", G.BroadcastPow)
	compare := func(name string, f func(a, b *G.Node, same bool, left, right []byte) (*G.Node, error)) {
		list = append(list, operation{name: name, draw: func(s *sketch) []*G.Node {
			a, b, left, right := s.broadcast()
			return one(f(off(s, a), b, s.chance(0.8), left, right))
		}})
	}
	compare("BroadcastLt", G.BroadcastLt)
	compare("BroadcastGt", G.BroadcastGt)
	compare("BroadcastLte", G.BroadcastLte)
	compare("BroadcastGte", G.BroadcastGte)
	compare("BroadcastEq", G.BroadcastEq)
	compare("BroadcastNe", G.BroadcastNe)
	return append(list,
		operation{name: "Broadcast", draw: func(s *sketch) []*G.Node {
			a, b, left, right := s.broadcast()
			x, y, err := G.Broadcast(a, b, G.NewBroadcastPattern(left, right))
			return []*G.Node{must(x, err), y}
		}},
		operation{name: "Auto", draw: func(s *sketch) []*G.Node {
			a := s.array()
			thin := a.Shape().Clone()
			thin[s.IntN(len(thin))] = 1
			return one(G.Auto(G.BroadcastAdd, a, s.shaped(thin...)))
		}},
		operation{name: "ReduceAdd", draw: func(s *sketch) []*G.Node {
			a := s.any()
			return one(G.ReduceAdd(G.Nodes{a, s.shaped(a.Shape()...), s.shaped(a.Shape()...)}[:1+s.IntN(3)]))
		}},
		operation{name: "ReduceMul", draw: func(s *sketch) []*G.Node {
			return one(G.ReduceMul(G.Nodes{s.ranked(0), s.small(s.ranked(0)), s.small(s.any())}[:1+s.IntN(3)]))
		}},
		operation{name: "ConvType", draw: func(s *sketch) []*G.Node {
			shape := s.lengths(1 + s.IntN(2))
			v := make([]int, shape.TotalSize())
			for i := range v {
				v[i] = s.IntN(7) - 3
			}
			return one(G.ConvType(s.whole(v, shape...), gt.Int, s.typ))
		}},
	)
}

// broadcast draws two arguments that differ in axes of length 1, or lack one, and
// the pattern that makes them equal.
func (s *sketch) broadcast() (a, b *G.Node, left, right []byte) {
	a = s.array()
	thin, axes := a.Shape().Clone(), []byte(nil)
	for i := range thin {
		if s.chance(0.5) {
			thin[i] = 1
			axes = append(axes, byte(i))
		}
	}
	if len(axes) > 0 && s.chance(0.3) {
		kept := gt.Shape{}
		for i, d := range a.Shape() {
			if !slices.Contains(axes, byte(i)) {
				kept = append(kept, d)
			}
		}
		thin = kept
	}
	b = s.shaped(thin...)
	if s.chance(0.5) {
		return b, a, axes, nil
	}
	return a, b, nil, axes
}
