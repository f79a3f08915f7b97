// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"slices"
	"unsafe"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// worker holds the registers of one goroutine and the loops bound to them: every operand is a
// pointer and the index of the offset to add to it.
type worker[T Real] struct {
	m     *Machine[T]
	regs  []T
	loops []*boundLoop[T]
	off   []uintptr // offsets by slot: 0, the position in the loop, then one per row view
}

type boundLoop[T Real] struct {
	*compiler.Loop
	job    *machineJob[T]
	tile   int
	ops    []boundOp[T]
	scalar []scalarOp[T]
	loads  []boundLoad[T]
	fills  []boundFill[T]
	sums   []boundSum[T]
	rowAt  []int // first element of the current row, by row view
	single bool  // whether runSingle runs it
}

// at is the address of a tile: base plus the worker's offset of the slot.
type at struct {
	base unsafe.Pointer
	slot int
}

type boundOp[T Real] struct {
	f1      func(dst, a *T, n int)
	f2      func(dst, a, b *T, n int)
	f3      func(dst, a, b, c *T, n int)
	dst     at
	a, b, c at
}

type boundLoad[T Real] struct {
	dst     []T
	src     unsafe.Pointer
	strides []int
}

type boundFill[T Real] struct {
	dst    []T
	from   at
	perRow bool
}

type boundSum[T Real] struct {
	compiler.Reduce
	reduce func(a *T, n int) float64
	dot    func(a, b *T, n int) float64
	merge  func(dst, a, b *T, n int) // elementwise combination of two partial results
	fma    func(dst, a, b, c *T, n int)
	a, b   at
	out    []T
	acc    float64
	part   []T // array that this block adds to
	row    int // first element of the current row in part
}

func newWorker[T Real](m *Machine[T]) *worker[T] {
	w := &worker[T]{m: m, loops: make([]*boundLoop[T], len(m.jobs))}
	regs, rows := 0, 0
	for _, j := range m.jobs {
		if j.loop != nil {
			regs = max(regs, j.loop.Regs*compiler.RoundUp(j.loop.Tile()))
			rows = max(rows, len(j.loop.Rows))
		}
	}
	w.regs = aligned[T](regs)
	w.off = make([]uintptr, 2+rows)
	for i := range m.jobs {
		if j := &m.jobs[i]; j.loop != nil {
			w.loops[j.index] = w.bind(j)
		}
	}
	return w
}

func (w *worker[T]) bind(j *machineJob[T]) *boundLoop[T] {
	l := j.loop
	b := &boundLoop[T]{Loop: l, job: j, tile: l.Tile(), rowAt: make([]int, len(l.Rows))}
	if l.Scalar {
		inside := map[*T]bool{} // registers
		for _, o := range l.Ops {
			b.scalar = append(b.scalar, w.bindScalar(b, o))
			if o.Dst.Kind == compiler.InRegister {
				inside[b.scalar[len(b.scalar)-1].dst] = true
			}
		}
		b.scalar = joined(b.scalar, inside)
		return b
	}
	for _, o := range l.Ops {
		b.ops = append(b.ops, w.bindOp(b, o))
	}
	for _, o := range l.Loads {
		b.loads = append(b.loads, boundLoad[T]{dst: w.register(b, o.Reg), src: w.element(o.Buf, o.Off), strides: o.Strides})
	}
	for _, f := range l.Fills {
		b.fills = append(b.fills, boundFill[T]{dst: w.register(b, f.Reg), from: w.at(b, f.From), perRow: f.PerRow})
	}
	for i, s := range l.Sums {
		b.sums = append(b.sums, w.bindSum(b, i, s))
	}
	b.single = !l.ByRow && l.Blocks == 1 && 0 < l.N && l.N <= b.tile && !slices.ContainsFunc(l.Sums, func(s compiler.Reduce) bool { return s.Kind != compiler.Total })
	return b
}

func (w *worker[T]) register(b *boundLoop[T], reg int) []T {
	t := compiler.RoundUp(b.tile)
	return w.regs[reg*t : (reg+1)*t]
}

// element returns the address of element off of an array. It may lie just outside the array if an
// empty view runs backwards.
func (w *worker[T]) element(buf, off int) unsafe.Pointer {
	a := w.m.array(buf, 0)
	if len(a) == 0 {
		return nil
	}
	return unsafe.Pointer(&a[min(off, len(a)-1)])
}

func (w *worker[T]) at(b *boundLoop[T], o compiler.Operand) at {
	switch o.Kind {
	case compiler.InRegister:
		r := w.register(b, o.Reg)
		return at{unsafe.Pointer(&r[0]), 0}
	case compiler.InStep:
		return at{w.element(o.Buf, o.Off), 1}
	case compiler.InRow:
		v := b.Loop.Rows[o.Row]
		return at{w.element(v.Buf, v.Off), 2 + o.Row}
	}
	return at{w.element(o.Buf, o.Off), 0}
}

func (w *worker[T]) bindOp(b *boundLoop[T], o compiler.Instruction) boundOp[T] {
	out := boundOp[T]{dst: w.at(b, o.Dst), a: w.at(b, o.Arg[0])}
	switch o.Op.Arity {
	case 1:
		out.f1 = kernel1[T](w.m.o.Level, o.Op)
	case 2:
		out.f2 = kernel2[T](w.m.o.Level, o.Form, o.Op)
		out.b = w.at(b, o.Arg[1])
	default:
		out.f3 = kernel3[T](w.m.o.Level, o.Op)
		out.b, out.c = w.at(b, o.Arg[1]), w.at(b, o.Arg[2])
	}
	return out
}

func (w *worker[T]) bindSum(b *boundLoop[T], i int, s compiler.Reduce) boundSum[T] {
	out := boundSum[T]{Reduce: s, a: w.at(b, s.A), out: w.m.array(s.Out, 0)}
	level := w.m.o.Level
	switch s.Of {
	case compiler.Products:
		out.b = w.at(b, s.B)
		out.dot = kernelDot[T](level)
	case compiler.RowProducts:
		out.b = w.at(b, s.B)
		out.fma = kernelFMA[T](level, "fma")
	case compiler.RowNumbers:
		out.b = w.at(b, s.B)
		out.fma = kernelFMA[T](level, "fma_s")
	case compiler.Squares:
		out.reduce = kernelReduce[T](level, "sumsq")
	default:
		out.reduce = kernelReduce[T](level, s.Op.Kernel)
	}
	out.merge = kernel2[T](level, compiler.Arrays, s.Op.Combines())
	return out
}

// aligned allocates n elements that start on a cache line.
func aligned[T Real](n int) []T {
	const line = 64
	var z T
	extra := line / int(unsafe.Sizeof(z))
	s := make([]T, n+extra)
	if n == 0 {
		return s[:0]
	}
	skip := 0
	for uintptr(unsafe.Pointer(&s[skip]))%line != 0 {
		skip++
	}
	return s[skip : skip+n : skip+n]
}
