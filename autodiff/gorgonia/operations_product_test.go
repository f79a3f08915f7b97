// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"
)

// products is the part of the table of operations of linear algebra.
func products() []operation {
	return []operation{
		{name: "Mul", draw: func(s *sketch) []*G.Node {
			k := 1 + s.IntN(4)
			left := []gt.Shape{{}, {k}, {1 + s.IntN(4), k}}[s.IntN(3)]
			right := []gt.Shape{{}, {k}, {k, 1 + s.IntN(4)}}[s.IntN(3)]
			return one(G.Mul(s.small(s.shaped(left...)), s.small(s.shaped(right...))))
		}},
		{name: "OuterProd", wrong: true, draw: func(s *sketch) []*G.Node { return one(G.OuterProd(s.small(s.ranked(1)), s.small(s.ranked(1)))) }},
		{name: "BatchedMatMul", draw: func(s *sketch) []*G.Node {
			b, n, k, m := 1+s.IntN(3), 1+s.IntN(3), 1+s.IntN(3), 1+s.IntN(3)
			left, right := gt.Shape{b, n, k}, gt.Shape{b, k, m}
			ta, tb := s.chance(0.3), s.chance(0.3)
			if ta {
				left[1], left[2] = k, n
			}
			if tb {
				right[1], right[2] = m, k
			}
			return one(G.BatchedMatMul(s.small(s.shaped(left...)), s.small(s.shaped(right...)), ta, tb))
		}},
		{name: "Tensordot", draw: func(s *sketch) []*G.Node {
			a := s.small(s.array())
			axes := s.Perm(a.Dims())[:1+s.IntN(min(2, a.Dims()))]
			shape := s.lengths(len(axes) + s.IntN(2))
			other := s.Perm(len(shape))[:len(axes)]
			for i, k := range other {
				shape[k] = a.Shape()[axes[i]]
			}
			return one(G.Tensordot(axes, other, a, s.small(s.shaped(shape...))))
		}},
	}
}
