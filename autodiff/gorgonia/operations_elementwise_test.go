// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"strings"

	G "gorgonia.org/gorgonia"
)

type (
	unaryFunc  = func(*G.Node) (*G.Node, error)
	binaryFunc = func(a, b *G.Node) (*G.Node, error)
)

// elementwise is the part of the table of operations that work on elements.
func elementwise() []operation {
	var list []operation
	unary := func(name string, f unaryFunc, argument func(s *sketch) *G.Node) {
		wrong := name == "Log2" || name == "InverseSqrt"
		list = append(list, operation{name: name, wrong: wrong, draw: func(s *sketch) []*G.Node { return one(f(argument(s))) }})
	}
	any := func(s *sketch) *G.Node { return s.any() }
	small := func(s *sketch) *G.Node { return s.small(s.any()) }
	positive := func(s *sketch) *G.Node { return s.positive(s.any()) }
	aside := func(s *sketch) *G.Node { return off(s, s.any()) }
	unary("Abs", G.Abs, any)
	unary("Sign", G.Sign, aside)
	unary("Ceil", G.Ceil, aside)
	unary("Floor", G.Floor, aside)
	unary("Sin", G.Sin, any)
	unary("Cos", G.Cos, any)
	unary("Exp", G.Exp, small)
	unary("Log", G.Log, positive)
	unary("Log2", G.Log2, positive)
	unary("Neg", G.Neg, any)
	unary("Square", G.Square, small)
	unary("Sqrt", G.Sqrt, positive)
	unary("Inverse", G.Inverse, positive)
	unary("InverseSqrt", G.InverseSqrt, positive)
	unary("Cube", G.Cube, small)
	unary("Tanh", G.Tanh, any)
	unary("Sigmoid", G.Sigmoid, any)
	unary("Log1p", G.Log1p, positive)
	unary("Expm1", G.Expm1, small)
	unary("Softplus", G.Softplus, any)
	unary("Mish", G.Mish, any)
	unary("Rectify", G.Rectify, any)
	list = append(list, operation{name: "LeakyRelu", draw: func(s *sketch) []*G.Node { return one(G.LeakyRelu(s.any(), 0.3*s.Float64())) }})

	binary := func(name string, f binaryFunc, left, right func(s *sketch, x *G.Node) *G.Node) {
		list = append(list, operation{name: name, draw: func(s *sketch) []*G.Node {
			a, b := s.pair()
			if strings.HasSuffix(name, "Between") { // of equal shapes alone
				b = s.shaped(a.Shape()...)
			}
			return one(f(left(s, a), right(s, b)))
		}})
	}
	same := func(s *sketch, x *G.Node) *G.Node { return x }
	smaller := func(s *sketch, x *G.Node) *G.Node { return s.small(x) }
	above := func(s *sketch, x *G.Node) *G.Node { return s.positive(x) }
	binary("Add", G.Add, same, same)
	binary("Sub", G.Sub, same, same)
	binary("HadamardProd", G.HadamardProd, smaller, smaller)
	binary("HadamardDiv", G.HadamardDiv, smaller, above)
	binary("Div", G.Div, smaller, above)
	binary("Pow", G.Pow, above, smaller)
	binary("MinBetween", G.MinBetween, same, same)
	binary("MaxBetween", G.MaxBetween, same, same)
	compare := func(name string, f func(a, b *G.Node, same bool) (*G.Node, error)) {
		list = append(list, operation{name: name, draw: func(s *sketch) []*G.Node {
			a, b := s.pair()
			if a != b {
				a = off(s, a)
			}
			return one(f(a, b, s.chance(0.8)))
		}})
	}
	compare("Lt", G.Lt)
	compare("Gt", G.Gt)
	compare("Lte", G.Lte)
	compare("Gte", G.Gte)
	compare("Eq", G.Eq)
	compare("Ne", G.Ne)
	return list
}

// off moves x to where rounding does not decide on which side of a step it falls.
func off(s *sketch, x *G.Node) *G.Node { return must(G.Add(x, s.constant(0.1, 0.9))) }

// pair draws two arguments of an elementwise operation: of one shape, or one of
// them a number; now and then a node twice.
func (s *sketch) pair() (a, b *G.Node) {
	a = s.any()
	switch k := s.IntN(10); {
	case k == 0:
		return a, a
	case k < 4:
		return a, s.ranked(0)
	case k < 6:
		return s.ranked(0), a
	}
	return a, s.shaped(a.Shape()...)
}
