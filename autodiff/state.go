package autodiff

import (
	"fmt"

	"github.com/euryale-dev/euryale/kernels"
)

// State is the memory of one run of a Program: its inputs, outputs and
// intermediate arrays. It belongs to one goroutine. Run does not allocate.
//
// Inputs and outputs go by their numbers. SetInput and Bind return an error for a number
// that there is not; methods that return elements panic, as an index out of range does.
type State struct {
	p   *Program
	f64 *machine[float64]
	f32 *machine[float32]
}

// NewState makes a State with all inputs 0.
func (p *Program) NewState() *State {
	s := &State{p: p}
	if p.settings.Precision == 64 {
		s.f64 = newMachine[float64](p)
	} else {
		s.f32 = newMachine[float32](p)
	}
	return s
}

// Program returns what s runs.
func (s *State) Program() *Program { return s.p }

// Run computes the outputs from the inputs.
func (s *State) Run() error {
	if s.f64 != nil {
		return s.f64.run()
	}
	return s.f32.run()
}

// Input returns the elements of input i, to be written before Run. It is nil in
// a program of float32 (see Input32) and for indices (see InputInts).
func (s *State) Input(i int) []float64 { return slice(s.f64, s.p, s.p.inBufs[i]) }

// Input32 is Input in a program of float32.
func (s *State) Input32(i int) []float32 { return slice(s.f32, s.p, s.p.inBufs[i]) }

// Output returns the elements of output i, valid until the next Run.
func (s *State) Output(i int) []float64 { return slice(s.f64, s.p, s.p.outBufs[i]) }

// Output32 is Output in a program of float32.
func (s *State) Output32(i int) []float32 { return slice(s.f32, s.p, s.p.outBufs[i]) }

// InputSpan returns inputs i..j-1 as one vector: they lie one after another.
func (s *State) InputSpan(i, j int) []float64 { return span64(s, s.p.inBufs[i:j]) }

// OutputSpan returns outputs i..j-1 as one vector.
func (s *State) OutputSpan(i, j int) []float64 { return span64(s, s.p.outBufs[i:j]) }

// InputInts returns the elements of input i, which holds indices.
func (s *State) InputInts(i int) []int64 { return s.intSlice(s.p.inBufs[i]) }

// OutputInts returns the elements of output i, which holds indices.
func (s *State) OutputInts(i int) []int64 { return s.intSlice(s.p.outBufs[i]) }

// SetInput copies data, which it converts to the program's precision.
func (s *State) SetInput(i int, data []float64) error {
	if err := s.p.hasInput(i); err != nil {
		return err
	}
	n := s.p.buffers[s.p.inBufs[i]].size
	if len(data) != n {
		return fmt.Errorf("autodiff: input %v: %d elements, want %d", s.p.inputs[i], len(data), n)
	}
	if s.f64 != nil {
		copy(s.Input(i), data)
		return nil
	}
	for k, v := range data {
		s.Input32(i)[k] = float32(v)
	}
	return nil
}

// OutputFloat64 returns a copy of output i in float64, indices included.
func (s *State) OutputFloat64(i int) []float64 {
	b := s.p.buffers[s.p.outBufs[i]]
	out := make([]float64, b.size)
	switch {
	case b.kind == intBuf:
		for k, v := range s.OutputInts(i) {
			out[k] = float64(v)
		}
	case s.f64 != nil:
		copy(out, s.Output(i))
	default:
		for k, v := range s.Output32(i) {
			out[k] = float64(v)
		}
	}
	return out
}

func slice[T real](m *machine[T], p *Program, buf int) []T {
	b := p.buffers[buf]
	if m == nil || b.kind == intBuf {
		return nil
	}
	if m.bound != nil && m.bound[buf] != nil {
		return m.bound[buf]
	}
	return m.arena[b.offset : b.offset+b.size : b.offset+b.size]
}

func span64(s *State, bufs []int) []float64 {
	if s.f64 == nil || len(bufs) == 0 {
		return nil
	}
	a, b := s.p.buffers[bufs[0]], s.p.buffers[bufs[len(bufs)-1]]
	return s.f64.arena[a.offset : b.offset+b.size]
}

func (s *State) intSlice(buf int) []int64 {
	b := s.p.buffers[buf]
	ints := []int64(nil)
	if s.f64 != nil {
		ints = s.f64.ints
	} else {
		ints = s.f32.ints
	}
	if b.kind != intBuf {
		return nil
	}
	return ints[b.offset : b.offset+b.size : b.offset+b.size]
}

// real is the element type of a machine.
type real interface{ float32 | float64 }

// machine runs a program at one precision.
type machine[T real] struct {
	p       *Program
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

func newMachine[T real](p *Program) *machine[T] {
	m := &machine[T]{p: p, arena: aligned[T](p.arena), consts: aligned[T](p.consts), ints: make([]int64, p.ints)}
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
