// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// Numbers are the values of places in the arena of a program. Read returns the value of a number that none of the loops has written, and
// Write is told which numbers they write.
type Numbers struct {
	Read  func(at int) (v Value, ok bool)
	Write func(at int, v Value)

	at    map[int]Value
	lanes map[int]lanesAt // arrays of a few elements, by the place of the first; loops read and write them in the arena as First
}

// lanesAt is an array of n elements in the arena.
type lanesAt struct {
	v Value
	n int
}

// inlining appends a loop to a list.
type inlining struct {
	*List
	p    *compiler.Program
	loop *compiler.Loop
	regs map[int]Value
	Numbers
}

// Inline appends jobs to the list: loops that Fits has found to suit, and choices. ok is false, and the list of no use, if they read what is no
// real number in the arena.
func (l *List) Inline(p *compiler.Program, jobs []*compiler.Job, n Numbers) (ok bool) {
	n.at, n.lanes = map[int]Value{}, map[int]lanesAt{}
	for _, j := range jobs {
		i := &inlining{l, p, j.Loop, map[int]Value{}, n}
		if j.Loop == nil {
			ok = i.choice(j.Step)
		} else {
			ok = i.fills() && i.operations() && i.sums()
		}
		if !ok {
			return false
		}
	}
	return true
}

// choice appends a step that runs a program once or not at all, as Cond makes it. The program is computed in any case, and its results are
// taken where it is to run.
func (i *inlining) choice(v *compiler.Value) bool {
	s := v.Obj.(*compiler.Scan)
	i.loop = &compiler.Loop{N: 1}
	in := make([]Value, len(v.In))
	for k, x := range v.In {
		if k == s.Carries+s.Number && s.Number >= 0 {
			in[k] = i.Constant(0)
			continue
		}
		var ok bool
		if in[k], ok = i.operand(&compiler.Operand{Kind: compiler.InNumber, Buf: x.Layout.Root.Place.Buf, Off: x.Layout.Offset}); !ok {
			return false
		}
	}
	out, ok := i.Function(s.Body, in)
	for k, x := range out {
		other := i.Constant(0)
		if k < s.Carries {
			other = in[k]
		}
		i.write(i.p.Buffers[v.Place.Buf].Offset+k, i.Choose(in[s.Count], x, other))
	}
	return ok
}

// chooses says whether a job is a step that choice can append.
func chooses(j *compiler.Job) bool {
	if j.Step == nil {
		return false
	}
	s, ok := j.Step.Obj.(*compiler.Scan)
	if !ok || s.Steps != 1 || s.Count < 0 || s.Until >= 0 {
		return false
	}
	_, ok = Operations(s.Body)
	return ok
}

// fewestLanes is the number of elements from which on lanes are faster than loops: reading lanes that were written as single numbers waits.
const fewestLanes = 5

// Fits says whether a loop is one of single numbers or, if lanes are allowed, over fewestLanes to Lanes elements, of operations that have machine code.
func Fits(l *compiler.Loop, lanes bool) bool {
	if l.Scalar {
		return true
	}
	return lanes && l.N >= fewestLanes && l.N <= Lanes && !l.ByRow && l.Blocks == 1 && len(l.Loads) == 0 &&
		!slices.ContainsFunc(l.Fills, func(f compiler.Fill) bool { return f.PerRow }) &&
		!slices.ContainsFunc(l.Ops, func(o compiler.Instruction) bool { return !hasCode(o.Op) }) &&
		!slices.ContainsFunc(l.Sums, func(s compiler.Reduce) bool {
			return s.Kind != compiler.Total || s.Op.Code != compiler.Sum || s.Of > compiler.Products
		})
}

// hasCode says whether Apply makes machine code of an operation.
func hasCode(op *compiler.Op) bool {
	_, ok := of[op.Code]
	return ok || op.Code == compiler.Copy || op.Code == compiler.Square || op.Code == compiler.Reciprocal
}

func (i *inlining) fills() bool {
	for _, f := range i.loop.Fills {
		v, ok := i.operand(&f.From)
		if !ok {
			return false
		}
		i.regs[f.Reg] = v
	}
	return true
}

func (i *inlining) operations() bool {
	for k := range i.loop.Ops {
		o := &i.loop.Ops[k]
		var in [3]Value
		for j := range o.Op.Arity {
			var ok bool
			if in[j], ok = i.operand(&o.Arg[j]); !ok {
				return false
			}
		}
		if o.Form == compiler.NumberBy {
			in[0], in[1] = in[1], in[0]
		}
		v := i.Apply(o.Op, in[:o.Op.Arity]...)
		if o.Dst.Kind == compiler.InRegister {
			i.regs[o.Dst.Reg] = v
			continue
		}
		i.write(i.p.Buffers[o.Dst.Buf].Offset+o.Dst.Off, v)
	}
	return true
}

func (i *inlining) sums() bool {
	for _, s := range i.loop.Sums {
		a, ok := i.operand(&s.A)
		b := a
		if ok && s.Of == compiler.Products {
			b, ok = i.operand(&s.B)
		}
		if !ok {
			return false
		}
		if s.Of != compiler.Numbers {
			a = i.Do(Mul, i.Spread(a), i.Spread(b))
		}
		at := i.p.Buffers[s.Out].Offset
		i.overwritten(at, 1)
		i.at[at] = i.Total(i.Spread(a), i.loop.N)
		i.Write(at, i.at[at])
	}
	return true
}

// write puts a result of the loop into the arena.
func (i *inlining) write(at int, v Value) {
	n := i.loop.N
	i.overwritten(at, n)
	if n == 1 {
		i.at[at] = v
		i.Write(at, v)
		return
	}
	v = i.Spread(v)
	i.lanes[at] = lanesAt{v, n}
	i.StoreLanes(First, at, n, v)
}

// overwritten forgets what was known of n elements.
func (i *inlining) overwritten(at, n int) {
	for k := range n {
		delete(i.at, at+k)
	}
	for from := at - Lanes + 1; from < at+n; from++ {
		if from+i.lanes[from].n > at {
			delete(i.lanes, from)
		}
	}
}

// operand returns the value of an operand of the loop.
func (i *inlining) operand(o *compiler.Operand) (v Value, ok bool) {
	if o.Kind == compiler.InRegister {
		v, ok = i.regs[o.Reg]
		return v, ok
	}
	n := 1
	if o.Kind == compiler.InStep {
		n = i.loop.N
	}
	b := &i.p.Buffers[o.Buf]
	switch {
	case o.Kind == compiler.InRow || b.Kind == compiler.IntBuf || b.Kind == compiler.ConstBuf && (b.Value == nil || b.Value.Op != nil):
		return 0, false
	case b.Kind == compiler.ConstBuf && n > 1:
		return i.Array(b.Value.Data[o.Off : o.Off+n]), true
	case b.Kind == compiler.ConstBuf:
		return i.Constant(b.Value.Data[o.Off]), true
	case n > 1:
		at := b.Offset + o.Off
		known := i.lanes[at]
		if known.n != n {
			known = lanesAt{i.LoadLanes(First, at, n), n}
			i.lanes[at] = known
		}
		return known.v, true
	}
	at := b.Offset + o.Off
	if v, ok = i.at[at]; !ok {
		if v, ok = i.Read(at); ok {
			i.at[at] = v
		}
	}
	return v, ok
}

// Function appends a program of single numbers, see Operations: in are the values of its inputs; those behind them must be unused. ok is false if it is none.
func (l *List) Function(p *compiler.Program, in []Value) (out []Value, ok bool) {
	if _, ok := Operations(p); !ok || len(in) > len(p.InBufs) {
		return nil, false
	}
	at := map[int]Value{}
	for i, v := range in {
		at[p.Buffers[p.InBufs[i]].Offset] = v
	}
	ok = l.Inline(p, p.Jobs, Numbers{Read: func(i int) (Value, bool) { v, ok := at[i]; return v, ok }, Write: func(i int, v Value) { at[i] = v }})
	for _, buf := range p.OutBufs {
		v, made := at[p.Buffers[buf].Offset]
		out, ok = append(out, v), ok && made && p.Buffers[buf].Kind != compiler.IntBuf
	}
	return out, ok
}

// Operations returns the number of operations of a program all of whose inputs, outputs and jobs are single numbers, choices included; ok is
// false if it is none.
func Operations(p *compiler.Program) (n int, ok bool) {
	for _, buf := range append(append([]int{}, p.InBufs...), p.OutBufs...) {
		if p.Buffers[buf].Size != 1 || p.IsInts(buf) {
			return 0, false
		}
	}
	for _, j := range p.Jobs {
		switch {
		case j.Loop != nil && j.Loop.Scalar:
			n += len(j.Loop.Ops)
		case chooses(j):
			inside, _ := Operations(j.Step.Obj.(*compiler.Scan).Body)
			n += inside
		default:
			return 0, false
		}
	}
	return n, true
}
