// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"errors"
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// Device returns where s computes: "cpu", a GPU such as "cuda:0", or several of them, such as "cuda:0,1".
func (s *Simulator) Device() string {
	if s.devices == nil {
		return "cpu"
	}
	name := s.devices.parts[0].d.String()
	for _, p := range s.devices.parts[1:] {
		name += fmt.Sprintf(",%d", p.d.Ordinal())
	}
	return name
}

// Shares reports whether TransformState can read the arrays of a program in place, because both run
// on the same single GPU.
func (s *Simulator) Shares(p *ad.Program) bool {
	return s.devices != nil && len(s.devices.parts) == 1 && s.Device() == p.Device()
}

// TransformState is Transform for arrays that a program in float64 has computed on the GPU of s:
// its first outputs are the arrays of the materials, in the order of their Nodes. They stay on the
// device, and must not change until the next Transform. Gradients with respect to them are
// available through Nodes, and tangents through TangentState.
func (s *Simulator) TransformState(ctx context.Context, materials []MaterialNodes, st *ad.State) error {
	if !s.Shares(st.Program()) {
		return fmt.Errorf("rsoxs: the program runs on %s, but the simulator on %s: use the same GPU for both", st.Program().Device(), s.Device())
	}
	f, list, err := stateSources(materials, st)
	if err != nil {
		return err
	}
	s.morph = nil
	if err := s.devices.transform(ctx, s, f, list); err != nil {
		return err
	}
	s.morph, s.remote = &Morphology{PhysSize: s.a, Materials: make([]Material, len(materials))}, true
	return nil
}

// stateSources lists the outputs of a program as arrays on a device.
func stateSources(materials []MaterialNodes, st *ad.State) (f forms, list []source, err error) {
	for i := range materials {
		m := form{vector: materials[i].Align != nil}
		for k, n := range materials[i].Nodes() {
			at, err := st.OutputDevice(len(list))
			if err != nil {
				return nil, nil, err
			}
			per := 1
			if m.vector && k == 0 {
				per = n.Shape()[len(n.Shape())-1]
			}
			m.types, m.grads = append(m.types, tensor.Float64), append(m.grads, tensor.Float64)
			list = append(list, source{part: at, per: per, size: 8})
		}
		f = append(f, m)
	}
	return f, list, nil
}

// TangentState is Tangent along changes that a program in float64 has computed on the GPU of s, in
// the order of TransformState.
func (s *Simulator) TangentState(ctx context.Context, o Optics, materials []MaterialNodes, st *ad.State, do Optics) (*tensor.Tensor, error) {
	if err := s.ready(ctx, o, false); err != nil {
		return nil, err
	}
	if !s.Shares(st.Program()) || len(materials) != len(s.morph.Materials) {
		return nil, fmt.Errorf("rsoxs: the program has changes of %d materials on %s, but the simulator has %d on %s: want the same number on the same GPU", len(materials), st.Program().Device(), len(s.morph.Materials), s.Device())
	}
	_, list, err := stateSources(materials, st)
	if err != nil {
		return nil, err
	}
	types := make([]tensor.DType, len(list))
	for i := range types {
		types[i] = tensor.Float64
	}
	return s.deviceTangent(ctx, o, list, types, do)
}

// deviceTangent computes the derivative of the pattern along changes of the arrays, by type, and of the constants.
func (s *Simulator) deviceTangent(ctx context.Context, o Optics, list []source, types []tensor.DType, do Optics) (*tensor.Tensor, error) {
	if err := s.devices.tangent(ctx, s, list, types); err != nil {
		return nil, fmt.Errorf("rsoxs: tangent: %w", err)
	}
	out := tensor.New(tensor.Float64, len(o), len(s.beams), s.shape[1], s.shape[2])
	return out, s.devices.patterns(ctx, s, o, do, toHost(ctx, out.Data().([]float64)))
}

// changeSources lists the changes of the arrays of the morphology, and their types; those that stay have no
// memory.
func (s *Simulator) changeSources(dm []Material) (list []source, types []tensor.DType) {
	for i, f := range s.devices.forms {
		arrays := make([]*tensor.Tensor, len(f.types))
		if dm != nil {
			arrays = dm[i].like(len(f.types), f.vector)
		}
		for k, t := range arrays {
			var a source
			d := f.types[k]
			if t != nil {
				a, d = sourceOf(t, s.shape[0]*s.shape[1]*s.shape[2]), t.DType()
			}
			list, types = append(list, a), append(types, d)
		}
	}
	return list, types
}

// errRemote says that arrays on a device have no gradients in the host's memory.
var errRemote = errors.New("rsoxs: these arrays lie on a device and have no gradients in the host's memory: take the Intensity, Curves or Loss node")
