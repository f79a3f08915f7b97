// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"math"

	"github.com/euryale-dev/euryale/tensor"
)

// beforeScatter applies f to numbers a that are scattered among zeros before they are scattered, if they are fewer then: f(a, m) must be 0
// where a is. So the gradient of a maximum of rectified numbers meets the comparisons m only where it comes to. It returns nil if a or m is
// something else.
func (r *Graph) beforeScatter(s tensor.Shape, a, m *Value, f func(a, m *Value) *Value) *Value {
	wide := a
	for wide.is(Reshape) {
		wide = wide.In[0]
	}
	if !wide.is(ScatterAlong) || !fits(a, s) || !m.compares() {
		return nil
	}
	g, at := wide.In[0], wide.In[1]
	if at.Size() != g.Size() || 2*g.Size() > wide.Size() {
		return nil
	}
	m = r.inside(m, func(x *Value) *Value {
		x = r.reshape(r.broadcast(x, s), wide.Shape)
		return r.unique(&Value{Op: coded[TakeAlong], Shape: g.Shape, Attr: wide.Attr, In: []*Value{x, at}})
	})
	g = f(g, r.broadcast(m, g.Shape))
	return r.reshape(r.unique(&Value{Op: wide.Op, Shape: wide.Shape, Attr: wide.Attr, In: []*Value{g, at}}), s)
}

// compares reports whether v is a comparison, or chosen by one from numbers and comparisons: whether it is always finite.
func (v *Value) compares() bool {
	choice := func(v *Value) bool {
		c, ok := v.number()
		return ok && !math.IsInf(c, 0) && c == c || v.compares()
	}
	return v.Op != nil && v.Op.Truth || v.is(Where) && choice(v.In[1]) && choice(v.In[2])
}

// inside returns a value that compares with what f makes of what it compares.
func (r *Graph) inside(v *Value, f func(x *Value) *Value) *Value {
	if _, ok := v.number(); ok {
		return v
	}
	if !v.compares() {
		return f(v)
	}
	in := make([]*Value, len(v.In))
	for i, x := range v.In {
		in[i] = r.inside(x, f)
	}
	return r.elementwise(v.Op, in...)
}
