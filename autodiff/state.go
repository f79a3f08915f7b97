// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// State is the memory of one run of a Program: its inputs, outputs and intermediate arrays. It
// belongs to one goroutine. Run does not allocate.
//
// Inputs and outputs are numbered from 0. For a number that does not exist, SetInput and Bind
// return an error, and methods that return elements panic, as an index out of range does.
type State struct {
	p   *Program
	f64 machine[float64]
	f32 machine[float32]
	err error // why there is no machine

	carried [][2]int // inputs, and the outputs that they become after a run
}

// machine runs a program at one precision.
type machine[T cpu.Real] interface {
	Run() error
	Reals(buf int) []T
	Span(first, last int) []T
	Indices(buf int) []int64
	Bind(buf int, data []T)
	Store(buf int, data []float64)
	Load(buf int) []float64
}

// onDevice is a machine whose arrays are in the memory of a device.
type onDevice interface {
	BindDevice(buf int, from device.Part) error
	OutputDevice(buf int) (device.Part, error)
	Late() error
}

// NewState makes a State with all inputs 0. If a device has no memory for it, Run returns the error.
func (p *Program) NewState() *State {
	s := &State{p: p}
	if p.settings.Precision == 64 {
		s.f64, s.err = newMachine[float64](p)
	} else {
		s.f32, s.err = newMachine[float32](p)
	}
	return s
}

func newMachine[T cpu.Real](p *Program) (machine[T], error) {
	if p.device == nil {
		return cpu.NewMachine[T](p.code, p.options), nil
	}
	return cuda.NewMachine[T](p.device, p.options)
}

// Program returns the program that s runs.
func (s *State) Program() *Program { return s.p }

// Run computes the outputs from the inputs.
func (s *State) Run() error {
	if s.err != nil {
		return s.err
	}
	if s.carried != nil {
		return s.Repeat(1)
	}
	if s.f64 != nil {
		return s.f64.Run()
	}
	return s.f32.Run()
}

// Err returns, and clears, the reason why an output that was asked for since the last Run is
// missing; its elements are NaN. Only outputs on a device can be missing, and only those that were
// first asked for after the Run. If Err is not called, the next Run returns the error.
func (s *State) Err() error {
	var m any = s.f64
	if s.f64 == nil {
		m = s.f32
	}
	if d, ok := m.(onDevice); ok && s.err == nil {
		return d.Late()
	}
	return s.err
}

// Input returns the elements of input i, to be written before Run. It is nil in a program in
// float32 (see Input32) and for indices (see InputInts).
func (s *State) Input(i int) []float64 { return reals(s.f64, s.p.code.InBufs[i]) }

// Input32 is Input for a program in float32.
func (s *State) Input32(i int) []float32 { return reals(s.f32, s.p.code.InBufs[i]) }

// Output returns the elements of output i, valid until the next Run.
func (s *State) Output(i int) []float64 { return reals(s.f64, s.p.code.OutBufs[i]) }

// Output32 is Output for a program in float32.
func (s *State) Output32(i int) []float32 { return reals(s.f32, s.p.code.OutBufs[i]) }

// InputSpan returns inputs i..j-1 as one vector, since they follow each other in memory.
func (s *State) InputSpan(i, j int) []float64 { return s.span(s.p.code.InBufs[i:j]) }

// OutputSpan returns outputs i..j-1 as one vector.
func (s *State) OutputSpan(i, j int) []float64 { return s.span(s.p.code.OutBufs[i:j]) }

// InputInts returns the elements of input i, which holds indices.
func (s *State) InputInts(i int) []int64 { return s.indices(s.p.code.InBufs[i]) }

// OutputInts returns the elements of output i, which holds indices.
func (s *State) OutputInts(i int) []int64 { return s.indices(s.p.code.OutBufs[i]) }

// SetInput copies data to input i and converts it to the program's precision.
func (s *State) SetInput(i int, data []float64) error {
	if err := s.p.hasInput(i); err != nil {
		return err
	}
	if n := s.p.code.Size(s.p.code.InBufs[i]); len(data) != n {
		return fmt.Errorf("autodiff: input %v was given %d elements: want %d", s.p.inputs[i], len(data), n)
	}
	buf := s.p.code.InBufs[i]
	if s.p.code.IsInts(buf) {
		for k, v := range data {
			if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
				return fmt.Errorf("autodiff: input %v: element %d is %g: want an index, that is, a whole number", s.p.inputs[i], k, v)
			}
		}
	}
	if s.f64 != nil {
		s.f64.Store(buf, data)
	} else {
		s.f32.Store(buf, data)
	}
	return nil
}

// InputFloat64 returns a copy of input i in float64, indices included. Unlike Input it leaves an input on a GPU that was carried there.
func (s *State) InputFloat64(i int) []float64 { return s.load(s.p.code.InBufs[i]) }

// OutputFloat64 returns a copy of output i in float64, indices included.
func (s *State) OutputFloat64(i int) []float64 { return s.load(s.p.code.OutBufs[i]) }

func (s *State) load(buf int) []float64 {
	if s.f64 != nil {
		return s.f64.Load(buf)
	}
	return s.f32.Load(buf)
}

func reals[T cpu.Real](m machine[T], buf int) []T {
	if m == nil {
		return nil
	}
	return m.Reals(buf)
}

func (s *State) span(bufs []int) []float64 {
	if s.f64 == nil || len(bufs) == 0 {
		return nil
	}
	return s.f64.Span(bufs[0], bufs[len(bufs)-1])
}

func (s *State) indices(buf int) []int64 {
	if s.f64 != nil {
		return s.f64.Indices(buf)
	}
	return s.f32.Indices(buf)
}
