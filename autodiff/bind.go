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

// Bind lets input i read data in place of the State's own array, so that large inputs need not be
// copied. Nil restores the State's array. Each Run reads the contents that data has at that time
// and does not write to it; data must not overlap an output. A call costs about as much as
// NewState, and makes later Runs no slower. From then on Input(i) returns data, but InputSpan does
// not include it.
func (s *State) Bind(i int, data []float64) error { return bind(s.f64, s.p, i, data) }

// Bind32 is Bind for a program in float32.
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

// BindDevice is Bind with memory of a GPU, which holds elements of the program's precision, or
// 64-bit indices. Each Run sees what earlier work on the device's default stream wrote there; work
// on other streams must be waited for. Nothing is copied unless the memory is on another GPU, does
// not begin at a multiple of 16 bytes, or is an output of s; in those cases every Run copies it
// between devices. A Part without a buffer restores the State's own array. Until then Input(i) and
// SetInput(i, ...) have no effect; Bind also ends the binding. If the program holds the array in 16
// bits (see Program.InputStorage), the memory must hold such numbers.
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

// OutputDevice returns the memory of output i on the GPU that runs the program, so that it can be
// bound to an input of another State or passed to kernels. Work that is put on the device's default
// stream after a Run sees the results of that Run. The memory belongs to the State: every Run
// overwrites it. It holds numbers of the type Program.OutputStorage(i).
func (s *State) OutputDevice(i int) (device.Part, error) {
	if n := len(s.p.code.OutBufs); i < 0 || i >= n {
		return device.Part{}, fmt.Errorf("autodiff: there is no output %d in a program with %d outputs, which are counted from 0: use one of these", i, n)
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

// InputStorage returns the type in which a device holds input i. The zero value is the program's
// precision.
func (p *Program) InputStorage(i int) Storage { return p.storage(p.code.InBufs[i]) }

// OutputStorage returns the type in which a device holds output i.
func (p *Program) OutputStorage(i int) Storage { return p.storage(p.code.OutBufs[i]) }

func (p *Program) storage(buf int) Storage {
	if p.device == nil || p.device.Stored(buf) == "" {
		return ""
	}
	return map[string]Storage{cuda.Float16: Float16, cuda.BFloat16: BFloat16}[p.device.Stored(buf)]
}
