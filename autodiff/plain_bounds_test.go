// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "math"

// bounded bounds the error of an elementwise operation n with value v at x.
func (p *plain) bounded(n *Node, v float64, x []element) element {
	u, tiny, largest := p.unit()
	out := element{v: v, signed: true}
	for _, e := range x {
		out.open = out.open || e.open
		out.signed = out.signed && (e.signed || e.v != 0)
	}
	a := x[0]
	b, constant := element{}, false
	if len(x) > 1 {
		b, constant = x[1], fromConstants(n.in[0]) || fromConstants(n.in[1])
	}
	rounding := u*math.Abs(v) + tiny
	switch n.op {
	case negOp, absOp, stopOp:
		out.err = a.err
	case addOp, subOp:
		out.err = a.err + b.err
		if n.op == addOp && p.exactSum(a.v, b.v) || n.op == subOp && p.exactSum(a.v, -b.v) {
			rounding = 0
		}
		out.err += rounding
	case mulOp, squareOp:
		if n.op == squareOp {
			b = a
		}
		out.err = math.Abs(a.v)*b.err + math.Abs(b.v)*a.err + a.err*b.err
		if a.v == 0 || b.v == 0 || math.Abs(a.v) == 1 || math.Abs(b.v) == 1 {
			rounding = 0
		}
		if out.err += rounding; constant {
			out.err += 2 * rounding // it may be multiplied by another constant first
		}
		out.burst = math.IsInf(v, 0) && math.Abs(a.v) <= largest && math.Abs(b.v) <= largest
	case divOp, reciprocalOp:
		if n.op == reciprocalOp {
			a, b = element{v: 1}, a
		}
		p.quotient(&out, a, b, rounding)
	case lessOp, equalOp, signOp:
		far := math.Abs(a.v-b.v) > a.err+b.err || a.err+b.err == 0 || a.v != a.v || b.v != b.v || a.v == b.v && math.IsInf(a.v, 0)
		out.open = out.open || !far
	case whereOp:
		chosen := x[2]
		if a.v != 0 {
			chosen = x[1]
		}
		out.err, out.open, out.signed = chosen.err, a.open || chosen.open, chosen.signed
	case maximumOp, minimumOp:
		out.err = max(a.err, b.err)
		out.signed = out.signed && out.err == 0
	case expOp:
		out.err = math.Abs(v)*math.Expm1(a.err) + 8*rounding
		out.open = out.open || a.err > 1
	case logOp, log1pOp:
		room := math.Abs(a.v)
		if n.op == log1pOp {
			room = math.Abs(1 + a.v)
		}
		out.err = 2*a.err/room + 8*rounding
		out.open = out.open || a.err > room/2 && a.err > 0
		out.signed = false // log1p keeps the sign of 0, the logarithm of 1 + 0 has none
	case expm1Op:
		out.err = (math.Abs(v)+1)*math.Expm1(a.err) + 8*rounding
		out.open = out.open || a.err > 1
	case powOp:
		if math.Abs(b.v) > 3 {
			p.t.Fatalf("power %g", b.v)
		}
		base := math.Abs(a.v)
		rel := a.err / base
		if a.err == 0 {
			rel = 0
		}
		out.err = math.Abs(v)*6*rel + 8*rounding
		out.open = out.open || rel > 0.1
	default:
		p.t.Fatalf("no bound for %s", n.op.Name)
	}
	if out.err != out.err || math.IsInf(out.err, 0) {
		out.err = 0
		out.open = out.open || a.err > 0 || b.err > 0
	}
	if out.err > 0 && v == 0 {
		out.signed = false
	}
	out.open = out.open || math.Abs(v) <= largest && math.Abs(v)+8*out.err+largest/1e6 > largest
	return out
}

func (p *plain) quotient(out *element, a, b element, rounding float64) {
	if b.err >= math.Abs(b.v)/2 && b.err > 0 || b.v == 0 && !b.signed {
		out.open = true
		return
	}
	if b.err > 0 {
		out.err = 2 * math.Abs(out.v) * b.err / math.Abs(b.v)
	}
	if a.err > 0 {
		out.err += 2 * a.err / math.Abs(b.v)
	}
	switch {
	case p.hoisted: // a product with the reciprocal
		out.err += 6 * rounding
		u, tiny, _ := p.unit()
		out.open = out.open || b.v != 0 && math.Abs(b.v) < tiny/(2*u)
	case a.err > 0 || b.err > 0:
		out.err += rounding
	}
}

// exactSum reports whether a + b is a number of the precision.
func (p *plain) exactSum(a, b float64) bool {
	s := a + b
	t := s - a
	return (a-(s-t))+(b-t) == 0 && (p.s.Precision == 64 || s == float64(float32(s)))
}
