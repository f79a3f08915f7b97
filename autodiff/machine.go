package autodiff

import "github.com/euryale-dev/euryale/kernels"

// real is the element type of a machine.
type real interface{ float32 | float64 }

// options say how a machine runs.
type options struct {
	Threads int
	Isolate bool // lanes of a batch fail alone
	Level   kernels.Level
}

// machine runs a program at one precision.
type machine[T real] struct {
	p       *code
	o       options
	arena   []T
	consts  []T
	ints    []int64
	bound   [][]T // by buffer: what Bind put in place of the arena
	moved   bool  // bound has changed since the last run
	jobs    []machineJob[T]
	workers []*worker[T]
	share   sharing[T]
}

type machineJob[T real] struct {
	loop     *loop
	index    int // in worker.loops
	call     *call
	partials [][]float64 // of each sum toOne, by block
	parts    [][]T       // of each sum anyhow, block after block
}

func newMachine[T real](p *code, o options) *machine[T] {
	m := &machine[T]{p: p, o: o, arena: aligned[T](p.arena), consts: aligned[T](p.consts), ints: make([]int64, p.ints)}
	for _, b := range p.buffers {
		switch {
		case b.value == nil || b.value.op != nil:
		case b.kind == constBuf:
			for i, v := range b.value.data {
				m.consts[b.offset+i] = T(v)
			}
		case b.kind == intBuf:
			copy(m.ints[b.offset:], b.value.ints)
		}
	}
	ws := &kernels.Workspace{}
	loops := 0
	for _, j := range p.jobs {
		mj := machineJob[T]{loop: j.loop}
		if j.loop != nil {
			mj.index = loops
			loops++
			mj.makeRoom()
		} else {
			mj.call = newCall(m, j.step, ws)
		}
		m.jobs = append(m.jobs, mj)
	}
	m.workers = []*worker[T]{newWorker(m)}
	return m
}

func (j *machineJob[T]) makeRoom() {
	j.partials, j.parts = make([][]float64, len(j.loop.sums)), make([][]T, len(j.loop.sums))
	for i, s := range j.loop.sums {
		switch {
		case s.kind == toOne:
			j.partials[i] = make([]float64, j.loop.blocks)
		case s.kind == anyhow && j.loop.blocks > 1:
			j.parts[i] = make([]T, j.loop.blocks*s.size)
		}
	}
}

// array returns the elements of an array from off on.
func (m *machine[T]) array(buf, off int) []T {
	b := m.p.buffers[buf]
	if m.bound != nil && m.bound[buf] != nil {
		return m.bound[buf][off:]
	}
	from := m.arena
	if b.kind == constBuf {
		from = m.consts
	}
	off = min(off, b.size) // a view of nothing may start at the end
	return from[b.offset+off : b.offset+b.size]
}

// reals returns an array of reals; nil if it holds indices.
func (m *machine[T]) reals(buf int) []T {
	b := m.p.buffers[buf]
	switch {
	case b.kind == intBuf:
		return nil
	case m.bound != nil && m.bound[buf] != nil:
		return m.bound[buf]
	}
	return m.arena[b.offset : b.offset+b.size : b.offset+b.size]
}

// span returns the arrays first to last, which lie one after another in the arena.
func (m *machine[T]) span(first, last int) []T {
	a, b := m.p.buffers[first], m.p.buffers[last]
	return m.arena[a.offset : b.offset+b.size]
}

// indices returns an array of indices; nil if it holds reals.
func (m *machine[T]) indices(buf int) []int64 {
	b := m.p.buffers[buf]
	if b.kind != intBuf {
		return nil
	}
	return m.ints[b.offset : b.offset+b.size : b.offset+b.size]
}

// bind puts data in place of an array; nil puts it back.
func (m *machine[T]) bind(buf int, data []T) {
	if m.bound == nil {
		m.bound = make([][]T, len(m.p.buffers))
	}
	m.bound[buf] = data
	m.moved = true
}

// rebind gives steps and loops the new addresses.
func (m *machine[T]) rebind() {
	m.moved = false
	for i := range m.jobs {
		if j := &m.jobs[i]; j.call != nil {
			j.call = newCall(m, m.p.jobs[i].step, j.call.ws)
		}
	}
	for i := range m.workers {
		m.workers[i] = newWorker(m)
	}
}
