// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package noise

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// Fields computes, for one angle at a time, g of all pairs and the parts of the field from which it
// follows. It belongs to one goroutine.
type Fields struct {
	setup transport.Setup
	state *ad.State
}

// Part is transport.Part in numbers: the correlation (frames, frames), and the real and the imaginary part of the amplitude of each frame
// (nil: 1 and 0).
type Part struct{ Correlation, Re, Im []float64 }

// NewFields makes Fields for a measurement, whose angles do not matter.
func NewFields(s transport.Setup) (*Fields, error) {
	s.Angles = []float64{0}
	theta, err := s.Inputs()
	if err != nil {
		return nil, err
	}
	outs := s.Pairs(theta, transport.Square(len(s.Times)))
	for _, p := range s.Fields(theta, 0) {
		outs = append(outs, p.Correlation)
		if s.Model == transport.TwoComponent {
			phase := p.Phase
			if phase == nil {
				phase = ad.Full(0, p.Amplitude.Shape()...)
			}
			outs = append(outs, ad.Mul(p.Amplitude, ad.Cos(phase)), ad.Mul(p.Amplitude, ad.Sin(phase)))
		}
	}
	program, err := ad.Compile(outs, ad.Settings{Inputs: theta, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, err
	}
	return &Fields{s, program.NewState()}, nil
}

// At computes g and the parts of the field at an angle. The results are valid until the next call.
func (f *Fields) At(theta []float64, angle float64) (g []float64, parts []Part, err error) {
	for i, v := range Turned(&f.setup, theta, angle) {
		f.state.Input(i)[0] = v
	}
	if err := f.state.Run(); err != nil {
		return nil, nil, err
	}
	if f.setup.Model == transport.TwoComponent {
		for k := 1; k < 7; k += 3 {
			parts = append(parts, Part{f.state.Output(k), f.state.Output(k + 1), f.state.Output(k + 2)})
		}
	} else {
		parts = []Part{{Correlation: f.state.Output(1)}}
	}
	return f.state.Output(0), parts, nil
}

// Turned returns the parameters with which the model at the angle 0 is what it is with theta at an
// angle in degrees.
func Turned(s *transport.Setup, theta []float64, angle float64) []float64 {
	out := append([]float64(nil), theta...)
	switch s.Model {
	case transport.Laminar:
		out[6] -= angle
	case transport.TwoComponent:
		out[13] += angle
	}
	return out
}
