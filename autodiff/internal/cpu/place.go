// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"unsafe"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// place lists where a machine keeps the address of one array, so that other memory can take the place of the array between
// runs without binding every job anew, as Bind does.
type place[T Real] struct {
	buf     int
	workers int // number of workers whose addresses are listed
	points  []address
	slices  []section[T]
}

// address is where the address of element off is kept.
type address struct {
	to  *unsafe.Pointer
	off int
}

// section is where a slice of the elements from off on is kept.
type section[T Real] struct {
	to  *[]T
	off int
}

// leastPlaced is the number of elements from which on it takes less time to change addresses than to copy an array.
const leastPlaced = 128

// place returns the place of an array, or nil if a job keeps its address elsewhere: machine code, loops over single numbers,
// and steps other than products and joins, which may keep what they made of it.
func (m *Machine[T]) place(buf int) *place[T] {
	if m.moved {
		m.rebind()
	}
	if m.p.IsInts(buf) || m.p.Size(buf) < leastPlaced {
		return nil
	}
	for i := range m.jobs {
		j, uses := &m.jobs[i], false
		switch {
		case j.loop != nil:
			uses = j.loop.Scalar && usesArray(j.loop, buf)
		case j.call.Op.Code != compiler.MatMul && j.call.Op.Code != compiler.Concat:
			uses = callUses(m.p.Jobs[i].Step, buf)
		}
		if s := j.straight; s != nil {
			for _, b := range s.arrays {
				uses = uses || b == buf
			}
		}
		if uses {
			return nil
		}
	}
	return &place[T]{buf: buf}
}

// usesArray reports whether a loop reads or writes an array.
func usesArray(l *compiler.Loop, buf int) bool {
	for _, b := range arraysOf([]*compiler.Loop{l}) {
		if b == buf {
			return true
		}
	}
	return false
}

func callUses(v *compiler.Value, buf int) bool {
	for _, x := range v.In {
		if x.Layout.Root.Place.Buf == buf {
			return true
		}
	}
	return v.Place.Buf == buf
}

// put makes data the memory of the array of p.
func (m *Machine[T]) put(p *place[T], data []T) {
	if m.bound == nil {
		m.bound = make([][]T, len(m.p.Buffers))
	}
	m.bound[p.buf] = data
	if p.workers != len(m.workers) {
		p.find(m)
	}
	for _, a := range p.points {
		*a.to = unsafe.Pointer(&data[min(a.off, len(data)-1)])
	}
	for _, s := range p.slices {
		*s.to = data[s.off : s.off+len(*s.to)]
	}
}

// find lists the addresses that the workers and the steps of a machine keep.
func (p *place[T]) find(m *Machine[T]) {
	p.workers, p.points, p.slices = len(m.workers), nil, nil
	for _, w := range m.workers {
		for _, b := range w.loops {
			if b != nil {
				p.inLoop(b)
			}
		}
	}
	for i := range m.jobs {
		j := &m.jobs[i]
		if j.call == nil {
			continue
		}
		v, in, out := m.p.Jobs[i].Step, slicesOf[T](j.call.In64, j.call.In32), sliceOf[T](&j.call.Out64, &j.call.Out32)
		for k, x := range v.In {
			if x.Layout.Root.Place.Buf == p.buf {
				p.slices = append(p.slices, section[T]{&in[k], x.Layout.Offset})
			}
		}
		if v.Place.Buf == p.buf {
			p.slices = append(p.slices, section[T]{out, 0})
		}
	}
}

func slicesOf[T Real](f64 [][]float64, f32 [][]float32) []([]T) { return pick[T](f64, f32).([][]T) }

func sliceOf[T Real](f64 *[]float64, f32 *[]float32) *[]T { return pick[T](f64, f32).(*[]T) }

// inLoop lists the addresses that a loop keeps.
func (p *place[T]) inLoop(b *boundLoop[T]) {
	operand := func(to *at, o compiler.Operand) {
		buf, off := o.Buf, o.Off
		switch o.Kind {
		case compiler.InRegister:
			return
		case compiler.InRow:
			buf, off = b.Loop.Rows[o.Row].Buf, b.Loop.Rows[o.Row].Off
		}
		if buf == p.buf {
			p.points = append(p.points, address{&to.base, off})
		}
	}
	for i := range b.ops {
		o, l := &b.ops[i], &b.Loop.Ops[i]
		operand(&o.dst, l.Dst)
		for k, a := range []*at{&o.a, &o.b, &o.c}[:l.Op.Arity] {
			operand(a, l.Arg[k])
		}
	}
	for i, l := range b.Loop.Loads {
		if l.Buf == p.buf {
			p.points = append(p.points, address{&b.loads[i].src, l.Off})
		}
	}
	for i, f := range b.Loop.Fills {
		operand(&b.fills[i].from, f.From)
	}
	for i := range b.sums {
		s, l := &b.sums[i], &b.Loop.Sums[i]
		operand(&s.a, l.A)
		if s.dot != nil || s.fma != nil {
			operand(&s.b, l.B)
		}
		if l.Out == p.buf {
			p.slices = append(p.slices, section[T]{&s.out, 0})
		}
	}
}
