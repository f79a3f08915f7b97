// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// simplify applies the algebra of op to inputs whose broadcast is shape. What a
// rule may change is said in the comment of package autodiff, under Rewriting.
func (r *Graph) simplify(op *Op, shape tensor.Shape, in []*Value) *Value {
	for _, x := range in {
		if _, ok := x.number(); !ok {
			if v := r.simpler(op, shape, in); v != nil {
				return v
			}
			break
		}
	}
	return r.raw(op, shape, in...)
}

// simpler returns a simpler value equal to op(in...), or nil.
func (r *Graph) simpler(op *Op, s tensor.Shape, in []*Value) *Value {
	switch op.Code {
	case Add:
		return simplifyAdd(r, s, in)
	case Sub:
		return simplifySub(r, s, in)
	case Mul:
		return simplifyMul(r, s, in)
	case Div:
		return simplifyDiv(r, s, in)
	case Neg:
		return simplifyNeg(r, s, in)
	case Pow:
		return simplifyPow(r, s, in)
	case Log:
		return simplifyLog(r, s, in)
	case Where:
		return simplifyWhere(r, s, in)
	case Stop:
		return in[0]
	case Square, Abs, Cosh, Cos: // even: a minus inside is dropped
		if in[0].is(Neg) {
			return r.raw(op, s, in[0].In[0])
		}
	}
	return nil
}

// fits reports whether x alone already has the shape of the result.
func fits(x *Value, s tensor.Shape) bool { return x.Shape.Equal(s) }

func simplifyAdd(r *Graph, s tensor.Shape, in []*Value) *Value {
	a, b := in[0], in[1]
	if _, ok := b.number(); ok {
		a, b = b, a // a number stands left
	}
	c, isNum := a.number()
	switch {
	case isNum && c == 0 && math.Signbit(c) && fits(b, s): // +0 would change -0
		return b
	case isNum && c == -1 && b.is(Exp) && fits(b, s):
		return r.raw(coded[Expm1], s, b.In[0])
	case isNum && b.is(Add):
		for i, x := range b.In {
			if d, ok := x.number(); ok && addable(c, d) {
				return r.apply(Add, r.num(c+d), b.In[1-i])
			}
		}
	case b.is(Neg):
		return r.apply(Sub, a, b.In[0])
	case a.is(Neg):
		return r.apply(Sub, b, a.In[0])
	}
	return nil
}

// addable reports whether c+(d+x) may be computed as (c+d)+x: the sum of both must
// be exact in either precision, since x may cancel what is larger than the result.
func addable(c, d float64) bool {
	exact := func(v float64) bool { return math.Abs(v) < 1e6 && v == float64(float32(v)) }
	return exact(c) && exact(d) && exact(c+d) && c+d-c == d && c+d-d == c
}

func simplifySub(r *Graph, s tensor.Shape, in []*Value) *Value {
	a, b := in[0], in[1]
	if c, ok := b.number(); ok {
		return r.apply(Add, r.num(-c), r.broadcast(a, s))
	}
	if b.is(Neg) {
		return r.apply(Add, a, b.In[0])
	}
	return nil
}

func simplifyMul(r *Graph, s tensor.Shape, in []*Value) *Value {
	a, b := in[0], in[1]
	if _, ok := b.number(); ok {
		a, b = b, a
	}
	c, isNum := a.number()
	switch {
	case a == b:
		return r.apply(Square, a)
	case isNum && c == 1 && fits(b, s):
		return b
	case isNum && c == -1:
		return r.apply(Neg, r.broadcast(b, s))
	case isNum && b.is(Neg):
		return r.apply(Mul, r.num(-c), r.broadcast(b.In[0], s))
	case isNum && b.is(Mul):
		for i, x := range b.In {
			if d, ok := x.number(); ok && joinable(c, d) {
				return r.apply(Mul, r.num(c*d), r.broadcast(b.In[1-i], s))
			}
		}
	case a.is(Neg):
		return r.apply(Neg, r.apply(Mul, a.In[0], b))
	case b.is(Neg):
		return r.apply(Neg, r.apply(Mul, a, b.In[0]))
	}
	times := func(g, m *Value) *Value { return r.apply(Mul, g, m) }
	if v := r.beforeScatter(s, a, b, times); v != nil {
		return v
	}
	return r.beforeScatter(s, b, a, times)
}

// simplifyWhere finds scattered numbers of which some become 0.
func simplifyWhere(r *Graph, s tensor.Shape, in []*Value) *Value {
	c, a, b := in[0], in[1], in[2]
	if !b.isNumber(0) {
		return nil
	}
	return r.beforeScatter(s, a, c, func(g, m *Value) *Value { return r.apply(Where, m, g, b) })
}

func simplifyDiv(r *Graph, s tensor.Shape, in []*Value) *Value {
	a, b := in[0], in[1]
	switch {
	case b.isNumber(1) && fits(a, s):
		return a
	case invertible(b):
		return r.apply(Mul, r.raw(coded[Reciprocal], b.Shape, b), a)
	case a.isNumber(1) && fits(b, s):
		return r.apply(Reciprocal, b)
	case a.is(Neg):
		return r.apply(Neg, r.apply(Div, a.In[0], b))
	}
	return nil
}

// invertible reports whether v is constant and every element a power of two
// with a normal inverse in either precision: a product with it is the quotient.
func invertible(v *Value) bool {
	if c, ok := v.number(); ok {
		return powerOfTwo(c)
	}
	if !v.constant() || len(v.Data) > foldLimit {
		return false
	}
	return !slices.ContainsFunc(v.Data, func(c float64) bool { return !powerOfTwo(c) })
}

func powerOfTwo(c float64) bool {
	m, e := math.Frexp(math.Abs(c))
	return m == 0.5 && -100 < e && e < 100
}

// joinable reports whether c*(d*x) may be computed as (c*d)*x: no overflow of d*x
// must get lost, so d is at most 1 or c at least 1 in size, and the product of
// both must be normal in either precision.
func joinable(c, d float64) bool {
	c, d = math.Abs(c), math.Abs(d)
	return moderate(c) && moderate(d) && (d <= 1 || c >= 1)
}

func moderate(c float64) bool { return c > 1e-9 && c < 1e9 }

func simplifyNeg(r *Graph, s tensor.Shape, in []*Value) *Value {
	x := in[0]
	switch {
	case x.is(Neg):
		return x.In[0]
	case x.is(Mul):
		if c, ok := x.In[0].number(); ok {
			return r.apply(Mul, r.num(-c), r.broadcast(x.In[1], s))
		}
		if c, ok := x.In[1].number(); ok {
			return r.apply(Mul, r.num(-c), r.broadcast(x.In[0], s))
		}
	}
	return nil
}

func simplifyPow(r *Graph, s tensor.Shape, in []*Value) *Value {
	c, ok := in[1].number()
	if !ok || !fits(in[0], s) {
		return nil
	}
	switch c {
	case 1:
		return in[0]
	case 2:
		return r.apply(Square, in[0])
	case 3:
		return r.apply(Mul, in[0], r.apply(Square, in[0]))
	case -1:
		return r.apply(Reciprocal, in[0])
	}
	return nil
}

// simplifyLog turns log(1 + x) into log1p(x).
func simplifyLog(r *Graph, s tensor.Shape, in []*Value) *Value {
	x := in[0]
	if !x.is(Add) {
		return nil
	}
	for i, a := range x.In {
		if a.isNumber(1) {
			return r.apply(Log1p, r.broadcast(x.In[1-i], s))
		}
	}
	return nil
}
