// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Program is a graph made ready to run: arrays, and the jobs on them in order.
type Program struct {
	Outputs []*Value
	Jobs    []*Job
	planner
	InBufs, OutBufs []int    // arrays of the inputs and of the outputs
	Kept            sync.Map // what machines make of the program once, by keys of their own
}

// Of returns the code of a Program of package autodiff, which sets it for the packages below autodiff.
var Of func(program any) *Program

// Build makes the program that computes roots from inputs, pass by pass; trace, unless
// nil, is told what each pass has made.
func Build(g *Graph, inputs, roots []*Value, trace func(pass string, made fmt.Stringer)) (*Program, error) {
	if trace == nil {
		trace = func(string, fmt.Stringer) {}
	}
	values := needed(g.values, roots)
	trace("rewriting", listing{values: values})
	values = g.joinProducts(values, roots)
	l, err := layOut(values, len(g.values), g.Apart)
	if err != nil {
		return nil, err
	}
	keep, err := l.claim(roots)
	if err != nil {
		return nil, err
	}
	trace("layout", listing{values: l.order, layouts: true})
	jobs := fuse(l.order)
	trace("fusion", fusion(jobs))
	p := &Program{Outputs: roots, Jobs: jobs}
	p.plan(l, inputs, roots, jobs, keep)
	trace("memory", &p.planner)
	lowering := lowering{outside: map[*Value][]outsideOperand{}}
	for _, j := range jobs {
		if j.cluster != nil {
			j.Loop = lowering.lower(j.cluster)
		}
	}
	trace("loops", p)
	return p, nil
}

// plan gives arrays to inputs, outputs, constants and temporaries, in this order.
func (p *Program) plan(l *layouts, inputs, roots []*Value, jobs []*Job, keep map[*Value]bool) {
	p.Buffers = []buffer{{}}
	for _, v := range inputs {
		p.add(v, inputBuf)
		p.InBufs = append(p.InBufs, v.Place.Buf)
	}
	for _, v := range roots {
		p.add(v.Layout.Root, outputBuf)
		p.OutBufs = append(p.OutBufs, v.Layout.Root.Place.Buf)
	}
	for _, v := range l.order {
		if v.Op == nil && v.Place.Buf == 0 && (v.Data != nil || v.Ints != nil) {
			p.add(v, ConstBuf)
		}
	}
	p.temporaries(jobs, keep, l.nextID)
}

// needed returns the values that roots are made from, inputs before outputs.
func needed(values, roots []*Value) []*Value {
	mark := make([]bool, len(values))
	stack := slices.Clone(roots)
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !mark[v.id] {
			mark[v.id] = true
			stack = append(stack, v.In...)
		}
	}
	out := make([]*Value, 0, len(values))
	for _, v := range values {
		if mark[v.id] {
			out = append(out, v)
		}
	}
	return out
}

// Sizes returns how many reals and indices a run holds in arrays.
func (p *Program) Sizes() (reals, ints int) {
	reals, ints = p.Arena+p.Consts, p.Ints
	for _, j := range p.Jobs {
		if j.Loop != nil {
			reals += j.Loop.room()
		}
		if inside := j.inside(); inside != nil {
			r, i := inside.Sizes()
			reals, ints = reals+r, ints+i
		}
	}
	return reals, ints
}

// String lists the jobs, one line per pass over memory.
func (p *Program) String() string {
	var b strings.Builder
	for _, j := range p.Jobs {
		if j.Step != nil {
			fmt.Fprintf(&b, "  %s %v\n", j.Step.Op.Name, []int(j.Step.Shape))
			if p := j.inside(); p != nil {
				for line := range strings.Lines(p.String()) {
					b.WriteString("  " + line)
				}
			}
			continue
		}
		fmt.Fprintf(&b, "  loop %v regs=%d loads=%d fills=%d blocks=%d:", j.Loop.Dims, j.Loop.Regs, len(j.Loop.Loads), len(j.Loop.Fills), j.Loop.Blocks)
		for _, m := range j.Loop.Ops {
			b.WriteString(" " + [...]string{Arrays: m.Op.Name, ByNumber: m.Op.ByNumber, NumberBy: m.Op.NumberBy}[m.Form])
		}
		for _, s := range j.Loop.Sums {
			fmt.Fprintf(&b, " %s->%d", s.name(), s.Size)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Reads lists the arrays that a job reads, each once.
func (j *Job) Reads() []int {
	var list []int
	own := j.Writes()
	for _, v := range j.values() {
		for _, x := range v.In {
			b := x.Layout.Root.Place.Buf
			if b != 0 && !slices.Contains(list, b) && !slices.Contains(own, b) {
				list = append(list, b)
			}
		}
	}
	return list
}

// Writes lists the arrays that a job writes.
func (j *Job) Writes() []int {
	var list []int
	for _, v := range j.values() {
		if b := v.Place.Buf; b != 0 {
			list = append(list, b)
		}
	}
	return list
}
