// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
)

// moved is a target in other coordinates.
type moved struct {
	Target // in the unconstrained parameters
	f      *family
	of     choice
	prog   *ad.Program // log density, its gradient and the logarithm of the determinant
	to     *ad.Program // the unconstrained parameters and the logarithm of the determinant
	back   *ad.Program // the coordinates of unconstrained parameters

	runProg, runTo, runBack *ad.State
}

// movedOutputs is a moved target with outputs.
type movedOutputs struct{ *moved }

var (
	_ Target  = (*moved)(nil)
	_ Outputs = movedOutputs{}
)

// in returns the target in the coordinates of a choice.
func (f *family) in(h choice) (*moved, error) {
	z := make([]*ad.Node, len(f.Inputs))
	for i, u := range f.Inputs {
		z[i] = ad.Input("coordinates of "+f.Names[i], u.Shape()...)
	}
	q, logDet := f.forward(z, h, h.constants())
	lp := ad.Add(ad.Substitute([]*ad.Node{f.LogProb}, f.Inputs, q)[0], logDet)
	m := &moved{Target: f.target.Clone(), f: f, of: h}
	program := func(inputs []*ad.Node, outputs ...*ad.Node) (*ad.Program, error) {
		return ad.Compile(outputs, ad.Settings{Inputs: append(slices.Clone(inputs), f.Given...), Backend: ad.CPU{Threads: 1}})
	}
	var errs [3]error
	m.prog, errs[0] = program(z, append(append([]*ad.Node{lp}, ad.Grad(lp, z...)...), logDet)...)
	m.to, errs[1] = program(z, append(slices.Clone(q), logDet)...)
	m.back, errs[2] = program(f.Inputs, f.backward(h, h.constants())...)
	return m, errors.Join(errs[:]...)
}

// ready returns the workspace of a program, with what it is given.
func (m *moved) ready(s **ad.State, prog *ad.Program, q []float64) *ad.State {
	if *s == nil {
		*s = graph.State(prog, len(m.f.Inputs), m.f.GivenValues)
	}
	copy((*s).InputSpan(0, len(m.f.Inputs)), q)
	return *s
}

// Clone is the method of Target.
func (m *moved) Clone() Target { return m.clone() }

func (m *moved) clone() *moved {
	c := *m
	c.Target = m.Target.Clone()
	c.runProg, c.runTo, c.runBack = nil, nil, nil
	return &c
}

// LogProbGrad is the log density of the coordinates.
func (m *moved) LogProbGrad(z, g []float64) (float64, error) {
	s := m.ready(&m.runProg, m.prog, z)
	if err := s.Run(); err != nil {
		var fault interface{ AtPoint() bool }
		if errors.As(err, &fault) && fault.AtPoint() {
			err = Reject(err)
		}
		return math.NaN(), err
	}
	copy(g, s.OutputSpan(1, 1+len(m.f.Inputs)))
	return s.Output(0)[0], s.Err()
}

// Declared writes the unconstrained parameters at the coordinates z into q, and returns the logarithm of the determinant.
func (m *moved) Declared(z, q []float64) (logDet float64, err error) {
	s := m.ready(&m.runTo, m.to, z)
	if err := s.Run(); err != nil {
		return math.NaN(), err
	}
	k := len(m.f.Inputs)
	copy(q, s.OutputSpan(0, k))
	return s.Output(k)[0], s.Err()
}

// coordinatesAt writes the coordinates of the unconstrained parameters q into z.
func (m *moved) coordinatesAt(q, z []float64) error {
	s := m.ready(&m.runBack, m.back, q)
	if err := s.Run(); err != nil {
		return err
	}
	copy(z, s.OutputSpan(0, len(m.f.Inputs)))
	return s.Err()
}

// Explain is the method of Explainer.
func (m *moved) Explain(z []float64) string {
	q := make([]float64, len(z))
	e, ok := m.Target.(Explainer)
	if _, err := m.Declared(z, q); err != nil || !ok {
		return ""
	}
	return e.Explain(q)
}

// Coordinates is the method of Coordinates.
func (m *moved) Coordinates() []string { return coordinates(m.Target) }

func (m *moved) fingerprint() (string, error) {
	f, _, err := fingerprintOf(m.Target)
	return f, err
}

// Clone is the method of Target.
func (m movedOutputs) Clone() Target { return movedOutputs{m.clone()} }

// Names is the method of Outputs.
func (m movedOutputs) Names() []string { return m.Target.(Outputs).Names() }

// Len is the method of Outputs.
func (m movedOutputs) Len() int { return m.Target.(Outputs).Len() }

// Write is the method of Outputs.
func (m movedOutputs) Write(z, out []float64) error {
	q := make([]float64, len(z))
	if _, err := m.Declared(z, q); err != nil {
		return err
	}
	return m.Target.(Outputs).Write(q, out)
}

// outward returns a moved target with the outputs that it has.
func (m *moved) outward() Target {
	if _, ok := m.Target.(Outputs); ok {
		return movedOutputs{m}
	}
	return m
}

// movedOf returns the moved target that a target is, or nil.
func movedOf(t Target) *moved {
	switch t := t.(type) {
	case *moved:
		return t
	case movedOutputs:
		return t.moved
	}
	return nil
}

// declaredOf returns a target in its unconstrained parameters, with those that are integrated out.
func declaredOf(t Target) Target {
	if m := movedOf(t); m != nil {
		t = m.Target
	}
	if m, is := t.(*marginal); is {
		return m.full
	}
	return t
}
