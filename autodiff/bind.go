// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// Bind lets input i read data in place of the State's own array, so that large
// inputs are not copied; nil puts the State's array back. Each Run sees what data
// holds at that time and writes nothing to it; it must not overlap an output.
// A change costs about as much as NewState; a Run after it nothing more.
// Input(i) is data from then on; InputSpan does not see it.
func (s *State) Bind(i int, data []float64) error { return bind(s.f64, s.p, i, data) }

// Bind32 is Bind in a program of float32.
func (s *State) Bind32(i int, data []float32) error { return bind(s.f32, s.p, i, data) }

func bind[T cpu.Real](m machine[T], p *Program, i int, data []T) error {
	if err := p.hasInput(i); err != nil {
		return err
	}
	buf := p.code.InBufs[i]
	if m == nil || p.code.IsInts(buf) {
		return fmt.Errorf("autodiff: bind: input %v holds another type than the data: bind elements of the program's type, float%d or indices", p.inputs[i], p.settings.Precision)
	}
	if n := p.code.Size(buf); data != nil && len(data) != n {
		return fmt.Errorf("autodiff: bind: input %v was given %d elements: want %d", p.inputs[i], len(data), n)
	}
	m.Bind(buf, data)
	return nil
}

// BindDevice is Bind with memory of a GPU: elements of the program's precision, or 64-bit indices. Each
// Run reads what work that was given to the device's default stream before it wrote there; work of
// other streams must be waited for. Nothing is copied, unless the memory is on another GPU, does not
// begin at a multiple of 16 bytes, or is an output of s: then every Run copies it on the devices. A Part of
// no buffer puts the State's own array back. Input(i) and SetInput(i, ...) have no effect meanwhile, and
// Bind ends it. Where the program holds the array in 16 bits (Program.InputStorage), the memory holds such
// numbers.
func (s *State) BindDevice(i int, from device.Part) error {
	if err := s.p.hasInput(i); err != nil {
		return err
	}
	m, err := s.onDevice()
	if err == nil {
		err = m.BindDevice(s.p.code.InBufs[i], from)
	}
	if err != nil {
		return fmt.Errorf("autodiff: bind: input %v: %w", s.p.inputs[i], err)
	}
	return nil
}

// OutputDevice returns where output i is in the memory of the GPU that runs the program, so that it
// can be bound to an input of another State or be given to kernels. Work that is given to the
// device's default stream after a Run sees what that Run computed. The memory is the State's: it is
// written by every Run, and holds numbers of Program.OutputStorage(i).
func (s *State) OutputDevice(i int) (device.Part, error) {
	if n := len(s.p.code.OutBufs); i < 0 || i >= n {
		return device.Part{}, fmt.Errorf("autodiff: there is no output %d in a program with %d outputs, counted from 0", i, n)
	}
	m, err := s.onDevice()
	if err != nil {
		return device.Part{}, fmt.Errorf("autodiff: output %d: %w", i, err)
	}
	at, err := m.OutputDevice(s.p.code.OutBufs[i])
	if err != nil {
		return device.Part{}, fmt.Errorf("autodiff: output %d: %w", i, err)
	}
	return at, nil
}

func (s *State) onDevice() (onDevice, error) {
	if s.err != nil {
		return nil, s.err
	}
	var m any = s.f64
	if s.f64 == nil {
		m = s.f32
	}
	if d, ok := m.(onDevice); ok {
		return d, nil
	}
	return nil, errors.New("the program runs on the processor: compile it with Backend CUDA")
}

// InputStorage returns how a device holds input i; the zero value means in the program's precision.
func (p *Program) InputStorage(i int) Storage { return p.storage(p.code.InBufs[i]) }

// OutputStorage returns how a device holds output i.
func (p *Program) OutputStorage(i int) Storage { return p.storage(p.code.OutBufs[i]) }

func (p *Program) storage(buf int) Storage {
	if p.device == nil || p.device.Stored(buf) == "" {
		return ""
	}
	return map[string]Storage{cuda.Float16: Float16, cuda.BFloat16: BFloat16}[p.device.Stored(buf)]
}
