// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"slices"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"
)

// reshaping is the part of the table of operations that reduce, cut, join and
// turn arrays.
func reshaping() []operation {
	var list []operation
	along := func(name string, f func(a *G.Node, along ...int) (*G.Node, error)) {
		list = append(list, operation{name: name, draw: func(s *sketch) []*G.Node {
			x := s.any()
			return one(f(x, s.axes(x.Shape())...))
		}})
	}
	along("Sum", G.Sum)
	along("Mean", G.Mean)
	along("Max", G.Max)
	return append(list,
		operation{name: "Norm", draw: func(s *sketch) []*G.Node {
			x := s.positive(s.array())
			return one(G.Norm(x, s.IntN(x.Dims()), 2+s.IntN(2)))
		}},
		operation{name: "LogSumExp", draw: func(s *sketch) []*G.Node {
			x := s.positive(s.ranked(1))
			return one(G.LogSumExp(x, 0))
		}},
		operation{name: "Reshape", draw: func(s *sketch) []*G.Node {
			x := s.array()
			return one(G.Reshape(x, s.factors(x.Shape().TotalSize())))
		}},
		operation{name: "Ravel", draw: func(s *sketch) []*G.Node { return one(G.Ravel(s.array())) }},
		operation{name: "Transpose", draw: func(s *sketch) []*G.Node {
			x := s.array()
			if s.chance(0.3) {
				return one(G.Transpose(x))
			}
			return one(G.Transpose(x, s.Perm(x.Dims())...))
		}},
		operation{name: "Slice", draw: func(s *sketch) []*G.Node {
			x := s.array()
			return one(G.Slice(x, s.cuts(x.Shape())...))
		}},
		operation{name: "Concat", draw: func(s *sketch) []*G.Node {
			x := s.array()
			axis := s.IntN(x.Dims())
			list := []*G.Node{x}
			for range 1 + s.IntN(2) {
				other := x.Shape().Clone()
				other[axis] = 1 + s.IntN(3)
				list = append(list, s.shaped(other...))
			}
			return one(G.Concat(axis, list...))
		}},
		operation{name: "Unconcat", draw: func(s *sketch) []*G.Node {
			x := s.array()
			axis := s.IntN(x.Dims())
			n := x.Shape()[axis]
			parts, err := G.Unconcat(x, axis, []int{1, n}[s.IntN(2)])
			if err != nil {
				panic(err)
			}
			return parts
		}},
		operation{name: "At", draw: func(s *sketch) []*G.Node {
			x := s.array()
			at := make([]int, x.Dims())
			for i, d := range x.Shape() {
				at[i] = s.IntN(d)
			}
			return one(G.At(x, at...))
		}},
		operation{name: "SizeOf", draw: func(s *sketch) []*G.Node {
			x := s.array()
			n := must(G.SizeOf(s.IntN(x.Dims()), x)) // an argument of binary operations alone
			return one(G.HadamardProd(s.ranked(0), n))
		}},
		operation{name: "KeepDims", draw: func(s *sketch) []*G.Node {
			x := s.ranked(2 + s.IntN(2))
			return one(G.KeepDims(x, s.chance(0.5), func(a *G.Node) (*G.Node, error) { return G.Sum(a, s.IntN(x.Dims())) }))
		}},
		operation{name: "DiagFlat", none: true, draw: func(s *sketch) []*G.Node {
			return one(G.DiagFlat(s.having(func(a gt.Shape) bool { return a.TotalSize() > 1 && a.TotalSize() < 8 }, func() gt.Shape { return gt.Shape{2 + s.IntN(3)} })))
		}},
		operation{name: "ByIndices", wrong: true, draw: func(s *sketch) []*G.Node {
			x := s.array()
			axis := s.IntN(x.Dims())
			at := make([]int, 1+s.IntN(4))
			for i := range at {
				at[i] = s.IntN(x.Shape()[axis])
			}
			return one(G.ByIndices(x, s.whole(at, len(at)), axis))
		}},
		operation{name: "Upsample2D", draw: func(s *sketch) []*G.Node { return one(G.Upsample2D(s.ranked(4), 1+s.IntN(3))) }},
	)
}

// axes draws some axes of a shape, in order; none means all.
func (s *sketch) axes(shape gt.Shape) []int {
	var axes []int
	for i := range shape {
		if s.chance(0.5) {
			axes = append(axes, i)
		}
	}
	return axes
}

// factors draws a shape of n elements.
func (s *sketch) factors(n int) gt.Shape {
	shape := gt.Shape{}
	for _, f := range []int{2, 2, 2, 3, 3} {
		if n%f == 0 && len(shape) < 3 {
			shape, n = append(shape, f), n/f
		}
	}
	shape = append(shape, n)
	s.Shuffle(len(shape), func(i, k int) { shape[i], shape[k] = shape[k], shape[i] })
	return shape
}

// cuts draws a part of each axis: all of it, a range, one with a step, or one
// element.
func (s *sketch) cuts(shape gt.Shape) []gt.Slice {
	cuts := make([]gt.Slice, 1+s.IntN(len(shape)))
	for i := range cuts {
		from, to := s.IntN(shape[i]), s.IntN(shape[i])
		from, to = min(from, to), max(from, to)+1
		switch s.IntN(4) {
		case 0:
			cuts[i] = G.S(from, to)
		case 1:
			cuts[i] = G.S(from)
		case 2:
			cuts[i] = G.S(from, to, 2)
		}
	}
	return slices.Clip(cuts)
}
