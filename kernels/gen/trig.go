// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Sine and cosine. x = k pi/2 + r + lo with |r| <= pi/4, pi/2 in three parts; beyond the limit the caller computes.

func trigonometric() []kernel {
	var ks []kernel
	for name, shift := range map[string]uint32{"sin": 0, "cos": 1} {
		ks = append(ks, kernel{name: name, args: []string{"a"}, scalar: -1, flag: machine.beyond,
			body: func(m machine, x []vec) vec { return m.sincos(x[0], shift) }})
	}
	return ks
}

// beyond is not zero if a lane is too large for the reduction.
func (m machine) beyond(x []vec) reg.GPVirtual {
	k := m.cmp(m.abs(x[0]), gt, m.pick(0x1p28, 0x1p17))
	f := GP64()
	switch {
	case m.wide:
		KMOVW(k, f.As32())
	case m.double:
		VMOVMSKPD(k, f.As32())
	default:
		VMOVMSKPS(k, f.As32())
	}
	return f
}

// sincos is sin(x + shift pi/2).
func (m machine) sincos(x vec, shift uint32) vec {
	k, s, c := m.octant(x)
	return m.quadrant(k, shift, s, c)
}

// octant returns k, and sine and cosine of x - k pi/2.
func (m machine) octant(x vec) (k, s, c vec) {
	k = m.fma(x, m.num(2/math.Pi), m.load(m.magic()))
	kf := m.sub(k, m.magic())
	p2 := m.load(m.pick(6.123233995736766e-17, -4.371138828673793e-08))
	r1 := m.fnma(kf, m.num(math.Pi/2), x) // exact
	w := m.mul(kf, p2)
	r := m.sub(r1, w)
	back := m.sub(r, r1)
	lo := m.sub(m.sub(r1, m.sub(r, back)), m.add(w, back)) // r1 - w - r, exactly
	lo = m.sub(lo, m.fms(kf, p2, w))
	lo = m.fnma(kf, m.pick(-1.4973849048591698e-33, -1.7151244994428829e-15), lo)

	z := m.mul(r, r)
	z2 := m.mul(z, z)
	half := m.mul(z, m.num(0.5))
	s = m.fma(m.poly(z, z2, m.table(sin64, sin32)), m.mul(z, r), m.fnma(half, lo, lo))
	s = m.or(m.add(r, s), m.and(r, m.sign())) // the sign of -0

	one := m.load(m.num(1))
	w = m.sub(one, half)
	c = m.fma(m.poly(z, z2, m.table(cos64, cos32)), z2, m.sub(m.sub(one, w), half))
	c = m.add(w, m.fnma(r, lo, c))
	return k, s, c
}

// quadrant is sin(k pi/2 + shift pi/2 + r) from sine and cosine of r.
func (m machine) quadrant(k vec, shift uint32, s, c vec) vec {
	if shift != 0 {
		k = m.iadd(k, m.raw(uint64(shift), shift))
	}
	bits := m.size()*8 - 1
	y := m.blend(m.signMask(m.shl(k, bits)), c, s)
	return m.xor(y, m.and(m.shl(k, bits-1), m.sign()))
}

// emitSinCos writes both functions of each element, of the same bits as the kernels of one. It stops before the first
// vector with an element beyond the reduction and returns how many are done.
func emitSinCos(m machine) {
	TEXT("sincos"+m.suffix(), noSplit, m.signature("s, c, x *T, n int")+" (done int)")
	Pragma("noescape")
	s, c, a, n := pointer("s"), pointer("c"), pointer("x"), pointer("n")
	x := []vec{m.new()}
	Label("loop")
	CMPQ(n, operand.U32(uint32(m.lanes())))
	JLT(operand.LabelRef("partial"))
	m.do("loadu", operand.Mem{Base: a}, x[0])
	Label("body")
	f := m.beyond(x)
	TESTQ(f, f)
	JNZ(operand.LabelRef("done"))
	k, sine, cosine := m.octant(x[0])
	first, second := m.quadrant(k, 0, sine, cosine), m.quadrant(k, 1, sine, cosine)
	CMPQ(n, operand.U32(uint32(m.lanes())))
	JLT(operand.LabelRef("partialstore"))
	m.do("loadu", first, operand.Mem{Base: s})
	m.do("loadu", second, operand.Mem{Base: c})
	for _, p := range []reg.Register{s, c, a} {
		ADDQ(operand.U32(uint32(m.bytes())), p)
	}
	SUBQ(operand.U32(uint32(m.lanes())), n)
	JMP(operand.LabelRef("loop"))
	Label("partial")
	TESTQ(n, n)
	JLE(operand.LabelRef("done"))
	m.maskLoad(operand.Mem{Base: a}, m.restMask(n), x[0])
	JMP(operand.LabelRef("body"))
	Label("partialstore")
	if m.wide {
		rest := m.restMask(n)
		m.do("loadu", first, rest, operand.Mem{Base: s})
		m.do("loadu", second, rest, operand.Mem{Base: c})
	} else {
		m.storePieces(first, s, n, "s")
		m.storePieces(second, c, n, "c")
	}
	XORQ(n, n)
	Label("done")
	VZEROUPPER()
	total := Load(Param("n"), GP64())
	SUBQ(n, total)
	Store(total, Return("done"))
	RET()
}

// signMask selects the lanes whose sign bit is set.
func (m machine) signMask(v vec) mask {
	if !m.wide {
		return v
	}
	k := K()
	if m.double {
		VPMOVQ2M(v, k)
	} else {
		VPMOVD2M(v, k)
	}
	return k
}
