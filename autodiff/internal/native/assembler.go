// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"math"
	"slices"
)

const (
	registers = 16
	none      = -1
	never     = math.MaxInt32
	soon      = 12 // operations within which a number in memory that is read again is worth a register
)

// assembler makes machine code of a list in one pass. Numbers stay in registers as long as there are any; the one whose next use is
// farthest gives way.
type assembler struct {
	encoder
	list   *List
	pieces []piece
	slots  int
	free   [2][]int32 // slots of the scratch that are no longer in use, of numbers and of lanes
	left   [2][]int32 // slots that the current entry reads last

	held  [registers]Value // number in each register, or none
	reg   []int8           // register of each number, or none
	home  []home
	uses  [][]int32 // entries that read each number, in order, those that ran left out
	there map[home][]Value
}

func newAssembler(l *List) *assembler {
	n := len(l.ops)
	a := &assembler{list: l, reg: make([]int8, n), home: make([]home, n), uses: make([][]int32, n), there: map[home][]Value{}}
	for i := range l.ops {
		a.reg[i] = none
		for _, v := range l.ops[i].in[:l.ops[i].operands] {
			a.uses[v] = append(a.uses[v], int32(i))
		}
	}
	for r := range a.held {
		a.held[r] = none
	}
	a.begin()
	return a
}

func (a *assembler) begin() {
	a.pieces = append(a.pieces, piece{entry: len(a.code)})
	a.lanes, a.mask = false, 0
}

// end ends a piece, which the functions of Go follow.
func (a *assembler) end() {
	p := &a.pieces[len(a.pieces)-1]
	if p.entry == len(a.code) {
		p.entry = none
		return
	}
	a.ret()
}

func (a *assembler) assemble() {
	for i := range a.list.ops {
		o := &a.list.ops[i]
		v := Value(i)
		for k := range a.free {
			a.free[k], a.left[k] = append(a.free[k], a.left[k]...), a.left[k][:0]
		}
		if o.do != store && o.do != storeLanes && len(a.uses[v]) == 0 {
			a.done(o)
			continue
		}
		switch o.do {
		case constant:
			a.home[v] = home{inPool, a.number(math.Float64bits(o.x), 0)}
		case load:
			h := home{inFirst + base(o.mem), o.at}
			a.home[v] = h
			a.there[h] = append(a.there[h], v)
		case store:
			a.store(o, home{inFirst + base(o.mem), o.at})
		case call:
			a.call(o, v)
		case storeLanes:
			a.storeWide(o)
		case compare, choose:
			a.decide(o, v)
		default:
			if o.lanes || o.do == total {
				a.lanesOf(o, v)
			} else {
				a.arithmetic(o, v)
			}
		}
	}
	a.end()
}

// next is the entry that reads v next.
func (a *assembler) next(v Value) int32 {
	if len(a.uses[v]) == 0 {
		return never
	}
	return a.uses[v][0]
}

// done takes the operands of an entry off the uses to come, and frees what is not read again.
func (a *assembler) done(o *entry) {
	for _, v := range o.in[:o.operands] {
		if a.uses[v] = a.uses[v][1:]; len(a.uses[v]) > 0 {
			continue
		}
		if r := a.reg[v]; r != none {
			a.held[r], a.reg[v] = none, none
		}
		a.leave(v)
	}
}

// leave gives up the home of v.
func (a *assembler) leave(v Value) {
	h := a.home[v]
	switch h.base {
	case inScratch:
		k := a.kind(v)
		a.left[k] = append(a.left[k], h.at)
	case inFirst, inSecond:
		a.there[h] = slices.DeleteFunc(a.there[h], func(x Value) bool { return x == v })
	}
	a.home[v] = home{}
}

// kind is 1 for a value with lanes, else 0.
func (a *assembler) kind(v Value) int {
	if a.list.ops[v].lanes {
		return 1
	}
	return 0
}

// slot returns room for v in the scratch.
func (a *assembler) slot(v Value) home {
	k := a.kind(v)
	if n := len(a.free[k]); n > 0 {
		at := a.free[k][n-1]
		a.free[k] = a.free[k][:n-1]
		return home{inScratch, at}
	}
	at := a.slots
	a.slots += []int{1, Lanes}[k]
	return home{inScratch, int32(at)}
}

// keep gives v a home.
func (a *assembler) keep(v Value) {
	if a.home[v].base != nowhere {
		return
	}
	a.home[v] = a.slot(v)
	if a.list.ops[v].lanes {
		a.wideMemory(opStoreLanes, a.reg[v], 0, a.home[v])
	} else {
		a.memory(opStore, a.reg[v], 0, a.home[v])
	}
}

// take returns a register other than those of the pinned numbers.
func (a *assembler) take(pinned ...Value) int8 {
	best := int8(none)
	for r, v := range a.held {
		if v == none {
			return int8(r)
		}
		if !slices.Contains(pinned, v) && (best == none || a.next(v) > a.next(a.held[best])) {
			best = int8(r)
		}
	}
	v := a.held[best]
	a.keep(v)
	a.reg[v], a.held[best] = none, none
	return best
}

func (a *assembler) put(v Value, r int8) { a.reg[v], a.held[r] = r, v }

// bring puts v into a register.
func (a *assembler) bring(v Value, pinned ...Value) int8 {
	if a.reg[v] == none {
		r := a.take(pinned...)
		if a.list.ops[v].lanes {
			a.wideMemory(opLoadLanes, r, 0, a.home[v])
		} else {
			a.memory(opLoad, r, 0, a.home[v])
		}
		a.put(v, r)
	}
	return a.reg[v]
}

// vacate moves numbers other than v that live in a place to registers.
func (a *assembler) vacate(h home, v Value) {
	for _, other := range slices.Clone(a.there[h]) {
		if other != v {
			a.bring(other, v)
			a.leave(other)
		}
	}
}

// store writes a number. Others that lived there move to registers before.
func (a *assembler) store(o *entry, h home) {
	v := o.in[0]
	r := a.bring(v)
	a.vacate(h, v)
	a.memory(opStore, r, 0, h)
	if len(a.uses[v]) > 1 && a.home[v].base != inPool && a.home[v] != h {
		a.leave(v)
		a.home[v] = h
		a.there[h] = append(a.there[h], v)
	}
	a.done(o)
}

// call ends the piece; all that is read later is in memory then.
func (a *assembler) call(o *entry, v Value) {
	f := function{f: o.f, operands: o.operands}
	for _, x := range a.held {
		if x != none {
			a.keep(x)
		}
	}
	for i, x := range o.in[:o.operands] {
		f.in[i] = a.home[x]
	}
	a.end()
	for r, x := range a.held {
		if x != none {
			a.reg[x], a.held[r] = none, none
		}
	}
	f.out = a.slot(v)
	a.done(o)
	a.home[v] = f.out
	p := &a.pieces[len(a.pieces)-1]
	p.calls = append(p.calls, f)
	a.begin()
}

// decide emits a comparison or a choice, whose operands are all in registers.
func (a *assembler) decide(o *entry, v Value) {
	in := o.in[:o.operands]
	var r [3]int8
	for i, x := range in {
		r[i] = a.bring(x, in...)
	}
	a.done(o)
	to := a.take(in...)
	if o.do == compare {
		a.compare(to, r[0], r[1], byte(o.at))
	} else {
		a.blend(to, r[0], r[1], r[2])
	}
	a.put(v, to)
}

// arithmetic emits one instruction.
func (a *assembler) arithmetic(o *entry, v Value) {
	x := o.in[0]
	if o.operands == 1 {
		r := a.bring(x)
		a.done(o)
		to := a.take(x)
		switch o.do {
		case Sqrt:
			a.register(opSqrt, to, r, r)
		case Neg:
			a.memory(opXor, to, r, home{inPool, a.number(signBit, 0)})
		default:
			a.memory(opAnd, to, r, home{inPool, a.number(withSign, 0)})
		}
		a.put(v, to)
		return
	}
	y := o.in[1]
	if (o.do == Add || o.do == Mul) && a.reg[x] == none && a.reg[y] != none {
		x, y = y, x
	}
	op := arithmetic[o.do]
	r := a.bring(x, y)
	if a.reg[y] == none && len(a.uses[y]) > 1 && a.uses[y][1]-a.uses[y][0] <= soon {
		a.bring(y, x)
	}
	if a.reg[y] != none {
		from := a.reg[y]
		a.done(o)
		to := a.take(x, y)
		a.register(op, to, r, from)
		a.put(v, to)
		return
	}
	h := a.home[y]
	a.done(o)
	to := a.take(x)
	a.memory(op, to, r, h)
	a.put(v, to)
}
