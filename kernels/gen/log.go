// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
)

// Logarithms. x = 2^k (1+f) with 3/4 <= 1+f < 3/2.

func logarithms() []kernel {
	return elementary(map[string]func(machine, vec) vec{
		"log":   machine.log,
		"log2":  machine.log2,
		"log1p": machine.log1p,
	})
}

// split returns f and k of a positive x; subnormal only if x can be.
func (m machine) split(x vec, subnormal bool) (f, k vec) {
	if m.wide {
		mant, e, em := m.new(), m.new(), m.new()
		m.do("getmant", operand.U8(3), x, mant)
		m.do("getexp", x, e)
		m.do("getexp", mant, em)
		return m.sub(mant, m.num(1)), m.sub(e, em)
	}
	bias := m.load(m.pick(0x1p52+1023, 0x1p23+127))
	if subnormal {
		tiny := m.cmp(x, lt, m.pick(0x1p-1022, 0x1p-126))
		x = m.blend(tiny, m.mul(x, m.pick(0x1p54, 0x1p25)), x)
		bias = m.blend(tiny, m.pick(0x1p52+1023+54, 0x1p23+127+25), bias)
	}
	t := m.iadd(x, m.raw(1<<51, 1<<22))
	k = m.sub(m.or(m.shr(t, m.mantissa()), m.pick(0x1p52, 0x1p23)), bias)
	field := m.and(t, m.raw(0xfff<<52, 0x1ff<<23))
	return m.sub(m.iadd(m.isub(x, field), m.num(1)), m.num(1)), k
}

// tail is log(1+f) - f + f^2/2, given f^2/2.
func (m machine) tail(f, half vec, plus vec) vec {
	if m.double {
		s := m.div(f, m.add(f, m.num(2)))
		z := m.mul(s, s)
		p := m.fma(m.poly(z, m.mul(z, z), log64), z, half)
		if plus == nil {
			return m.mul(s, p)
		}
		return m.fma(s, p, plus)
	}
	f2 := m.mul(f, f)
	p := m.mul(m.poly(f, f2, log32), f2)
	if plus == nil {
		return m.mul(p, f)
	}
	return m.fma(p, f, plus)
}

// logOf is k ln 2 + log(1+f) + c for a small correction c (or nil).
func (m machine) logOf(f, k vec, c value) vec {
	half := m.mul(m.mul(f, m.num(0.5)), f)
	var lo vec
	if c == nil {
		lo = m.mul(k, m.ln2lo())
	} else {
		lo = m.fma(k, m.ln2lo(), c)
	}
	t := m.tail(f, half, lo)
	return m.fms(k, m.ln2hi(), m.sub(m.sub(half, t), f))
}

// edges gives the values of logarithms of u at 0, below 0, at +Inf and NaN.
func (m machine) edges(u, r vec) vec {
	if m.wide {
		// One nibble for each kind of u, lowest first: quiet NaN, signalling NaN, 0, 1, -Inf, +Inf, negative, positive.
		// 0 keeps r, 2 is u as a quiet NaN, 3 NaN, 4 -Inf, 5 +Inf.
		m.last("fixup", []operand.Op{operand.U8(0)}, m.raw(0x03530422, 0x03530422), u, r)
		return r
	}
	r = m.blend(m.cmp(u, nlt, m.num(math.Inf(1))), u, r)
	r = m.blend(m.cmp(u, eq, m.num(0)), m.num(math.Inf(-1)), r)
	return m.blend(m.cmp(u, lt, m.num(0)), m.num(math.NaN()), r)
}

func (m machine) log(x vec) vec {
	f, k := m.split(x, true)
	return m.edges(x, m.logOf(f, k, nil))
}

// log2 keeps log(1+f) in two parts, so that the product with 1/ln 2 loses nothing.
func (m machine) log2(x vec) vec {
	f, k := m.split(x, true)
	half := m.mul(m.mul(f, m.num(0.5)), f)
	hi := m.sub(f, half)
	lo := m.add(m.sub(m.sub(f, hi), half), m.tail(f, half, nil))
	inv := m.num(math.Log2E)
	v := m.mul(hi, inv)
	e := m.fma(lo, inv, m.fms(hi, inv, v))
	e = m.fma(hi, m.pick(2.0355273740931033e-17, 1.9259629911266175e-08), e)
	w := m.add(k, v)
	return m.edges(x, m.add(w, m.add(e, m.add(m.sub(k, w), v))))
}

// log1p takes the rounding error c of u = 1+x along: log(1+x) = log(u) + c/u.
func (m machine) log1p(x vec) vec {
	one := m.load(m.num(1))
	u := m.add(x, one)
	t := m.sub(u, one)
	c := m.add(m.sub(x, t), m.sub(one, m.sub(u, t)))
	f, k := m.split(u, false)
	r := m.edges(u, m.logOf(f, k, m.div(c, u)))
	return m.blend(m.cmp(m.abs(x), lt, m.pick(0x1p-54, 0x1p-25)), x, r)
}
