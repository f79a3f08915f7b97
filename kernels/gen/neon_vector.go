// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
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
	if c.constant != "" && sign == "" {
		d := t.fresh(2*to + h)
		t.loadConstant(c.constant, d)
		return d
	}
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
