// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// user returns the value whose inputs v's operation reads: the product fused
// into v, or v.
func (l *lowering) user(v *Value) *Value {
	if v.is(Sum) && l.inside(v, v.In[0]) && l.of(v.In[0].Layout.Root).fused {
		return v.In[0].Layout.Root
	}
	return v
}

// fuseSums marks x*y and x^2 whose only user is a sum.
func (l *lowering) fuseSums() {
	if !slices.ContainsFunc(l.c.values, func(v *Value) bool { return v.is(Sum) }) {
		return
	}
	for _, v := range l.c.values {
		for _, x := range v.In {
			if r := x.Layout.Root; r.Place.cluster == l.c {
				l.of(r).uses++
			}
		}
	}
	for _, v := range l.c.values {
		if !v.is(Sum) || !l.inside(v, v.In[0]) {
			continue
		}
		p := v.In[0].Layout.Root
		if p.Place.escapes || l.of(p).uses != 1 || !(p.is(Mul) || p.is(Square)) {
			continue
		}
		full := true // repeated inputs are cheaper as a product with one number
		for _, x := range p.In {
			full = full && squeeze(x.Shape).Equal(l.c.space)
		}
		l.of(p).fused = full && l.wholeRows(v) || l.overRows(v)
	}
}

// overRows reports whether the sum adds whole rows to each other.
func (l *lowering) overRows(v *Value) bool {
	s := l.merged(l.sumStrides(v))
	return l.ByRow && s[len(s)-1] == 1
}

// wholeRows reports whether the sum's tile is reduced as a whole.
func (l *lowering) wholeRows(v *Value) bool {
	s := l.merged(l.sumStrides(v))
	return len(l.Dims) == 1 && s[0] == 0 || l.ByRow && s[len(s)-1] == 0
}

func (l *lowering) emitSum(v *Value) {
	s := Reduce{Op: v.Op, Out: v.Place.Buf, Size: v.Size(), Strides: l.merged(l.sumStrides(v))}
	u := l.user(v)
	switch {
	case u != v && l.overRows(v):
		l.sumProducts(&s, u)
	case u != v && u.is(Square):
		s.Of = Squares
	case u != v:
		s.Of, s.B = Products, l.filled(l.operandOf(u, u.In[1]))
	}
	if u == v || !l.overRows(v) {
		s.A = l.filled(l.operandOf(u, u.In[0]))
	}
	k := len(l.Dims) - 1
	switch {
	case s.Size == 1:
		s.Kind = Total
	case l.ByRow && s.Strides[k] == 0 && Packed(tensor.Shape(l.Dims[:k]), s.Strides[:k]):
		s.Kind = PerRow
	default:
		s.Kind = Scattered
	}
	l.Sums = append(l.Sums, s)
}

// sumProducts makes s the sum over rows of a product or square u.
func (l *lowering) sumProducts(s *Reduce, u *Value) {
	s.Of = RowProducts
	s.A = l.operandOf(u, u.In[0])
	s.B = l.operandOf(u, u.In[len(u.In)-1])
	if l.isOne(s.A) {
		s.A, s.B = s.B, s.A
	}
	if s.A = l.filled(s.A); l.isOne(s.B) {
		s.Of = RowNumbers
	}
}
