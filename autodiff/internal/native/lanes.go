// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"math"

	"github.com/euryale-dev/euryale/kernels"
)

// Lanes is the number of elements that an array may have at most to be one value of a List, in a register of AVX-512.
const Lanes = 8

// HasLanes says whether the processor has such registers.
func HasLanes() bool { return usable() && kernels.Best() >= kernels.AVX512 }

// LoadLanes returns n elements of a memory as they are at this place of the list, at most Lanes.
func (l *List) LoadLanes(m Memory, at, n int) Value {
	return l.add(entry{do: loadLanes, mem: m, at: int32(at), n: int8(n), lanes: true})
}

// Array returns numbers that never change, at most Lanes of them, with zeros behind.
func (l *List) Array(data []float64) Value {
	var bits [Lanes]uint64
	for i, x := range data {
		bits[i] = math.Float64bits(x)
	}
	v, known := l.known[bits]
	if !known {
		if l.known == nil {
			l.known = map[[Lanes]uint64]Value{}
		}
		l.arrays = append(l.arrays, bits)
		v = l.add(entry{do: array, at: int32(len(l.arrays) - 1), lanes: true})
		l.known[bits] = v
	}
	return v
}

// StoreLanes writes the first n lanes of v.
func (l *List) StoreLanes(m Memory, at, n int, v Value) {
	l.add(entry{do: storeLanes, mem: m, at: int32(at), n: int8(n), in: [3]Value{v}, operands: 1})
}

// Spread returns a number in all lanes.
func (l *List) Spread(v Value) Value {
	if l.ops[v].lanes {
		return v
	}
	w, known := l.spread[v]
	if !known {
		if l.spread == nil {
			l.spread = map[Value]Value{}
		}
		w = l.add(entry{do: spread, in: [3]Value{v}, operands: 1, lanes: true})
		l.spread[v] = w
	}
	return w
}

// Total returns the sum of the first n lanes, in the order in which package kernels adds up to Lanes elements.
func (l *List) Total(v Value, n int) Value {
	sum := l.add(entry{do: total, n: int8(n), in: [3]Value{v}, operands: 1})
	return l.Do(Add, l.Constant(0), sum)
}

// lanesOf evaluates an operation in lanes.
func (a *assembler) lanesOf(o *entry, v Value) {
	switch o.do {
	case loadLanes:
		r := a.take()
		a.masked(opLoadLanes, r, home{inFirst + base(o.mem), o.at}, o.n)
		a.put(v, r)
	case array:
		a.home[v] = home{inPool, a.row(a.list.arrays[o.at])}
	case spread:
		x := o.in[0]
		from, h := a.reg[x], a.home[x]
		a.done(o)
		to := a.take(x)
		if from != none {
			a.wide(opSpread, to, 0, from)
		} else {
			a.wideMemory(opSpread, to, 0, h)
		}
		a.put(v, to)
	case total:
		r := a.bring(o.in[0])
		to := a.take(o.in[0])
		a.put(v, to) // so that the next register is another
		other := a.take(o.in[0], v)
		a.fold(r, to, other, o.n)
		a.done(o)
	default:
		a.arithmeticLanes(o, v)
	}
}

func (a *assembler) arithmeticLanes(o *entry, v Value) {
	x, y := o.in[0], o.in[max(0, int(o.operands)-1)]
	r := a.bring(x, y)
	s := a.bring(y, x)
	a.done(o)
	to := a.take(x, y)
	switch o.do {
	case Sqrt:
		a.wide(opSqrt, to, 0, r)
	case Neg:
		a.wideNumber(opXor, to, r, signBit)
	case Abs:
		a.wideNumber(opAnd, to, r, withSign)
	default:
		a.wide(arithmetic[o.do], to, r, s)
	}
	a.put(v, to)
}

// storeWide writes the lanes of an entry. Numbers that lived there move to registers before.
func (a *assembler) storeWide(o *entry) {
	v := o.in[0]
	r := a.bring(v)
	for i := range int32(o.n) {
		a.vacate(home{inFirst + base(o.mem), o.at + i}, v)
	}
	a.masked(opStoreLanes, r, home{inFirst + base(o.mem), o.at}, o.n)
	a.done(o)
}

// fold adds up the first n lanes of r into register to.
func (a *assembler) fold(r, to, other, n int8) {
	if n < Lanes {
		a.setMask(n)
		a.evex(opLoadLanes, to, 0, r, 0x80|1) // moves the lanes, zeros elsewhere
		a.code = append(a.code, 0xc0|byte(to&7)<<3|byte(r&7))
		r = to
	}
	a.extract(other, r)
	a.narrow(opAdd, 1, to, r, other)
	a.extractHalf(other, to)
	a.narrow(opAdd, 0, to, to, other)
	a.narrow(opUnpackHigh, 0, other, to, to)
	a.register(opAdd, to, to, other)
}

// wideNumber writes dst = a op a constant in all lanes.
func (a *assembler) wideNumber(o opcode, dst, x int8, bits uint64) {
	a.evex(o, dst, x, 0, 0x10)
	a.code = append(a.code, byte(dst&7)<<3|5)
	a.fixups = append(a.fixups, fixup{len(a.code), a.number(bits, 0)})
	a.code = append(a.code, 0, 0, 0, 0)
}

// arithmetic are the instructions of operations on two operands.
var arithmetic = map[Operation]opcode{Add: opAdd, Sub: opSub, Mul: opMul, Div: opDiv, and: opAnd}
