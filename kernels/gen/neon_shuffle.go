// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// addShuffles adds the translations of instructions that move lanes.
func addShuffles(both func(name string, f func(t *translation, i *ir.Instruction))) {
	both("VUNPCKL", func(t *translation, i *ir.Instruction) { t.binary("zip1", i) })
	both("VUNPCKH", func(t *translation, i *ir.Instruction) { t.binary("zip2", i) })
	vectorial["VMOVSLDUP"] = func(t *translation, i *ir.Instruction) {
		t.each(i, func(d, n int) { t.vector("trn1", false, d, n, n) })
	}
	vectorial["VMOVSHDUP"] = func(t *translation, i *ir.Instruction) {
		t.each(i, func(d, n int) { t.vector("trn2", false, d, n, n) })
	}
	vectorial["VMOVDDUP"] = func(t *translation, i *ir.Instruction) {
		t.each(i, func(d, n int) { t.vector("trn1", true, d, n, n) })
	}
	vectorial["VSHUFPS"] = (*translation).shuffle
	vectorial["VPERMILPD"] = func(t *translation, i *ir.Instruction) {
		h := -2
		t.each(i, func(d, n int) { h += 2; t.swap(d, n, immediate(i)>>h) })
	}
	vectorial["VPERMILPS"] = func(t *translation, i *ir.Instruction) {
		t.each(i, func(d, n int) { t.permute(d, n, immediate(i)) })
	}
	vectorial["VPERMPD"] = (*translation).permuteAcross
	vectorial["VPSRLDQ"] = (*translation).upperQuarter
	halves := func(pick func(a, b source) (x, y source, hx, hy int)) func(t *translation, i *ir.Instruction) {
		return func(t *translation, i *ir.Instruction) { t.join(i, pick) }
	}
	vectorial["VINSERTF128"] = halves(func(a, b source) (source, source, int, int) { return a, b, 0, 0 })
	vectorial["VPERM2F128"] = func(t *translation, i *ir.Instruction) {
		h := map[int]int{0x20: 0, 0x31: 1}[immediate(i)]
		t.join(i, func(a, b source) (source, source, int, int) { return a, b, h, h })
	}
	vectorial["VEXTRACTF128"] = (*translation).extract
}

// shuffle takes two lanes of a and then two of b.
func (t *translation) shuffle(i *ir.Instruction) {
	j := *i
	j.Operands = i.Operands[1:]
	switch immediate(i) {
	case 0x44:
		t.doubles = true
		t.binary("zip1", &j)
	case 0xee:
		t.doubles = true
		t.binary("zip2", &j)
	case 0x88:
		t.doubles = false
		t.binary("uzp1", &j)
	case 0xdd:
		t.doubles = false
		t.binary("uzp2", &j)
	default:
		t.refuse(i)
	}
}

// swap takes the lanes of float64 that the two lowest bits select.
func (t *translation) swap(d, n, lanes int) {
	switch lanes & 3 {
	case 0:
		t.spreadLane(true, d, n, 0)
	case 1:
		t.turn(d, n, n)
	case 2:
		t.copyVector(d, n)
	case 3:
		t.spreadLane(true, d, n, 1)
	}
}

// permute takes the lanes of float32 that pairs of bits select.
func (t *translation) permute(d, n, lanes int) {
	if lanes == 0xb1 {
		t.vector("rev64", false, d, n)
		return
	}
	if d == n {
		r := t.fresh(-1)
		t.copyVector(r, n)
		n = r
	}
	first := lanes & 3
	t.spreadLane(false, d, n, first)
	for i := 1; i < 4; i++ {
		if lane := lanes >> (2 * i) & 3; lane != first {
			t.insertLane(false, d, i, n, lane)
		}
	}
}

// permuteAcross takes the lanes of float64 that pairs of bits select from both halves.
func (t *translation) permuteAcross(i *ir.Instruction) {
	to, _ := destination(i)
	s := source{register: vectorIndex(i.Operands[1])}
	v := [2]int{t.half(s, 0), t.half(s, 1)}
	var d [2]int
	for h := range d {
		x, y := immediate(i)>>(4*h)&3, immediate(i)>>(4*h+2)&3
		a, b := v[x/2], v[y/2]
		if d[h] = a; x%2 == 0 && y == x+1 {
			continue // a whole half
		}
		d[h] = t.fresh(2*to + h)
		switch {
		case x == y:
			t.spreadLane(true, d[h], a, x%2)
		case x%2 == 1 && y%2 == 0:
			t.turn(d[h], a, b)
		case x%2 == y%2:
			t.vector([]string{"zip1", "zip2"}[x%2], true, d[h], a, b)
		default:
			t.refuse(i)
		}
	}
	t.set(to, 0, d[0])
	t.set(to, 1, d[1])
}

// upperQuarter moves the last 8 bytes to the first place and clears the others.
func (t *translation) upperQuarter(i *ir.Instruction) {
	if immediate(i) != 8 {
		t.refuse(i)
	}
	t.each(i, func(d, n int) {
		z := t.fresh(-1)
		t.zero(z)
		t.turn(d, n, z)
	})
}

// join makes a vector of two halves, for which no instruction is needed.
func (t *translation) join(i *ir.Instruction, pick func(a, b source) (x, y source, hx, hy int)) {
	to, _ := destination(i)
	halves := 2
	if m, ok := i.Operands[1].(reg.Physical); !ok || m.Mask() == reg.S128.Mask() {
		halves = 1
	}
	x, y, hx, hy := pick(t.source(i.Operands[2], 2), t.source(i.Operands[1], halves))
	lower, upper := t.raw(x, hx), t.raw(y, hy)
	t.set(to, 0, lower)
	t.set(to, 1, upper)
}

// extract takes the upper half.
func (t *translation) extract(i *ir.Instruction) {
	s := source{register: vectorIndex(i.Operands[1])}
	if m, ok := i.Operands[2].(operand.Mem); ok {
		t.store([]int{t.half(s, 1)}, t.place(m))
		return
	}
	to := vectorIndex(i.Operands[2])
	t.set(to, 0, t.raw(s, 1))
	t.clearUpper(to)
}
