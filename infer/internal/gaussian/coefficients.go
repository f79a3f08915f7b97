// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gaussian

import (
	"cmp"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
)

// coefficients are numbers times elements of a node, one for each element of an array. Arrays that repeat few values have a short base.
type coefficients struct {
	number []float64
	base   *ad.Node // in a row, nil for 1
	at     []int    // element of base, nil without base
	of     []factor // whose product an element of base is, where it is known
}

// factor is an array, of which each coefficient has an element as a factor.
type factor struct {
	node *ad.Node // in a row
	at   []int
}

// factors lists the factors of the coefficients beside their numbers.
func (c *coefficients) factors() []factor {
	if c.of == nil && c.base != nil {
		return []factor{{c.base, c.at}}
	}
	return c.of
}

// coefficients returns the elements of a node that does not depend on x.
func (s *sight) coefficients(n *ad.Node) *coefficients {
	if c := s.coefs[n]; c != nil {
		return c
	}
	c := s.collect(n)
	s.coefs[n] = c
	return c
}

func (s *sight) collect(n *ad.Node) *coefficients {
	if v := constant(n); v != nil {
		return &coefficients{number: v}
	}
	whole := &coefficients{number: ones(n.Size()), base: graph.Row(n), at: numbers(n.Size())}
	if n.Size() == 1 || n.Op() == nil {
		return whole
	}
	in := n.In()
	operand := func(k int) *coefficients {
		return s.coefficients(in[k]).selected(spread(in[k].Shape(), n.Shape()))
	}
	switch n.Op().Name {
	case "reshape", "permute", "broadcast", "slice", "gather":
		if from, ok := taken(n, 0); ok && !slices.Contains(from, -1) {
			return s.coefficients(in[0]).selected(from)
		}
	case "neg":
		return operand(0).times(&coefficients{number: slices.Repeat([]float64{-1}, n.Size())})
	case "mul":
		if c := operand(0).times(operand(1)); c.short() {
			return c
		}
	case "div":
		if c := operand(0).times(operand(1).inverse()); c.short() {
			return c
		}
	case "square":
		if c := operand(0); c.short() {
			return c.times(c)
		}
	case "add", "sub", "where":
		var list []*coefficients
		for k := range in {
			list = append(list, operand(k))
		}
		if c := together(n.Op().Name, list); c.short() {
			return c
		}
	}
	return whole
}

// short reports whether the base has fewer elements than the array.
func (c *coefficients) short() bool { return c.base == nil || c.base.Size() < len(c.number) }

// selected returns the coefficients from[i].
func (c *coefficients) selected(from []int) *coefficients {
	out := &coefficients{number: picked(c.number, from), base: c.base, at: picked(c.at, from)}
	for _, f := range c.of {
		out.of = append(out.of, factor{f.node, picked(f.at, from)})
	}
	return out
}

// picked returns the elements from[i] of a list that is there.
func picked[T any](list []T, from []int) []T {
	if list == nil {
		return nil
	}
	out := make([]T, len(from))
	for i, k := range from {
		out[i] = list[k]
	}
	return out
}

func (c *coefficients) inverse() *coefficients {
	out := &coefficients{number: make([]float64, len(c.number)), base: c.base, at: c.at}
	for i, v := range c.number {
		out.number[i] = 1 / v
	}
	if c.base != nil {
		out.base = ad.Div(ad.Scalar(1), c.base)
	}
	for _, f := range c.of {
		out.of = append(out.of, factor{ad.Div(ad.Scalar(1), f.node), f.at})
	}
	return out
}

// times returns the products of coefficients, with one element of the base for each pair of elements that occurs.
func (c *coefficients) times(o *coefficients) *coefficients {
	out := &coefficients{number: make([]float64, len(c.number)), base: cmp.Or(c.base, o.base), at: c.at, of: slices.Concat(c.factors(), o.factors())}
	for i := range out.number {
		out.number[i] = c.number[i] * o.number[i]
	}
	if c.base == nil {
		out.at = o.at
	}
	if c.base == nil || o.base == nil {
		return out
	}
	pairs, first, second := map[[2]int]int{}, []int(nil), []int(nil)
	out.at = make([]int, len(c.at))
	for i := range c.at {
		pair := [2]int{c.at[i], o.at[i]}
		k, known := pairs[pair]
		if !known {
			k = len(first)
			pairs[pair] = k
			first, second = append(first, pair[0]), append(second, pair[1])
		}
		out.at[i] = k
	}
	out.base = ad.Mul(gathered(c.base, first), gathered(o.base, second))
	return out
}

// together returns the results of an operation, with one element of the base for each set of operands that occurs.
func together(operation string, list []*coefficients) *coefficients {
	type operand struct {
		number float64
		at     int
	}
	sets, first := map[[3]operand]int{}, []int(nil)
	out := &coefficients{number: ones(len(list[0].number)), at: make([]int, len(list[0].number))}
	for i := range out.at {
		var set [3]operand
		for k, c := range list {
			if set[k].number = c.number[i]; c.base != nil {
				set[k].at = c.at[i]
			}
		}
		j, known := sets[set]
		if !known {
			j = len(first)
			sets[set], first = j, append(first, i)
		}
		out.at[i] = j
	}
	var v []*ad.Node
	for _, c := range list {
		v = append(v, c.selected(first).node())
	}
	switch operation {
	case "add":
		out.base = ad.Add(v[0], v[1])
	case "sub":
		out.base = ad.Sub(v[0], v[1])
	default:
		out.base = ad.Where(v[0], v[1], v[2])
	}
	return out
}

// gathered returns elements of a row.
func gathered(row *ad.Node, at []int) *ad.Node {
	if len(at) == row.Size() && slices.Equal(at, numbers(row.Size())) {
		return row
	}
	return ad.Gather(row, ad.Ints(at), 0)
}

// node returns the coefficients in a row.
func (c *coefficients) node() *ad.Node {
	switch {
	case c.base == nil:
		return ad.Const(c.number)
	case c.base.Size() == 1:
		return ad.Mul(ad.Const(c.number), c.base)
	}
	v := gathered(c.base, c.at)
	if !slices.ContainsFunc(c.number, func(x float64) bool { return x != 1 }) {
		return v
	}
	return ad.Mul(ad.Const(c.number), v)
}
