package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/tensor"
)

// simplify applies the algebra of op to inputs whose broadcast is shape. Rules
// keep the value except for rounding; none replaces x*0, and constants join only
// where they are moderate, so that no product or sum leaves the range that the
// separate operations would have stayed in.
func (r *rewriter) simplify(op *Op, shape tensor.Shape, in []*value) *value {
	for _, x := range in {
		if _, ok := x.number(); !ok {
			if rule := rules[op]; rule != nil {
				if v := rule(r, shape, in); v != nil {
					return v
				}
			}
			break
		}
	}
	return r.raw(op, shape, in...)
}

// rules holds, for an operation, the function that returns a simpler equal
// value, or nil.
var rules map[*Op]func(r *rewriter, s tensor.Shape, in []*value) *value

func init() {
	type rule = func(r *rewriter, s tensor.Shape, in []*value) *value
	rules = map[*Op]rule{
		addOp:    simplifyAdd,
		subOp:    simplifySub,
		mulOp:    simplifyMul,
		divOp:    simplifyDiv,
		negOp:    simplifyNeg,
		powOp:    simplifyPow,
		logOp:    simplifyLog,
		stopOp:   func(_ *rewriter, _ tensor.Shape, in []*value) *value { return in[0] },
		squareOp: evenRule(squareOp),
		absOp:    evenRule(absOp),
		coshOp:   evenRule(coshOp),
		cosOp:    evenRule(cosOp),
		log1pOp: func(r *rewriter, s tensor.Shape, in []*value) *value {
			if in[0].is(expOp) {
				return r.raw(softplusOp, s, in[0].in[0])
			}
			return nil
		},
	}
}

// evenRule drops a minus inside an even function.
func evenRule(op *Op) func(r *rewriter, s tensor.Shape, in []*value) *value {
	return func(r *rewriter, s tensor.Shape, in []*value) *value {
		if in[0].is(negOp) {
			return r.raw(op, s, in[0].in[0])
		}
		return nil
	}
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
	case isNum && c == 0 && fits(b, s):
		return b
	case isNum && c == -1 && b.is(expOp) && fits(b, s):
		return r.raw(expm1Op, s, b.in[0])
	case isNum && b.is(addOp) && math.Abs(c) < 1e6:
		if d, ok := b.in[0].number(); ok && math.Abs(d) < 1e6 {
			return r.elementwise(addOp, r.num(c+d), b.in[1])
		}
		if d, ok := b.in[1].number(); ok && math.Abs(d) < 1e6 {
			return r.elementwise(addOp, r.num(c+d), b.in[0])
		}
	case b.is(negOp):
		return r.elementwise(subOp, a, b.in[0])
	case a.is(negOp):
		return r.elementwise(subOp, b, a.in[0])
	}
	return nil
}

func simplifySub(r *rewriter, s tensor.Shape, in []*value) *value {
	a, b := in[0], in[1]
	if c, ok := b.number(); ok {
		return r.elementwise(addOp, r.num(-c), r.broadcast(a, s))
	}
	switch {
	case a.isNumber(0) && fits(b, s):
		return r.elementwise(negOp, b)
	case b.is(negOp):
		return r.elementwise(addOp, a, b.in[0])
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
		return r.elementwise(squareOp, a)
	case isNum && c == 1 && fits(b, s):
		return b
	case isNum && c == -1:
		return r.elementwise(negOp, r.broadcast(b, s))
	case isNum && b.is(negOp):
		return r.elementwise(mulOp, r.num(-c), r.broadcast(b.in[0], s))
	case isNum && b.is(mulOp) && moderate(c):
		if d, ok := b.in[0].number(); ok && moderate(d) {
			return r.elementwise(mulOp, r.num(c*d), r.broadcast(b.in[1], s))
		}
		if d, ok := b.in[1].number(); ok && moderate(d) {
			return r.elementwise(mulOp, r.num(c*d), r.broadcast(b.in[0], s))
		}
	case a.is(negOp):
		return r.elementwise(negOp, r.elementwise(mulOp, a.in[0], b))
	case b.is(negOp):
		return r.elementwise(negOp, r.elementwise(mulOp, a, b.in[0]))
	}
	return nil
}

func simplifyDiv(r *rewriter, s tensor.Shape, in []*value) *value {
	a, b := in[0], in[1]
	switch {
	case b.isNumber(1) && fits(a, s):
		return a
	case invertible(b):
		return r.elementwise(mulOp, r.raw(reciprocalOp, b.shape, b), a)
	case a.isNumber(1) && fits(b, s):
		return r.elementwise(reciprocalOp, b)
	case a.is(negOp):
		return r.elementwise(negOp, r.elementwise(divOp, a.in[0], b))
	}
	return nil
}

// invertible reports whether v is constant and every 1/v is a normal number,
// exact enough to multiply with: powers of two exactly, others to one rounding.
func invertible(v *value) bool {
	c, ok := v.number()
	if ok {
		return normal(c) && normal(1/c)
	}
	if !v.constant() || len(v.data) > foldLimit {
		return false
	}
	for _, c := range v.data {
		if !normal(c) || !normal(1/c) {
			return false
		}
	}
	return true
}

func normal(c float64) bool { a := math.Abs(c); return a > 1e-30 && a < 1e30 }

// moderate numbers may be joined in either precision: products of two and of
// their inverses are normal.
func moderate(c float64) bool { a := math.Abs(c); return a > 1e-9 && a < 1e9 }

func simplifyNeg(r *rewriter, s tensor.Shape, in []*value) *value {
	x := in[0]
	switch {
	case x.is(negOp):
		return x.in[0]
	case x.is(subOp):
		return r.elementwise(subOp, x.in[1], x.in[0])
	case x.is(mulOp):
		if c, ok := x.in[0].number(); ok {
			return r.elementwise(mulOp, r.num(-c), r.broadcast(x.in[1], s))
		}
		if c, ok := x.in[1].number(); ok {
			return r.elementwise(mulOp, r.num(-c), r.broadcast(x.in[0], s))
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
		return r.elementwise(squareOp, in[0])
	case 3:
		return r.elementwise(mulOp, in[0], r.elementwise(squareOp, in[0]))
	case -1:
		return r.elementwise(reciprocalOp, in[0])
	}
	return nil
}

// simplifyLog turns log(1 + x) into log1p(x).
func simplifyLog(r *rewriter, s tensor.Shape, in []*value) *value {
	x := in[0]
	if !x.is(addOp) {
		return nil
	}
	for i, a := range x.in {
		if a.isNumber(1) {
			return r.elementwise(log1pOp, r.broadcast(x.in[1-i], s))
		}
	}
	return nil
}
