// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// Exponentials. x = k ln 2 + r with |r| <= ln(2)/2; exp(r) = 1 + r + r^2 q(r).

func exponentials() []kernel {
	return elementary(map[string]func(machine, vec) vec{
		"exp":           machine.exp,
		"exp2":          machine.exp2,
		"expm1":         machine.expm1,
		"sigmoid":       machine.sigmoid,
		"sigmoid_slope": machine.sigmoidSlope,
		"softplus":      machine.softplus,
		"tanh":          machine.tanh,
	})
}

// elementary wraps bodies of one operand into kernels.
func elementary(bodies map[string]func(machine, vec) vec) []kernel {
	var ks []kernel
	for name, f := range bodies {
		ks = append(ks, kernel{name: name, args: []string{"a"}, scalar: -1,
			body: func(m machine, x []vec) vec { return f(m, x[0]) }})
	}
	return ks
}

func (m machine) table(d, s []float64) []float64 {
	if m.double {
		return d
	}
	return s
}

// ln2 in two parts.
func (m machine) ln2hi() constant { return m.num(math.Ln2) }
func (m machine) ln2lo() constant { return m.pick(2.3190468138462996e-17, -1.904654299957768e-09) }

// reduce splits x into the nearest integer to x/ln 2 (kf, and k with the integer in its low bits) and the rest r.
func (m machine) reduce(x vec) (r, kf, k vec) {
	k = m.fma(x, m.num(math.Log2E), m.load(m.magic()))
	kf = m.sub(k, m.magic())
	r = m.fnma(kf, m.ln2hi(), x)
	return m.fnma(kf, m.ln2lo(), r), kf, k
}

// expm1Small is exp(r) - 1 for |r| <= ln(2)/2.
func (m machine) expm1Small(r vec) vec {
	r2 := m.mul(r, r)
	return m.fma(m.poly(r, r2, m.table(exp64, exp32)), r2, r)
}

// scale is p * 2^kf with one rounding, also where the result is subnormal or overflows.
func (m machine) scale(p, kf vec) vec {
	if m.wide {
		r := m.new()
		m.do("scalef", kf, p, r)
		return r
	}
	h := m.fma(kf, m.num(0.5), m.load(m.magic())) // half of k, to the nearest integer
	rest := m.add(m.sub(kf, m.sub(h, m.magic())), m.magic())
	return m.mul(m.mul(p, m.power(h)), m.power(rest))
}

// power is 2^k for an integer in the low bits of k, in the range of normal numbers.
func (m machine) power(k vec) vec {
	return m.iadd(m.shl(k, m.mantissa()), m.num(1))
}

func (m machine) mantissa() int {
	if m.double {
		return 52
	}
	return 23
}

// least is the smallest exponent of normal numbers, and tiny one below which 1 + 2^k is 1 to all digits and more.
func (m machine) least() constant { return m.pick(-1022, -126) }
func (m machine) tiny() constant  { return m.pick(-900, -60) }

// scaled is scale for results that may be subnormal, of p above 1/100.
func (m machine) scaled(p, kf vec) vec {
	normal := m.pick(-1015, -119)
	return m.below(normal, m.scale(p, m.max(normal, kf)), p, kf)
}

// below replaces r by p * 2^kf in the lanes where kf is below a limit. Processors take a hundred times as long over an
// instruction with a subnormal result, as 0 by underflow is too, so that the bits of subnormal numbers are made as integers: the
// nearest one to p * 2^(kf - smallest), which adding 2^mantissa leaves in the low bits.
func (m machine) below(limit constant, r, p, kf vec) vec {
	labels++
	end := fmt.Sprintf("above%d", labels)
	low := m.cmp(kf, lt, limit)
	switch {
	case m.wide:
		KORTESTW(low, low)
	case m.double:
		VTESTPD(low, low)
	default:
		VTESTPS(low, low)
	}
	JZ(operand.LabelRef(end))
	subnormal := m.cmp(kf, lt, m.least())
	all := m.scale(p, m.blend(subnormal, m.num(0), kf))
	k := m.add(m.add(m.min(m.least(), kf), m.pick(1074, 149)), m.magic())
	one := m.load(m.pick(0x1p52, 0x1p23))
	bits := m.xor(m.add(m.mul(p, m.power(k)), one), one)
	m.do("move", m.blend(low, m.blend(subnormal, bits, all), r), r)
	Label(end)
	return r
}

// labels counts those of below.
var labels int

func (m machine) exp(x vec) vec {
	x = m.max(m.pick(-746, -104), m.min(m.pick(709.9, 89), x))
	r, kf, _ := m.reduce(x)
	return m.scaled(m.add(m.expm1Small(r), m.num(1)), kf)
}

func (m machine) exp2(x vec) vec {
	x = m.min(m.pick(1025, 129), x)
	x = m.max(m.pick(-1076, -151), x)
	kf := m.sub(m.add(x, m.magic()), m.magic())
	f := m.sub(x, kf) // exact
	hi := m.mul(f, m.ln2hi())
	lo := m.fma(f, m.ln2lo(), m.fms(f, m.ln2hi(), hi))
	r2 := m.mul(hi, hi)
	t := m.fma(m.poly(hi, r2, m.table(exp64, exp32)), r2, lo)
	return m.scaled(m.add(m.add(t, hi), m.num(1)), kf)
}

// expm1 is 2 (2^(k-1) (exp(r)-1) + (2^(k-1) - 1/2)); the half keeps k = 1024 in range.
func (m machine) expm1(x vec) vec {
	c := m.min(m.pick(709.9, 89), x)
	c = m.max(m.pick(-40, -20), c)
	r, _, k := m.reduce(c)
	q := m.expm1Small(r)
	half := m.iadd(m.shl(k, m.mantissa()), m.num(0.5))
	t := m.fma(half, q, m.sub(half, m.num(0.5)))
	return m.blend(m.cmp(m.abs(x), lt, m.pick(0x1p-54, 0x1p-25)), x, m.add(t, t))
}

// expParts is exp(x) = 2^kf (hi + lo) for x that cannot overflow.
func (m machine) expParts(x vec) (hi, lo, kf vec) {
	x = m.max(m.pick(-746, -104), x)
	r, kf, _ := m.reduce(x)
	t := m.expm1Small(r)
	hi = m.add(t, m.num(1))
	return hi, m.sub(t, m.sub(hi, m.num(1))), kf
}

// sigmoid is e/(1+e) for x < 0 and 1/(1+e) otherwise, e = exp(-|x|), and e itself where that is tiny. The quotient takes one step of
// Newton with the low parts of e and 1+e.
func (m machine) sigmoid(x vec) vec {
	hi, lo, kf := m.expParts(m.or(x, m.sign()))
	k := m.max(m.tiny(), kf)
	e, el := m.scale(hi, k), m.scale(lo, k)
	one, zero := m.load(m.num(1)), m.load(m.num(0))
	den := m.add(e, one)
	dl := m.add(m.sub(e, m.sub(den, one)), el)
	inv := m.div(one, den)
	below := m.cmp(x, lt, m.num(0))
	num := m.blend(below, e, one)
	q := m.mul(num, inv)
	rest := m.add(m.fnma(q, den, num), m.fnma(q, dl, m.blend(below, el, zero)))
	return m.below(m.tiny(), m.fma(rest, inv, q), hi, m.blend(below, kf, zero))
}

// sigmoidSlope is s(1-s) for s = sigmoid(-|x|), which is at most 1/2, and e = exp(-|x|) where that is tiny.
func (m machine) sigmoidSlope(x vec) vec {
	hi, lo, kf := m.expParts(m.or(x, m.sign()))
	k := m.max(m.tiny(), kf)
	e, el := m.scale(hi, k), m.scale(lo, k)
	one := m.load(m.num(1))
	den := m.add(e, one)
	dl := m.add(m.sub(e, m.sub(den, one)), el)
	inv := m.div(one, den)
	q := m.mul(e, inv)
	rest := m.add(m.fnma(q, den, e), m.fnma(q, dl, el))
	s := m.fma(rest, inv, q)
	return m.below(m.tiny(), m.fnma(s, s, s), hi, kf)
}

// softplus is max(x, 0) + log(1 + e), e = exp(-|x|), and e itself for x < 0 where that is tiny.
func (m machine) softplus(x vec) vec {
	p, _, kf := m.expParts(m.or(x, m.sign()))
	e := m.scale(p, m.max(m.tiny(), kf))
	one := m.load(m.num(1))
	u := m.add(e, one)
	t := m.sub(u, one)
	// c/u for the rounding error c of u; 1/u to two digits, and exactly at 1, is enough.
	c := m.mul(m.sub(e, t), m.fma(m.fma(t, m.num(0.43), m.load(m.num(-0.94))), t, one))
	big := m.cmp(u, ge, m.num(1.5))
	f := m.sub(m.blend(big, m.mul(u, m.num(0.5)), u), one)
	k := m.blend(big, one, m.num(0))
	return m.below(m.tiny(), m.add(m.max(m.num(0), x), m.logOf(f, k, c)), p, m.blend(m.cmp(x, lt, m.num(0)), kf, m.load(m.num(0))))
}

// tanh is x + x^3 P(x^2)/Q(x^2) below 0.625 (float32: a polynomial) and 1 - 2/(exp(2x)+1) above, with one division.
func (m machine) tanh(x vec) vec {
	a := m.abs(x)
	c := m.min(m.pick(22, 10), a)
	r, _, k := m.reduce(m.add(c, c))
	one := m.load(m.num(1))
	e := m.mul(m.add(m.expm1Small(r), one), m.power(k))
	num, den, base := m.load(m.num(-2)), m.add(e, one), one
	small := m.cmp(a, lt, m.num(0.625))
	z := m.mul(a, a)
	az := m.mul(a, z)
	if m.double {
		p := m.horner(z, []float64{-1.61468768441708447952e3, -9.92877231001918586564e1, -9.64399179425052238628e-1})
		q := m.horner(z, []float64{4.84406305325125486048e3, 2.23548839060100448583e3, 1.12811678491632931402e2, 1})
		num = m.blend(small, m.mul(p, az), num)
		den = m.blend(small, q, den)
		base = m.blend(small, a, base)
		return m.or(m.add(base, m.div(num, den)), m.and(x, m.sign()))
	}
	t := m.fma(m.poly(z, m.mul(z, z), tanh32), az, a)
	t = m.blend(small, t, m.add(one, m.div(num, den)))
	return m.or(t, m.and(x, m.sign()))
}
