// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// masked reads or writes the lanes whose mask has its sign set; it touches no others.
func (t *translation) masked(i *ir.Instruction) {
	mask := i.Operands[1]
	if m, ok := i.Operands[2].(operand.Mem); ok {
		from := vectorIndex(i.Operands[0])
		t.eachLane(vectorIndex(mask), 2, m, func(h int) int { return t.half(source{register: from}, h) }, "VST1 V%[1]d.%[2]s[%[3]d], (%[4]s)")
		return
	}
	to, halves := destination(i)
	var d [2]int
	for h := range halves {
		d[h] = t.fresh(2*to + h)
		t.zero(d[h])
	}
	t.eachLane(vectorIndex(mask), halves, i.Operands[0], func(h int) int { return d[h] }, "VLD1 (%[4]s), V%[1]d.%[2]s[%[3]d]")
	for h := range halves {
		t.set(to, h, d[h])
	}
	t.end(to, halves)
}

// eachLane moves the selected lanes between memory and a register of each half.
func (t *translation) eachLane(mask, halves int, m operand.Op, register func(h int) int, format string) {
	p := t.place(m)
	t.line("ADD $%d, %s, %s", p.disp, p.base, addressRegister)
	size, letter := 4, "S"
	if t.doubles {
		size, letter = 8, "D"
	}
	for h := range halves {
		r := register(h)
		for lane := range 16 / size {
			t.labels++
			t.readLane(t.doubles, t.half(source{register: mask}, h), lane, lanesNumber)
			t.line("TBZ $%d, %s, lane%d", 8*size-1, lanesRegister, t.labels)
			t.line(format, r, letter, lane, addressRegister)
			fmt.Fprintf(&t.text, "\nlane%d:\n", t.labels)
			t.line("ADD $%d, %s, %s", size, addressRegister, addressRegister)
		}
	}
}

// moveVector copies a vector, reads it from memory or writes it there.
func (t *translation) moveVector(i *ir.Instruction) {
	if m, ok := i.Operands[1].(operand.Mem); ok {
		r := i.Operands[0].(reg.Physical)
		s := source{register: int(r.PhysicalIndex())}
		from := []int{t.half(s, 0)}
		if r.Mask() != reg.S128.Mask() {
			from = append(from, t.half(s, 1))
		}
		t.store(from, t.place(m))
		return
	}
	to, halves := destination(i)
	if _, ok := i.Operands[0].(operand.Mem); ok {
		t.holder[2*to], t.holder[2*to+1] = -1, -1
	}
	s := t.sourceAt(i.Operands[0], halves, to)
	for h := range halves {
		t.set(to, h, t.raw(s, h))
	}
	t.end(to, halves)
}

// moveScalar reads or writes one number.
func (t *translation) moveScalar(name string, i *ir.Instruction) {
	if m, ok := i.Operands[1].(operand.Mem); ok {
		t.line("%s F%d, %s", name, t.raw(source{register: vectorIndex(i.Operands[0])}, 0), t.place(m))
		return
	}
	to := vectorIndex(i.Operands[1])
	t.holder[2*to] = -1
	d := t.fresh(2 * to)
	t.line("%s %s, F%d", name, t.place(i.Operands[0]), d)
	t.set(to, 0, d)
	t.clearUpper(to)
}

// addScalar adds the first lanes; the others of the result are not needed.
func (t *translation) addScalar(i *ir.Instruction) {
	a, b := source{register: vectorIndex(i.Operands[0])}, source{register: vectorIndex(i.Operands[1])}
	to := vectorIndex(i.Operands[2])
	d := t.fresh(2 * to)
	t.line("FADDD F%d, F%d, F%d", t.raw(a, 0), t.raw(b, 0), d)
	t.set(to, 0, d)
	t.clearUpper(to)
}

// broadcast reads one number for all lanes.
func (t *translation) broadcast(name string, double bool, i *ir.Instruction) {
	to := vectorIndex(i.Operands[1])
	t.doubles = double
	m := i.Operands[0].(operand.Mem)
	t.holder[2*to], t.holder[2*to+1] = -1, -1
	var d int
	if m.Base == reg.StaticBase && t.data.once[m.Symbol.Name] {
		d = t.constant(m.Symbol.Name)
	} else {
		d = t.fresh(2 * to)
		t.line("%s %s, F%d", name, t.place(m), d)
		t.state[d].single, t.state[d].double = true, double
	}
	t.set(to, 0, d)
	t.set(to, 1, d)
}

// convert makes four float64 of four float32.
func (t *translation) convert(i *ir.Instruction) {
	to, _ := destination(i)
	r := t.half(t.source(i.Operands[0], 1), 0)
	var d [2]int
	for h := range d {
		d[h] = t.fresh(2*to + h)
		t.widen(d[h], r, h)
	}
	t.set(to, 0, d[0])
	t.set(to, 1, d[1])
}

// products multiplies the lower halves of lanes of 64 bits.
func (t *translation) products(i *ir.Instruction) {
	by, a := t.source(i.Operands[0], 2), t.source(i.Operands[1], 2)
	to, halves := destination(i)
	for h := range halves {
		d, r := t.fresh(2*to+h), t.fresh(-1)
		t.narrow(d, t.half(a, h))
		t.narrow(r, t.half(by, h))
		t.longProduct(d, d, r)
		t.state[r].busy = false
		t.drop(h, to, a, by)
		t.set(to, h, d)
	}
}
