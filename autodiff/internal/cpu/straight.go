// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/native"
	"github.com/euryale-dev/euryale/kernels"
)

// straight is a sequence of jobs on single numbers, or on arrays of a few, as one piece of code.
type straight struct {
	first, jobs int
	code        *native.Code
	arrays      []int // arrays that it reads or writes
}

// fewest is the number of operations from which on machine code is worth its call, and most that up to which it is worth being made.
const fewest, most = 6, 20_000

// eachCall is the number of operations for each call of a function of Go from which on machine code is worth its interruptions: around a
// call, numbers leave their registers.
const eachCall = 8

// straightKey is the key of a program's []straight among what machines keep with it.
type straightKey struct{}

// straightOf returns the machine code of a program, which is made once.
func straightOf(p *compiler.Program) []straight {
	if list, ok := p.Kept.Load(straightKey{}); ok {
		return list.([]straight)
	}
	var list []straight
	lanes := native.HasLanes()
	for i := 0; i < len(p.Jobs); i++ {
		s := straight{first: i}
		var loops []*compiler.Loop
		ops := 0
		for ; i < len(p.Jobs) && p.Jobs[i].Loop != nil && native.Fits(p.Jobs[i].Loop, lanes); i++ {
			loop := p.Jobs[i].Loop
			loops = append(loops, loop)
			ops += len(loop.Ops) + 2*len(loop.Sums)
		}
		if s.jobs = len(loops); ops < fewest || ops > most {
			continue
		}
		l := &native.List{}
		if l.Inline(p, p.Jobs[s.first:i], native.Numbers{Read: func(at int) (native.Value, bool) { return l.Load(native.First, at), true },
			Write: func(at int, v native.Value) { l.Store(native.First, at, v) }}) {
			if l.Calls()*eachCall > ops {
				continue
			}
			if s.code = native.Compile(l); s.code != nil {
				s.arrays = arraysOf(loops)
				list = append(list, s)
			}
		}
	}
	kept, _ := p.Kept.LoadOrStore(straightKey{}, list)
	return kept.([]straight)
}

// arraysOf lists the arrays that loops read or write.
func arraysOf(loops []*compiler.Loop) (list []int) {
	for _, l := range loops {
		for i := range l.Ops {
			o := &l.Ops[i]
			for _, x := range append(o.Arg[:o.Op.Arity:o.Op.Arity], o.Dst) {
				if x.Kind != compiler.InRegister {
					list = append(list, x.Buf)
				}
			}
		}
		for _, f := range l.Fills {
			list = append(list, f.From.Buf)
		}
		for _, s := range l.Sums {
			list = append(list, s.A.Buf, s.B.Buf, s.Out)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// straighten replaces jobs on single numbers by machine code, unless they use arrays that Bind set.
func (m *Machine[T]) straighten() {
	arena, double := any(m.arena).([]float64)
	if !double || m.mirror != nil || m.o.Level < kernels.Best() {
		return
	}
	for i := range m.jobs {
		m.jobs[i].straight = nil
	}
	for _, s := range straightOf(m.p) {
		if m.bound == nil || !slices.ContainsFunc(s.arrays, func(buf int) bool { return m.bound[buf] != nil }) {
			m.jobs[s.first].straight = &bound{s, s.code.Scratch(), arena}
		}
	}
}

// bound is machine code with its memory.
type bound struct {
	straight
	scratch, arena []float64
}
