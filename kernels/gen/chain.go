// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Steps along the factor of a chain, four elements at a time: in each vector the recurrence is solved by two steps that double its reach, and what came before
// is added last. Both instruction sets use vectors of four, so that their results have the same bits.

// chain is where a kernel is: offsets into the vectors and into the links of blocks, of which each has three vectors.
type chain struct {
	m     machine
	i, j  reg.GPVirtual
	links reg.Register
	carry reg.VecVirtual
}

func emitChains() {
	m := machine{double: true, neon: machines[0].neon}
	m.chain("chainDepart", "func(q, z, w, inverse, links *float64, eps, carry float64, blocks int) (left float64)", func(c *chain) {
		eps := m.spread("eps")
		half := m.mul(eps, m.num(0.5))
		q, z, w, inverse := pointer("q"), pointer("z"), pointer("w"), pointer("inverse")
		c.each(true, func() {
			v := c.load(z)
			m.do("fma231", c.at(w), half, v)
			m.do("loadu", v, c.at(z))
			x := m.new()
			m.do("mul", c.at(inverse), v, x)
			c.solve(x, 0x39, 0x00)
			to := c.load(q)
			m.do("fma231", x, eps, to)
			m.do("loadu", to, c.at(q))
		})
	})
	m.chain("chainArrive", "func(z, w, slope, inverse, links *float64, eps, carry float64, blocks int) (left float64)", func(c *chain) {
		half := m.mul(m.spread("eps"), m.num(0.5))
		z, w, slope, inverse := pointer("z"), pointer("w"), pointer("slope"), pointer("inverse")
		c.each(false, func() {
			x := c.load(slope)
			c.solve(x, 0x93, 0xff)
			v := m.new()
			m.do("mul", c.at(inverse), x, v)
			m.do("loadu", v, c.at(w))
			to := c.load(z)
			m.do("fma231", v, half, to)
			m.do("loadu", to, c.at(z))
		})
	})
}

// chain emits a kernel that returns the last element it solved for.
func (m machine) chain(name, signature string, body func(c *chain)) {
	TEXT(name+m.suffix(), noSplit, signature)
	Pragma("noescape")
	c := &chain{m: m, i: GP64(), j: GP64(), links: pointer("links"), carry: m.spread("carry")}
	body(c)
	at, err := Return("left").Resolve()
	if err != nil {
		panic(err)
	}
	VMOVSD(c.carry.AsX(), at.Addr)
	VZEROUPPER()
	RET()
}

// each emits the loop over blocks, from the last one if backwards.
func (c *chain) each(backwards bool, block func()) {
	n := pointer("blocks")
	XORQ(c.i, c.i)
	XORQ(c.j, c.j)
	if backwards {
		IMUL3Q(operand.U8(32), n, c.i)
		IMUL3Q(operand.U8(96), n, c.j)
	}
	Label("loop")
	TESTQ(n, n)
	JE(operand.LabelRef("done"))
	if backwards {
		SUBQ(operand.U8(32), c.i)
		SUBQ(operand.U8(96), c.j)
	}
	block()
	if !backwards {
		ADDQ(operand.U8(32), c.i)
		ADDQ(operand.U8(96), c.j)
	}
	DECQ(n)
	JMP(operand.LabelRef("loop"))
	Label("done")
}

func (c *chain) at(base reg.Register) operand.Mem {
	return operand.Mem{Base: base, Index: c.i, Scale: 1}
}

func (c *chain) load(base reg.Register) reg.VecVirtual {
	r := c.m.new()
	c.m.do("loadu", c.at(base), r)
	return r
}

// solve replaces x by the solution, given how elements turn to their neighbours and which one the next block needs.
func (c *chain) solve(x reg.VecVirtual, turn, last uint8) {
	link := func(k int) operand.Mem { return operand.Mem{Base: c.links, Index: c.j, Scale: 1, Disp: 32 * k} }
	for k, by := range []uint8{turn, 0x4e} {
		r := c.m.new()
		VPERMPD(operand.U8(by), x, r)
		c.m.do("fma231", link(k), r, x)
	}
	c.m.do("fma231", link(2), c.carry, x)
	VPERMPD(operand.U8(last), x, c.carry)
}
