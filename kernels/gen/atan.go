// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

// Inverse tangents. The quotient of the smaller by the larger length is q; above 1/2, atan q = pi/4 + atan((n-d)/(n+d)), so
// that one polynomial serves |q| <= 1/2 and the angle is a multiple of pi/4 plus or minus its value.

func inverseTangents() []kernel {
	return append(elementary(map[string]func(machine, vec) vec{"atan": machine.atan}),
		kernel{name: "atan2", args: []string{"y", "x"}, scalar: -1, flag: machine.extremes,
			body: func(m machine, x []vec) vec { return m.atan2(x[0], x[1]) }})
}

// lengths are the sizes of points whose angle is computed here, besides 0. Beyond them the reciprocal of the larger
// coordinate, or the remainder of the division by it, leaves the range of normal numbers.
func (m machine) lengths() (lo, hi constant) {
	return m.pick(0x1p-800, 0x1p-80), m.pick(0x1p1000, 0x1p100)
}

// extremes is not zero if a point is neither 0 nor within the lengths. Points with a NaN count as within, unless the
// other coordinate is not.
func (m machine) extremes(x []vec) reg.GPVirtual {
	a, b := m.abs(x[0]), m.abs(x[1])
	large := m.max(a, b)
	lo, hi := m.lengths()
	far, near := m.cmp(large, gt, hi), m.cmp(large, lt, lo)
	f := GP64()
	switch {
	case m.wide:
		some := m.cmp(large, ne, m.num(0))
		KANDW(near, some, near)
		KORW(far, near, far)
		KMOVW(far, f.As32())
	case m.double:
		VMOVMSKPD(m.or(far.(vec), m.and(near.(vec), m.cmp(large, ne, m.num(0)).(vec))), f.As32())
	default:
		VMOVMSKPS(m.or(far.(vec), m.and(near.(vec), m.cmp(large, ne, m.num(0)).(vec))), f.As32())
	}
	return f
}

func (m machine) atan(x vec) vec {
	a, one := m.abs(x), m.load(m.num(1))
	most := m.min(m.pick(0x1p60, 0x1p30), a) // of the same angle; NaN stays
	k, s, q := m.eighths(m.min(one, most), m.max(one, most), m.cmp(a, gt, one))
	return m.or(m.angle(k, s, q), m.and(x, m.sign()))
}

func (m machine) atan2(y, x vec) vec {
	a, b := m.abs(y), m.abs(x)
	lo, _ := m.lengths()
	k, s, q := m.eighths(m.min(a, b), m.max(lo, m.max(a, b)), m.cmp(a, gt, b))
	k = m.blend(m.signMask(x), m.sub(m.num(4), k), k)
	r := m.or(m.angle(k, m.xor(s, m.and(x, m.sign())), q), m.and(y, m.sign()))
	return m.blend(m.cmp(x, unord, y), m.add(x, y), r)
}

// part is a number in two parts.
type part struct{ hi, lo vec }

// eighths returns the angle whose tangent is n/d for 0 <= n <= d, or that of d/n where turned, as k pi/4 plus the number q
// with the sign bit of s.
func (m machine) eighths(n, d vec, turned mask) (k, s vec, q part) {
	big := m.cmp(m.add(n, n), gt, d)
	sum := m.add(n, d)
	lost := m.sub(n, m.sub(sum, d)) // of the sum, exactly
	zero := m.load(m.num(0))
	lost = m.blend(big, lost, zero)
	n, d = m.blend(big, m.sub(n, d), n), m.blend(big, sum, d)
	k = m.blend(big, m.num(1), zero)
	k = m.blend(turned, m.sub(m.num(2), k), k)
	s = m.blend(turned, m.sign(), zero)

	inverse := m.div(m.num(1), d)
	hi := m.mul(n, inverse)
	lo := m.mul(m.fnma(hi, lost, m.fnma(hi, d, n)), inverse) // the error of the quotient
	z := m.mul(hi, hi)
	lo = m.fnma(lo, z, lo)
	p := m.poly(z, m.mul(z, z), m.table(atan64, atan32))
	return k, s, part{hi, m.fma(p, m.mul(z, hi), lo)}
}

// angle is k pi/4 plus q with the sign bit of s.
func (m machine) angle(k, s vec, q part) vec {
	lo := m.fma(k, m.pick(3.061616997868383e-17, -2.1855695000931213e-08), m.xor(q.lo, s))
	return m.fma(k, m.num(math.Pi/4), m.add(m.xor(q.hi, s), lo))
}
