// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectors says which register holds which half of a vector. Half h of Yi has its home in V(2i+h): there it is at every label and
// branch. In between it may be anywhere, and one register may hold several halves, so that a copy takes no instruction and a
// constant no second load.
type vectors struct {
	holder [32]int  // the register of each half, or -1
	state  [32]held // contents of each register
	live   [32]bool // the halves that are live after the instruction
}

// held says what is known about the contents of a register.
type held struct {
	busy     bool   // the current instruction uses it
	single   bool   // only the first lane is valid, and it stands for all
	double   bool   // the lane of single is a float64
	mask     bool   // the bits of a lane are equal
	constant string // the name of the constant that it holds
}

// enter begins a block: the live halves are at home, and no more is known.
func (v *vectors) enter(live [32]bool) {
	v.state = [32]held{}
	for h := range v.holder {
		if v.holder[h] = -1; live[h] {
			v.holder[h] = h
		}
	}
}

// liveHalves translates the set of live registers.
func (t *translation) liveHalves(set reg.MaskSet) (live [32]bool) {
	for id, mask := range set {
		if id = t.fn.Allocation.LookupDefault(id); id.Kind() != reg.KindVector {
			continue
		}
		i := int(id.Index())
		if i >= 16 {
			log.Fatalf("gen: %s uses more than 16 vectors", t.fn.Name)
		}
		live[2*i] = live[2*i] || mask&reg.S128.Mask() != 0
		live[2*i+1] = live[2*i+1] || mask&^reg.S128.Mask() != 0
	}
	return live
}

// holds reports how many halves are in a register.
func (v *vectors) holds(r int) (n int) {
	for _, at := range v.holder {
		if at == r {
			n++
		}
	}
	return n
}

// fresh returns a register that holds nothing, the one at home if possible. It is busy until the end of the instruction.
func (t *translation) fresh(home int) int {
	best, worth := -1, 0
	for r := range t.state {
		w := 1
		switch {
		case t.state[r].busy || t.holds(r) > 0:
			continue
		case r == home:
			w = 3
		case t.state[r].constant == "":
			w = 2
		}
		if w >= worth {
			best, worth = r, w
		}
	}
	if best < 0 {
		log.Fatalf("gen: %s: no vector register is free", t.fn.Name)
	}
	t.state[best] = held{busy: true}
	return best
}

// finish ends an instruction.
func (t *translation) finish() {
	for h, live := range t.live {
		if !live {
			t.holder[h] = -1
		}
	}
	for r := range t.state {
		t.state[r].busy = false
	}
}

// settle brings the live halves home.
func (t *translation) settle(live [32]bool) {
	for h, at := range t.holder {
		switch {
		case !live[h]:
			t.holder[h] = -1
		case at >= 0:
			t.allLanes(at)
		}
	}
	for {
		moved, waiting := false, -1
		for h, at := range t.holder {
			if at < 0 || at == h {
				continue
			}
			if waiting = h; t.holds(h) == 0 {
				t.copyVector(h, at)
				t.state[h], t.holder[h] = t.state[at], h
				moved = true
			}
		}
		switch {
		case waiting < 0:
			return
		case !moved: // a ring
			r := t.fresh(-1)
			t.copyVector(r, waiting)
			t.state[r] = t.state[waiting]
			for h, at := range t.holder {
				if at == waiting {
					t.holder[h] = r
				}
			}
		}
	}
}

// allLanes makes all lanes of a register valid.
func (t *translation) allLanes(r int) int {
	if t.state[r].single {
		t.state[r].single = false
		t.spreadLane(t.state[r].double, r, r, 0)
	}
	return r
}

// source is an operand that is read.
type source struct {
	register int // or -1
	memory   [2]int
	constant string // the name of a constant, which is loaded where it is needed
}

func vectorIndex(o operand.Op) int { return int(o.(reg.Physical).PhysicalIndex()) }

// source prepares an operand of one half or two: from memory it is read.
func (t *translation) source(o operand.Op, halves int) source {
	return t.sourceAt(o, halves, -1)
}

// sourceAt is source with the vector to whose home an operand from memory goes if it is free, or -1.
func (t *translation) sourceAt(o operand.Op, halves, to int) source {
	m, ok := o.(operand.Mem)
	if !ok {
		return source{register: vectorIndex(o)}
	}
	s := source{register: -1}
	if m.Base == reg.StaticBase && m.Index == nil && t.data.once[m.Symbol.Name] {
		s.constant = m.Symbol.Name
		return s
	}
	for h := range halves {
		s.memory[h] = t.fresh(max(-1, 2*to+h))
	}
	t.load(s.memory[:halves], t.place(m))
	return s
}

// constant returns a register with a constant whose halves are equal.
func (t *translation) constant(name string) int {
	for r := range t.state {
		if t.state[r].constant == name {
			t.state[r].busy = true
			return r
		}
	}
	r := t.fresh(-1)
	t.loadConstant(name, r)
	t.state[r].constant = name
	return r
}

func (t *translation) loadConstant(name string, to int) {
	t.usesData = true
	t.line("FMOVQ %d(%s), F%d", t.data.offset[name], dataRegister, to)
}

func (t *translation) load(to []int, p place) {
	if len(to) == 2 && paired(p) {
		t.line("FLDPQ %s, (F%d, F%d)", p, to[0], to[1])
		return
	}
	for h, r := range to {
		t.line("FMOVQ %s, F%d", p.plus(16*h), r)
	}
}

func (t *translation) store(from []int, p place) {
	if len(from) == 2 && paired(p) {
		t.line("FSTPQ (F%d, F%d), %s", from[0], from[1], p)
		return
	}
	for h, r := range from {
		t.line("FMOVQ F%d, %s", r, p.plus(16*h))
	}
}

// paired reports whether one instruction reaches both halves at p.
func paired(p place) bool { return p.disp%16 == 0 && -1024 <= p.disp && p.disp <= 1008 }

// raw is the register of a half of an operand, of which perhaps only the first lane is valid.
func (t *translation) raw(s source, h int) int {
	switch {
	case s.constant != "":
		return t.constant(s.constant)
	case s.register < 0:
		return s.memory[h]
	}
	r := t.holder[2*s.register+h]
	if r < 0 {
		log.Fatalf("gen: %s reads half %d of Y%d, which nothing has written", t.fn.Name, h, s.register)
	}
	return r
}

func (t *translation) half(s source, h int) int { return t.allLanes(t.raw(s, h)) }

// lastUse reports whether nothing needs half h of an operand after the instruction, which writes to.
func (t *translation) lastUse(s source, h, to int) bool {
	if s.register < 0 {
		return s.constant == ""
	}
	return (s.register == to || !t.live[2*s.register+h]) && t.holds(t.holder[2*s.register+h]) == 1
}

// drop forgets half h of the operands where this was their last use.
func (t *translation) drop(h, to int, from ...source) {
	for _, s := range from {
		switch {
		case s.register < 0:
			if t.lastUse(s, h, to) {
				t.state[s.memory[h]].busy = false
			}
		case s.register == to || !t.live[2*s.register+h]:
			t.holder[2*s.register+h] = -1
		}
	}
}

// set makes r the holder of half h of a vector.
func (t *translation) set(to, h, r int) { t.holder[2*to+h] = r }

// clearUpper sets the upper half of a vector to zero, as instructions of 128 bits do.
func (t *translation) clearUpper(to int) {
	t.holder[2*to+1] = -1
	if t.live[2*to+1] {
		r := t.fresh(2*to + 1)
		t.zero(r)
		t.set(to, 1, r)
	}
}
