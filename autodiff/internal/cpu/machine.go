// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/kernels"
)

// Real is the element type of a machine.
type Real interface{ float32 | float64 }

// Settings are the options of a machine.
type Settings struct {
	Threads int
	Isolate bool // whether lanes of a batch fail alone
	Level   kernels.Level
}

// Machine runs a program at one precision.
type Machine[T Real] struct {
	p       *compiler.Program
	o       Settings
	arena   []T
	consts  []T
	ints    []int64
	bound   [][]T // arrays set by Bind in place of those in the arena, by buffer
	moved   bool  // whether bound has changed since the last run
	jobs    []machineJob[T]
	workers []*worker[T]
	share   sharing[T]
	mirror  *mirror[T] // nil unless arrays are made when they are needed
}

type machineJob[T Real] struct {
	loop     *compiler.Loop
	index    int // index of the loop in worker.loops
	call     *Call
	partials [][]float64 // partial results of each sum of kind Total, by block
	parts    [][]T       // partial results of each sum of kind Scattered, block after block
	straight *bound      // this job and some after it as machine code; nil for none
}

// NewMachine allocates the memory of a program and binds its jobs to it.
func NewMachine[T Real](p *compiler.Program, o Settings) *Machine[T] {
	m := &Machine[T]{p: p, o: o, arena: aligned[T](p.Arena), consts: aligned[T](p.Consts), ints: make([]int64, p.Ints)}
	for _, b := range p.Buffers {
		switch {
		case b.Value == nil || b.Value.Op != nil:
		case b.Kind == compiler.ConstBuf:
			for i, v := range b.Value.Data {
				m.consts[b.Offset+i] = T(v)
			}
		case b.Kind == compiler.IntBuf:
			copy(m.ints[b.Offset:], b.Value.Ints)
		}
	}
	ws := &kernels.Workspace{}
	loops := 0
	for _, j := range p.Jobs {
		mj := machineJob[T]{loop: j.Loop}
		if j.Loop != nil {
			mj.index = loops
			loops++
			mj.makeRoom()
		} else {
			mj.call = newCall(m, j.Step, ws)
		}
		m.jobs = append(m.jobs, mj)
	}
	m.workers = []*worker[T]{newWorker(m)}
	m.share.crew.take = m.takeBlocks
	m.straighten()
	return m
}

func (j *machineJob[T]) makeRoom() {
	j.partials, j.parts = make([][]float64, len(j.loop.Sums)), make([][]T, len(j.loop.Sums))
	for i, s := range j.loop.Sums {
		switch {
		case s.Kind == compiler.Total:
			j.partials[i] = make([]float64, j.loop.Blocks)
		case s.Kind == compiler.Scattered && j.loop.Blocks > 1:
			j.parts[i] = make([]T, j.loop.Blocks*s.Size)
		}
	}
}

// array returns the elements of an array from position off on.
func (m *Machine[T]) array(buf, off int) []T {
	b := m.p.Buffers[buf]
	if m.bound != nil && m.bound[buf] != nil {
		return m.bound[buf][off:]
	}
	off = min(off, b.Size) // a view of nothing may start at the end
	if m.mirror != nil {
		return m.mirror.array(m.p, buf)[off:]
	}
	from := m.arena
	if b.Kind == compiler.ConstBuf {
		from = m.consts
	}
	return from[b.Offset+off : b.Offset+b.Size]
}

// indices returns an array of indices.
func (m *Machine[T]) indices(buf int) []int64 {
	b := m.p.Buffers[buf]
	if m.mirror != nil {
		return m.mirror.indices(m.p, buf)
	}
	return m.ints[b.Offset : b.Offset+b.Size : b.Offset+b.Size]
}

// Reals returns an array of reals; nil if it holds indices.
func (m *Machine[T]) Reals(buf int) []T {
	b := m.p.Buffers[buf]
	switch {
	case b.Kind == compiler.IntBuf:
		return nil
	case m.bound != nil && m.bound[buf] != nil:
		return m.bound[buf]
	case m.mirror != nil:
		return m.mirror.array(m.p, buf)
	}
	return m.arena[b.Offset : b.Offset+b.Size : b.Offset+b.Size]
}

// Span returns the arrays first to last, which lie one after another in the arena.
func (m *Machine[T]) Span(first, last int) []T {
	a, b := m.p.Buffers[first], m.p.Buffers[last]
	if m.mirror != nil {
		return m.mirror.between(m.p)[a.Offset : b.Offset+b.Size]
	}
	return m.arena[a.Offset : b.Offset+b.Size]
}

// Indices returns an array of indices; nil if it holds reals.
func (m *Machine[T]) Indices(buf int) []int64 {
	if m.p.Buffers[buf].Kind != compiler.IntBuf {
		return nil
	}
	return m.indices(buf)
}

// Bind puts data in place of an array; nil restores the array.
func (m *Machine[T]) Bind(buf int, data []T) {
	if m.bound == nil {
		m.bound = make([][]T, len(m.p.Buffers))
	}
	m.bound[buf] = data
	m.moved = true
}

// rebind updates the addresses in steps and loops.
func (m *Machine[T]) rebind() {
	m.moved = false
	for i := range m.jobs { // those of a mirror that ran
		if j := &m.jobs[i]; j.call != nil {
			j.call = newCall(m, m.p.Jobs[i].Step, j.call.ws)
		}
	}
	for i := range m.workers {
		m.workers[i] = newWorker(m)
	}
	m.straighten()
}

// Store sets an array to numbers.
func (m *Machine[T]) Store(buf int, data []float64) {
	if m.p.IsInts(buf) {
		for i, v := range data {
			m.indices(buf)[i] = int64(v)
		}
		return
	}
	to := m.Reals(buf)
	for i, v := range data {
		to[i] = T(v)
	}
}

// Load returns a copy of the numbers of an array.
func (m *Machine[T]) Load(buf int) []float64 {
	out := make([]float64, m.p.Size(buf))
	if m.p.IsInts(buf) {
		for i, v := range m.indices(buf) {
			out[i] = float64(v)
		}
		return out
	}
	for i, v := range m.Reals(buf) {
		out[i] = float64(v)
	}
	return out
}
