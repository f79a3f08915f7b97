package autodiff

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// simplify applies the algebra of op to inputs whose broadcast is shape. What a
// rule may change is said in the package comment, under Rewriting.
func (r *rewriter) simplify(op *primitive, shape tensor.Shape, in []*value) *value {
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
func (r *rewriter) simpler(op *primitive, s tensor.Shape, in []*value) *value {
	switch op.Code {
	case codeAdd:
		return simplifyAdd(r, s, in)
	case codeSub:
		return simplifySub(r, s, in)
	case codeMul:
		return simplifyMul(r, s, in)
	case codeDiv:
		return simplifyDiv(r, s, in)
	case codeNeg:
		return simplifyNeg(r, s, in)
	case codePow:
		return simplifyPow(r, s, in)
	case codeLog:
		return simplifyLog(r, s, in)
	case codeStop:
		return in[0]
	case codeSquare, codeAbs, codeCosh, codeCos: // even: a minus inside is dropped
		if in[0].is(codeNeg) {
			return r.raw(op, s, in[0].in[0])
		}
	}
	return nil
}

// fits reports whether x alone already has the shape of the result.
func fits(x *value, s tensor.Shape) bool { return x.shape.Equal(s) }

func simplifyAdd(r *rewriter, s tensor.Shape, in []*value) *value {
	a, b := in[0], in[1]
	if _, ok := b.number(); ok {
		a, b = b, a // a number stands left
	}
	c, isNum := a.number()
	switch {
	case isNum && c == 0 && math.Signbit(c) && fits(b, s): // +0 would change -0
		return b
	case isNum && c == -1 && b.is(codeExp) && fits(b, s):
		return r.raw(coded[codeExpm1], s, b.in[0])
	case isNum && b.is(codeAdd):
		for i, x := range b.in {
			if d, ok := x.number(); ok && addable(c, d) {
				return r.apply(codeAdd, r.num(c+d), b.in[1-i])
			}
		}
	case b.is(codeNeg):
		return r.apply(codeSub, a, b.in[0])
	case a.is(codeNeg):
		return r.apply(codeSub, b, a.in[0])
	}
	return nil
}

// addable reports whether c+(d+x) may be computed as (c+d)+x: the sum of both must
// be exact in either precision, since x may cancel what is larger than the result.
func addable(c, d float64) bool {
	exact := func(v float64) bool { return math.Abs(v) < 1e6 && v == float64(float32(v)) }
	return exact(c) && exact(d) && exact(c+d) && c+d-c == d && c+d-d == c
}

func simplifySub(r *rewriter, s tensor.Shape, in []*value) *value {
	a, b := in[0], in[1]
	if c, ok := b.number(); ok {
		return r.apply(codeAdd, r.num(-c), r.broadcast(a, s))
	}
	if b.is(codeNeg) {
		return r.apply(codeAdd, a, b.in[0])
	}
	return nil
}

func simplifyMul(r *rewriter, s tensor.Shape, in []*value) *value {
	a, b := in[0], in[1]
	if _, ok := b.number(); ok {
		a, b = b, a
	}
	c, isNum := a.number()
	switch {
	case a == b:
		return r.apply(codeSquare, a)
	case isNum && c == 1 && fits(b, s):
		return b
	case isNum && c == -1:
		return r.apply(codeNeg, r.broadcast(b, s))
	case isNum && b.is(codeNeg):
		return r.apply(codeMul, r.num(-c), r.broadcast(b.in[0], s))
	case isNum && b.is(codeMul):
		for i, x := range b.in {
			if d, ok := x.number(); ok && joinable(c, d) {
				return r.apply(codeMul, r.num(c*d), r.broadcast(b.in[1-i], s))
			}
		}
	case a.is(codeNeg):
		return r.apply(codeNeg, r.apply(codeMul, a.in[0], b))
	case b.is(codeNeg):
		return r.apply(codeNeg, r.apply(codeMul, a, b.in[0]))
	}
	return nil
}

func simplifyDiv(r *rewriter, s tensor.Shape, in []*value) *value {
	a, b := in[0], in[1]
	switch {
	case b.isNumber(1) && fits(a, s):
		return a
	case invertible(b):
		return r.apply(codeMul, r.raw(coded[codeReciprocal], b.shape, b), a)
	case a.isNumber(1) && fits(b, s):
		return r.apply(codeReciprocal, b)
	case a.is(codeNeg):
		return r.apply(codeNeg, r.apply(codeDiv, a.in[0], b))
	}
	return nil
}

// invertible reports whether v is constant and every element a power of two
// with a normal inverse in either precision: a product with it is the quotient.
func invertible(v *value) bool {
	if c, ok := v.number(); ok {
		return powerOfTwo(c)
	}
	if !v.constant() || len(v.data) > foldLimit {
		return false
	}
	return !slices.ContainsFunc(v.data, func(c float64) bool { return !powerOfTwo(c) })
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

func simplifyNeg(r *rewriter, s tensor.Shape, in []*value) *value {
	x := in[0]
	switch {
	case x.is(codeNeg):
		return x.in[0]
	case x.is(codeMul):
		if c, ok := x.in[0].number(); ok {
			return r.apply(codeMul, r.num(-c), r.broadcast(x.in[1], s))
		}
		if c, ok := x.in[1].number(); ok {
			return r.apply(codeMul, r.num(-c), r.broadcast(x.in[0], s))
		}
	}
	return nil
}

func simplifyPow(r *rewriter, s tensor.Shape, in []*value) *value {
	c, ok := in[1].number()
	if !ok || !fits(in[0], s) {
		return nil
	}
	switch c {
	case 1:
		return in[0]
	case 2:
		return r.apply(codeSquare, in[0])
	case 3:
		return r.apply(codeMul, in[0], r.apply(codeSquare, in[0]))
	case -1:
		return r.apply(codeReciprocal, in[0])
	}
	return nil
}

// simplifyLog turns log(1 + x) into log1p(x).
func simplifyLog(r *rewriter, s tensor.Shape, in []*value) *value {
	x := in[0]
	if !x.is(codeAdd) {
		return nil
	}
	for i, a := range x.in {
		if a.isNumber(1) {
			return r.apply(codeLog1p, r.broadcast(x.in[1-i], s))
		}
	}
	return nil
}
