// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Model says what moves.
type Model string

const (
	Static       Model = "static"        // diffusion alone
	Laminar      Model = "laminar"       // diffusion in shear between two plates
	TwoComponent Model = "two_component" // a reference and a sample that flows, both diffusing
)

// Setup is a measurement of two-time correlations at one wavevector and several azimuths.
type Setup struct {
	Model  Model
	Times  []float64 // times of the frames in s since the event from which the power laws count, ascending
	Q      float64   // wavevector in 1/angstrom
	Gap    float64   // gap between the plates in angstroms; for shear
	Angles []float64 // azimuths in degrees

	// Customary computes the model as homodyne, xpcsjax and heterodyne do: sums of trapezoids with
	// floors, and a shear factor (sin x/x)^4 with x = q L cos(...) Gamma/(2 pi), so that small
	// shear rates come out pi/sqrt(2) times too large. Step is then the time between frames.
	Customary bool
	Step      float64
}

// names are the parameters of each model, in their order.
var names = map[Model][]string{
	Static:  {"D0", "alpha", "D_offset"},
	Laminar: {"D0", "alpha", "D_offset", "gamma_dot_t0", "beta", "gamma_dot_t_offset", "phi0"},
	TwoComponent: {"D0_ref", "alpha_ref", "D_offset_ref", "D0_sample", "alpha_sample", "D_offset_sample", "v0", "v_beta", "v_offset",
		"f0", "f1", "f2", "f3", "phi0_het"},
}

// Names returns the names of the model's parameters, in their order: rates of transport in squared
// angstroms per second, shear rates in 1/s, velocities in angstroms per second, angles in degrees.
func (s *Setup) Names() []string { return slices.Clone(names[s.Model]) }

// Check returns an error that says what is wrong with the measurement.
func (s *Setup) Check() error {
	switch {
	case names[s.Model] == nil:
		return fmt.Errorf("transport: the model is %q: want %s, %s or %s", s.Model, Static, Laminar, TwoComponent)
	case len(s.Times) < 3:
		return fmt.Errorf("transport: there are %d frames: want at least 3", len(s.Times))
	case len(s.Angles) == 0:
		return fmt.Errorf("transport: there are no angles: give at least one")
	case !(s.Q > 0) || math.IsInf(s.Q, 1):
		return fmt.Errorf("transport: the wavevector is %g 1/angstrom: want more than 0", s.Q)
	case s.Model == Laminar && (!(s.Gap > 0) || math.IsInf(s.Gap, 1)):
		return fmt.Errorf("transport: the gap between the plates is %g angstroms: want more than 0", s.Gap)
	case s.Customary && (!(s.Step > 0) || math.IsInf(s.Step, 1)):
		return fmt.Errorf("transport: the time between frames is %g s: want more than 0", s.Step)
	}
	for i, t := range s.Times {
		if !(t >= 0) || math.IsInf(t, 1) || i > 0 && !(t > s.Times[i-1]) {
			return fmt.Errorf("transport: frame %d is at %g s: want ascending times from 0 on", i, t)
		}
	}
	for i, a := range s.Angles {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return fmt.Errorf("transport: angle %d is %g: want a finite number of degrees", i, a)
		}
	}
	return nil
}

// DomainError says that parameters have no meaning in the model.
type DomainError struct {
	Parameter string
	What      string
}

func (e *DomainError) Error() string { return fmt.Sprintf("transport: %s: %s", e.Parameter, e.What) }

// AtPoint marks a fault of these numbers, so that a sampler rejects the point.
func (e *DomainError) AtPoint() bool { return true }

// Domain returns a *DomainError for parameters at which the model has no meaning: rates below 0
// within the measurement, an integral that does not exist, and fractions outside 0 to 1. The
// customary computation has no such limits.
func (s *Setup) Domain(theta []float64) error {
	list := names[s.Model]
	if len(theta) != len(list) {
		return fmt.Errorf("transport: there are %d parameters for the model %s: want %d", len(theta), s.Model, len(list))
	}
	for i, v := range theta {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &DomainError{list[i], fmt.Sprintf("%g is not finite: want a finite number", v)}
		}
	}
	if s.Customary {
		return nil
	}
	for i, name := range list {
		if !strings.HasPrefix(name, "D0") && name != "gamma_dot_t0" && name != "v0" {
			continue
		}
		rate, power, offset := theta[i], theta[i+1], theta[i+2]
		if s.Times[0] == 0 && power <= -1 && rate != 0 {
			return &DomainError{list[i+1], fmt.Sprintf("%g: the integral from time 0 exists above -1 only; leave out the first frame, or say when the event was", power)}
		}
		if name == "v0" { // may have either sign
			continue
		}
		for _, t := range []float64{s.Times[0], s.Times[len(s.Times)-1]} { // monotonic between
			if v := rate*math.Pow(t, power) + offset; v < 0 {
				return &DomainError{list[i+2], fmt.Sprintf("the rate %s t^%s + %s is %.4g at %g s: want at least 0", name, list[i+1], list[i+2], v, t)}
			}
		}
	}
	if s.Model == TwoComponent {
		f := theta[9:13]
		for _, t := range []float64{s.Times[0], s.Times[len(s.Times)-1]} {
			if v := f[0]*math.Exp(f[1]*(t-f[2])) + f[3]; v < 0 || v > 1 {
				return &DomainError{"f0", fmt.Sprintf("the fraction f0 exp(f1 (t - f2)) + f3 is %g at %g s: want 0 to 1", v, t)}
			}
		}
	}
	return nil
}

// Inputs makes an input for each parameter.
func (s *Setup) Inputs() ([]*ad.Node, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	var all []*ad.Node
	for _, name := range names[s.Model] {
		all = append(all, ad.Input(name))
	}
	return all, nil
}
