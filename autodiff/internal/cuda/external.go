// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"sync"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// External puts the work of one custom operation on a stream. One of them serves one place in a program for
// one Machine.
type External interface {
	Forward(s *device.Stream, out device.Part, in []device.Part) error
	Adjoint(s *device.Stream, dIn []device.Part, g, out device.Part, in []device.Part) error
}

// external is a custom operation on the device, with its adjoint.
type external struct {
	name string
	make func() (External, error)
	mu   sync.Mutex
	// spare was made to learn whether the device can do the operation; the first Machine takes it.
	spare External
}

// externalCall is a step of an external.
type externalCall struct {
	*external
	step    *compiler.Value
	adjoint bool
}

// ExternalForward makes a custom operation a step on the device, with what make returns for each Machine. It
// returns false, and the operation runs on the processor, where make returns nil.
func ExternalForward(s *Step, name string, make func(d *device.Device, bits int) (External, error)) bool {
	d, bits := s.g.options.Device, s.g.precision
	if d == nil {
		return false
	}
	e := &external{name: name, make: func() (External, error) { return make(d, bits) }}
	spare, err := e.make()
	if err != nil && s.g.err == nil {
		s.g.err = fmt.Errorf("autodiff: %s on %v: %w", name, d, err)
	}
	if err != nil || spare == nil {
		return false
	}
	e.spare = spare
	s.g.externals[s.Value] = e
	s.list = append(s.list, Launch{external: &externalCall{external: e, step: s.Value}, Waits: true})
	return true
}

// ExternalAdjoint makes the adjoint of a custom operation a step on the device if that operation is one. The
// inputs are the gradient, the result and the inputs of the operation.
func ExternalAdjoint(s *Step) bool {
	e := s.g.externals[s.Value.In[1].Layout.Root]
	if e == nil {
		return false
	}
	s.list = append(s.list, Launch{external: &externalCall{external: e, step: s.Value, adjoint: true}, Waits: true})
	return true
}

// instance returns the External of a new Machine.
func (e *external) instance() (External, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if x := e.spare; x != nil {
		e.spare = nil
		return x, nil
	}
	x, err := e.make()
	if err == nil && x == nil {
		err = fmt.Errorf("OnDevice returned a step when the program was compiled, but returns nil now: make it return the same each time")
	}
	if err != nil {
		return nil, fmt.Errorf("autodiff: %s: %w", e.name, err)
	}
	return x, nil
}

// run puts the work of a call on a stream. at returns the memory of an array.
func (c *externalCall) run(x External, s *device.Stream, bytes int, at func(buf int) device.Part) error {
	in := make([]device.Part, len(c.step.In))
	for k, v := range c.step.In {
		in[k] = at(v.Layout.Root.Place.Buf)
		in[k].Offset += v.Layout.Offset * bytes
	}
	out := at(c.step.Place.Buf)
	if !c.adjoint {
		if err := x.Forward(s, out, in); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		return nil
	}
	parts := make([]device.Part, len(in)-2)
	for k := range parts {
		parts[k] = out
		out.Offset += c.step.In[k+2].Size() * bytes
	}
	if err := x.Adjoint(s, parts, in[0], in[1], in[2:]); err != nil {
		return fmt.Errorf("gradient of %s: %w", c.name, err)
	}
	return nil
}
