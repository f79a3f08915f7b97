// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectorial lists the translations of instructions of vectors. The last operand is the destination, the first one of two
// is the second in a formula.
var vectorial = map[string]func(t *translation, i *ir.Instruction){}

func init() {
	// both adds the forms of float64 and float32.
	both := func(name string, f func(t *translation, i *ir.Instruction)) {
		for _, suffix := range []string{"PD", "PS"} {
			vectorial[name+suffix] = func(t *translation, i *ir.Instruction) {
				t.doubles = suffix == "PD"
				f(t, i)
			}
		}
	}
	for name, neon := range map[string]string{"VADD": "fadd", "VSUB": "fsub", "VMUL": "fmul", "VDIV": "fdiv", "VAND": "and", "VOR": "orr", "VXOR": "eor"} {
		both(name, func(t *translation, i *ir.Instruction) { t.binary(neon, i) })
	}
	for name, neon := range map[string]string{"VPADD": "add", "VPSUB": "sub"} {
		vectorial[name+"Q"] = func(t *translation, i *ir.Instruction) { t.doubles = true; t.binary(neon, i) }
		vectorial[name+"D"] = func(t *translation, i *ir.Instruction) { t.doubles = false; t.binary(neon, i) }
	}
	vectorial["VPXOR"] = func(t *translation, i *ir.Instruction) { t.binary("eor", i) }
	for _, form := range []string{"132", "213", "231"} {
		both("VFMADD"+form, func(t *translation, i *ir.Instruction) { t.fused("fmla", "", form, i) })
		both("VFNMADD"+form, func(t *translation, i *ir.Instruction) { t.fused("fmls", "", form, i) })
		both("VFMSUB"+form, func(t *translation, i *ir.Instruction) { t.fused("fmla", "fneg", form, i) })
	}
	both("VFMADDSUB231", func(t *translation, i *ir.Instruction) { t.fused("fmla", "even", "231", i) })
	both("VFMSUBADD231", func(t *translation, i *ir.Instruction) { t.fused("fmla", "odd", "231", i) })
	both("VMIN", func(t *translation, i *ir.Instruction) { t.extreme(i, func(a, b int) (int, int) { return b, a }) })
	both("VMAX", func(t *translation, i *ir.Instruction) { t.extreme(i, func(a, b int) (int, int) { return a, b }) })
	both("VRANGE", (*translation).extremeOfNumbers)
	both("VCMP", (*translation).compare)
	both("VBLENDV", (*translation).blend)
	both("VTEST", (*translation).test)
	both("VMOVMSK", (*translation).signs)
	both("VMASKMOV", (*translation).masked)
	both("VSQRT", func(t *translation, i *ir.Instruction) { t.unary("fsqrt", i) })
	both("VROUND", func(t *translation, i *ir.Instruction) {
		t.unary([]string{"frintn", "frintm", "frintp", "frintz"}[immediate(i)&7], i)
	})
	for _, size := range []string{"Q", "D"} {
		for name, neon := range map[string]string{"VPSLL": "shl", "VPSRL": "ushr"} {
			vectorial[name+size] = func(t *translation, i *ir.Instruction) {
				t.each(i, func(d, n int) { t.shift(neon, size == "Q", d, n, immediate(i)) })
			}
		}
	}
	both("VMOVU", (*translation).moveVector)
	both("VMOVA", (*translation).moveVector)
	vectorial["VMOVSD"] = func(t *translation, i *ir.Instruction) { t.moveScalar("FMOVD", i) }
	vectorial["VMOVSS"] = func(t *translation, i *ir.Instruction) { t.moveScalar("FMOVS", i) }
	vectorial["VADDSD"] = (*translation).addScalar
	vectorial["VBROADCASTSD"] = func(t *translation, i *ir.Instruction) { t.broadcast("FMOVD", true, i) }
	vectorial["VBROADCASTSS"] = func(t *translation, i *ir.Instruction) { t.broadcast("FMOVS", false, i) }
	vectorial["VCVTPS2PD"] = (*translation).convert
	vectorial["VPMULUDQ"] = (*translation).products
	addShuffles(both)
}

func immediate(i *ir.Instruction) int { return int(i.Operands[0].(operand.U8)) }

// destination is the last operand, and how many halves it has.
func destination(i *ir.Instruction) (to, halves int) {
	r := i.Operands[len(i.Operands)-1].(reg.Physical)
	if r.Mask() == reg.S128.Mask() {
		return int(r.PhysicalIndex()), 1
	}
	return int(r.PhysicalIndex()), 2
}

// end completes the destination of an instruction.
func (t *translation) end(to, halves int) {
	if halves == 1 {
		t.clearUpper(to)
	}
}

// each writes an instruction of one operand, the one before the destination.
func (t *translation) each(i *ir.Instruction, write func(d, n int)) {
	to, halves := destination(i)
	a := t.source(i.Operands[len(i.Operands)-2], halves)
	for h := range halves {
		n := t.half(a, h)
		t.drop(h, to, a)
		d := t.fresh(2*to + h)
		write(d, n)
		t.set(to, h, d)
	}
	t.end(to, halves)
}

func (t *translation) unary(name string, i *ir.Instruction) {
	t.each(i, func(d, n int) { t.vector(name, t.doubles, d, n) })
}

// binary writes an instruction of two operands.
func (t *translation) binary(name string, i *ir.Instruction) {
	to, halves := destination(i)
	if name == "eor" && i.Operands[0] == i.Operands[1] {
		t.zeros(to)
		return
	}
	b, a := t.source(i.Operands[0], halves), t.source(i.Operands[1], halves)
	for h := range halves {
		if name == "fmul" && t.state[t.raw(a, h)].single {
			a, b = b, a
		}
		n, m := t.half(a, h), t.raw(b, h)
		single := t.state[m].single
		if name != "fmul" {
			t.allLanes(m)
		}
		mask := t.state[n].mask && t.state[m].mask
		t.drop(h, to, a, b)
		d := t.fresh(2*to + h)
		if name == "fmul" && single {
			t.byLane(name, t.doubles, d, n, m)
		} else {
			t.vector(name, t.doubles, d, n, m)
		}
		t.state[d].mask = mask && codes[name].kind == whole
		t.set(to, h, d)
	}
	t.end(to, halves)
}

// zeros sets a vector to zero.
func (t *translation) zeros(to int) {
	t.holder[2*to], t.holder[2*to+1] = -1, -1
	d := t.fresh(2 * to)
	t.zero(d)
	t.set(to, 0, d)
	t.set(to, 1, d)
}

// fused writes a product and a sum with one rounding. The form says which operands are multiplied, first the destination; the
// addend may change its sign first, in all lanes or in some.
func (t *translation) fused(name, sign, form string, i *ir.Instruction) {
	to, halves := destination(i)
	o := [3]source{{register: to}, t.source(i.Operands[1], halves), t.source(i.Operands[0], halves)}
	a, b, c := o[form[0]-'1'], o[form[1]-'1'], o[form[2]-'1']
	for h := range halves {
		if t.state[t.raw(a, h)].single {
			a, b = b, a
		}
		n, m := t.half(a, h), t.raw(b, h)
		d := t.addend(sign, c, h, to, n, m)
		if t.state[m].single {
			t.byLane(name, t.doubles, d, n, m)
		} else {
			t.vector(name, t.doubles, d, n, m)
		}
		t.drop(h, to, a, b, c)
		t.state[d] = held{busy: true}
		t.set(to, h, d)
	}
	t.end(to, halves)
}

// addend returns a register with the addend, other than those of the factors.
func (t *translation) addend(sign string, c source, h, to, n, m int) int {
	r := t.half(c, h)
	d := r
	if !t.lastUse(c, h, to) || r == n || r == m {
		d = t.fresh(2*to + h)
	}
	switch sign {
	case "fneg":
		t.vector("fneg", t.doubles, d, r)
	case "even", "odd":
		name := map[string]map[bool]string{"even": {true: evenSigns64, false: evenSigns32}, "odd": {true: oddSigns64, false: oddSigns32}}
		t.vector("eor", t.doubles, d, r, t.constant(name[sign][t.doubles]))
	default:
		if d != r {
			t.copyVector(d, r)
		}
	}
	return d
}

// extreme writes the minimum or maximum of amd64: a if it is less than b, or greater, and otherwise b.
func (t *translation) extreme(i *ir.Instruction, order func(a, b int) (int, int)) {
	to, halves := destination(i)
	b, a := t.source(i.Operands[0], halves), t.source(i.Operands[1], halves)
	for h := range halves {
		n, m := t.half(a, h), t.half(b, h)
		d := t.fresh(2*to + h)
		x, y := order(n, m)
		t.vector("fcmgt", t.doubles, d, x, y)
		t.vector("bsl", t.doubles, d, n, m)
		t.drop(h, to, a, b)
		t.set(to, h, d)
	}
}

// extremeOfNumbers writes the minimum or maximum of IEEE 754-2019, for which machine.extreme uses an instruction of AVX-512.
func (t *translation) extremeOfNumbers(i *ir.Instruction) {
	name := map[int]string{4: "fmin", 5: "fmax"}[immediate(i)]
	j := *i
	j.Operands = i.Operands[1:]
	t.binary(name, &j)
}

// compare writes a comparison a with b.
func (t *translation) compare(i *ir.Instruction) {
	to, halves := destination(i)
	b, a := t.source(i.Operands[1], halves), t.source(i.Operands[2], halves)
	for h := range halves {
		n, m := t.half(a, h), t.half(b, h)
		d := t.fresh(2*to + h)
		switch pred := immediate(i); pred {
		case eq, ne:
			t.vector("fcmeq", t.doubles, d, n, m)
		case lt, nlt:
			t.vector("fcmgt", t.doubles, d, m, n)
		case le:
			t.vector("fcmge", t.doubles, d, m, n)
		case gt:
			t.vector("fcmgt", t.doubles, d, n, m)
		case ge:
			t.vector("fcmge", t.doubles, d, n, m)
		case unord, ordered:
			t.numbers(d, n, m)
		default:
			t.refuse(i)
		}
		if p := immediate(i); p == ne || p == nlt || p == unord {
			t.vector("mvn", t.doubles, d, d)
		}
		t.drop(h, to, a, b)
		t.state[d].mask = true
		t.set(to, h, d)
	}
}

const ordered = 7

// numbers sets the lanes of d where neither n nor m is NaN.
func (t *translation) numbers(d, n, m int) {
	t.vector("fcmeq", t.doubles, d, n, n)
	if n != m {
		r := t.fresh(-1)
		t.vector("fcmeq", t.doubles, r, m, m)
		t.vector("and", t.doubles, d, d, r)
		t.state[r].busy = false
	}
}

// blend takes the lanes of yes where the sign of the mask is set.
func (t *translation) blend(i *ir.Instruction) {
	to, halves := destination(i)
	mask, yes, no := t.source(i.Operands[0], halves), t.source(i.Operands[1], halves), t.source(i.Operands[2], halves)
	for h := range halves {
		k, y, n := t.half(mask, h), t.half(yes, h), t.half(no, h)
		wide := -1
		if !t.state[k].mask {
			wide = t.fresh(-1)
			t.vector("cmlt", t.doubles, wide, k)
			k = wide
		}
		d := k
		switch {
		case wide >= 0 || t.lastUse(mask, h, to):
			t.vector("bsl", t.doubles, k, y, n)
		case t.lastUse(no, h, to):
			d = n
			t.vector("bit", t.doubles, n, y, k)
		case t.lastUse(yes, h, to):
			d = y
			t.vector("bif", t.doubles, y, n, k)
		default:
			d = t.fresh(2*to + h)
			t.copyVector(d, k)
			t.vector("bsl", t.doubles, d, y, n)
		}
		t.drop(h, to, mask, yes, no)
		t.state[d] = held{busy: true}
		t.set(to, h, d)
	}
}

// test sets the flags: zero if no lane has a sign.
func (t *translation) test(i *ir.Instruction) {
	s := t.source(i.Operands[0], 2)
	if i.Operands[0] != i.Operands[1] {
		t.refuse(i)
	}
	r := t.fresh(-1)
	t.vector("orr", t.doubles, r, t.half(s, 0), t.half(s, 1))
	if !t.state[t.raw(s, 0)].mask || !t.state[t.raw(s, 1)].mask {
		t.vector("cmlt", t.doubles, r, r)
	}
	t.vector("umaxp", false, r, r, r)
	t.line("FMOVD F%d, %s", r, lanesRegister)
	t.line("CMP $0, %s", lanesRegister)
}

// signs writes the signs of the lanes to the bits of a general register.
func (t *translation) signs(i *ir.Instruction) {
	s := t.source(i.Operands[0], 2)
	name := weights32
	if t.doubles {
		name = weights64
	}
	w := t.source(operand.NewDataAddr(operand.NewStaticSymbol(name), 0), 2)
	r := [2]int{t.fresh(-1), t.fresh(-1)}
	for h := range r {
		k := t.half(s, h)
		if !t.state[k].mask {
			t.vector("cmlt", t.doubles, r[h], k)
			k = r[h]
		}
		t.vector("and", t.doubles, r[h], k, t.half(w, h))
	}
	t.vector("orr", t.doubles, r[0], r[0], r[1])
	t.total(t.doubles, r[0], r[0])
	t.readLane(t.doubles, r[0], 0, int(i.Operands[1].(reg.Physical).PhysicalIndex()))
}

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
	s := t.source(i.Operands[0], halves)
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
