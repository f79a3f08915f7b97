// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
)

// Carry makes State the memory of a recurrence: after every run, output out is copied to input in,
// which must have the same size, for the next run. On a GPU the data stay there, unless Input or
// Output has returned these arrays before. SetInput starts afresh.
func (s *State) Carry(in, out int) error {
	to, from, err := s.carries(in, out)
	if err != nil {
		return err
	}
	s.carried = append(s.carried, [2]int{to, from})
	return nil
}

// CarryNow copies output out of the last run to input in, once and as Carry does: for a recurrence
// that looks at a run before it goes on.
func (s *State) CarryNow(in, out int) error {
	to, from, err := s.carries(in, out)
	if err != nil {
		return err
	}
	if s.f64 != nil {
		return carry(s.f64, to, from)
	}
	return carry(s.f32, to, from)
}

// carry copies an array to another.
func carry[T cpu.Real](m machine[T], to, from int) error {
	if d, ok := m.(interface{ Carry(to, from int) error }); ok {
		return d.Carry(to, from)
	}
	copy(m.Reals(to), m.Reals(from))
	return nil
}

// carries returns the arrays of an input and of an output that can be copied to it.
func (s *State) carries(in, out int) (to, from int, err error) {
	if s.err != nil {
		return 0, 0, s.err
	}
	if err := s.p.hasInput(in); err != nil {
		return 0, 0, err
	}
	if out < 0 || out >= s.p.Outputs() {
		return 0, 0, fmt.Errorf("autodiff: there is no output %d in a program with %d outputs, which are counted from 0: use one of these", out, s.p.Outputs())
	}
	from, to = s.p.code.OutBufs[out], s.p.code.InBufs[in]
	if n, m := s.p.code.Size(from), s.p.code.Size(to); n != m || s.p.code.IsInts(from) || s.p.code.IsInts(to) {
		return 0, 0, fmt.Errorf("autodiff: output %d has %d elements and cannot be carried to input %v, which has %d: want as many reals in both", out, n, s.p.inputs[in], m)
	}
	return to, from, nil
}

// Repeat calls Run the given number of times. Outputs are fetched only after the last run. If no
// part of the program runs on the processor, a GPU is given several runs at once.
func (s *State) Repeat(times int) error {
	switch {
	case s.err != nil:
		return s.err
	case times < 1:
		return errors.New("autodiff: Repeat was asked for no runs: want at least one")
	case s.f64 != nil:
		return repeatRuns(s.f64, times, s.carried)
	}
	return repeatRuns(s.f32, times, s.carried)
}

func repeatRuns[T cpu.Real](m machine[T], times int, carried [][2]int) error {
	if d, ok := m.(interface {
		Repeat(times int, carried [][2]int) error
	}); ok {
		return d.Repeat(times, carried)
	}
	for range times {
		if err := m.Run(); err != nil {
			return err
		}
		for _, c := range carried {
			if err := carry(m, c[0], c[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// SetPart copies data into input i, starting at element from; the other elements keep their values.
// On a GPU only these elements are sent and the others stay there, unless the whole input was set
// since the last run.
func (s *State) SetPart(i, from int, data []float64) error {
	if err := s.p.hasInput(i); err != nil {
		return err
	}
	buf := s.p.code.InBufs[i]
	if n := s.p.code.Size(buf); from < 0 || from+len(data) > n || s.p.code.IsInts(buf) {
		return fmt.Errorf("autodiff: SetPart cannot set elements %d to %d of input %v, which has %d real elements: pass a part that lies inside the input", from, from+len(data), s.p.inputs[i], n)
	}
	if s.err != nil {
		return s.err
	}
	if s.f64 != nil {
		return setPart(s.f64, buf, from, data)
	}
	return setPart(s.f32, buf, from, data)
}

func setPart[T cpu.Real](m machine[T], buf, from int, data []float64) error {
	if d, ok := m.(interface {
		StorePart(buf, from int, data []float64) error
	}); ok {
		return d.StorePart(buf, from, data)
	}
	to := m.Reals(buf)[from:]
	for i, v := range data {
		to[i] = T(v)
	}
	return nil
}
