// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// deviceStep is a Node of a Simulator in a program on a GPU: the arrays of the materials are read where
// the program has them, and so are derivatives by them. Constants cross the bus and, unless the Node is
// the pattern itself, patterns.
type deviceStep struct {
	sim     *Simulator
	forms   forms
	bits    int // of the program
	measure measure
	optics  Optics
	pattern *Pattern // in the host's memory; nil if the Node is the pattern
}

var _ ad.DeviceStep = (*deviceStep)(nil)

// newDeviceStep makes the form of a Node for a GPU.
func (s *Simulator) newDeviceStep(d *cuda.Device, bits int, materials []MaterialNodes, m measure) (ad.DeviceStep, error) {
	t := &deviceStep{sim: s.Clone(), bits: bits, measure: m}
	t.sim.devices = &devices{}
	t.sim.devices.add(s.sharedOn(d))
	real := tensor.Float64
	if bits == 32 {
		real = tensor.Float32
	}
	for i := range materials {
		f := form{vector: materials[i].Align != nil}
		for range materials[i].Nodes() {
			f.types, f.grads = append(f.types, real), append(f.grads, real)
		}
		t.forms = append(t.forms, f)
	}
	t.optics = make(Optics, len(s.cfg.Energies))
	for e := range t.optics {
		t.optics[e] = make([]Constants, len(materials))
	}
	return t, nil
}

// per returns the numbers of a voxel in array k of material i.
func (t *deviceStep) per(i, k int) int {
	if t.forms[i].vector && k == 0 {
		return 3
	}
	return 1
}

// Forward implements autodiff.DeviceStep: it computes the pattern on the GPU.
func (t *deviceStep) Forward(s *cuda.Stream, out cuda.Part, in []cuda.Part) error {
	p := t.sim.devices.parts[0]
	if err := p.s.Follow(s); err != nil {
		return err
	}
	flat, err := t.fetch(in[len(in)-1], 4*len(t.optics)*len(t.forms))
	if err != nil {
		return err
	}
	for e := range t.optics {
		for m := range t.optics[e] {
			c := flat[4*(e*len(t.forms)+m):]
			t.optics[e][m] = Constants{c[0], c[1], c[2], c[3]}
		}
	}
	if err := t.optics.checkValues(t.sim.cfg.Energies, len(t.forms)); err != nil {
		return err
	}
	var list []source
	for i, f := range t.forms {
		for k := range f.types {
			list = append(list, source{part: in[len(list)], per: t.per(i, k), size: t.bits / 8})
		}
	}
	if err := t.sim.devices.transform(background, t.sim, t.forms, list); err != nil {
		return err
	}
	if t.measure.direct {
		err = t.sim.devices.patterns(background, t.sim, t.optics, nil, t.toProgram(out))
	} else {
		err = t.measured(out)
	}
	if err != nil {
		return err
	}
	return s.Follow(p.s)
}

// toProgram puts patterns into an array of the program.
func (t *deviceStep) toProgram(out cuda.Part) put {
	return func(d *detected, from *cuda.Buffer) error {
		return d.runs(func(k, count, at int) error {
			n, to := count*d.pixels, cuda.Part{Buffer: out.Buffer, Offset: out.Offset + at*t.bits/8}
			if t.bits == 64 {
				return d.device.s.Copy(to.Buffer, to.Offset, from, 8*k*d.pixels, 8*n)
			}
			return d.launch(d.detector, "narrow", n, 1, from.At(8*k*d.pixels), to, int64(n))
		})
	}
}

// fromProgram brings derivatives by patterns from an array of the program.
func (t *deviceStep) fromProgram(g cuda.Part) put {
	return func(d *detected, to *cuda.Buffer) error {
		return d.runs(func(k, count, at int) error {
			n, from := count*d.pixels, cuda.Part{Buffer: g.Buffer, Offset: g.Offset + at*t.bits/8}
			if t.bits == 64 {
				return d.device.s.Copy(to, 8*k*d.pixels, from.Buffer, from.Offset, 8*n)
			}
			return d.launch(d.detector, "widen", n, 1, from, to.At(8*k*d.pixels), int64(n))
		})
	}
}

// measured takes what the Node is from the pattern, in the host's memory.
func (t *deviceStep) measured(out cuda.Part) error {
	s := t.sim
	if t.pattern == nil {
		t.pattern = s.newPattern(len(t.optics))
	}
	if err := s.devices.patterns(background, s, t.optics, nil, toHost(background, t.pattern.Intensity.Data().([]float64))); err != nil {
		return err
	}
	v := make([]float64, t.measure.size)
	if err := t.measure.value(v, t.pattern); err != nil {
		return err
	}
	return t.send(out, v)
}

// Adjoint implements autodiff.DeviceStep: it computes the gradients on the GPU.
func (t *deviceStep) Adjoint(s *cuda.Stream, dIn []cuda.Part, g, _ cuda.Part, in []cuda.Part) error {
	sim := t.sim
	p := sim.devices.parts[0]
	for i, a := range p.arrays { // the same numbers, but maybe in other memory
		a.part = in[i]
	}
	if err := p.s.Follow(s); err != nil {
		return err
	}
	get := t.fromProgram(g)
	if !t.measure.direct {
		by, err := t.fetch(g, t.measure.size)
		if err != nil {
			return err
		}
		d, err := t.measure.grad(by, t.pattern)
		if err != nil {
			return err
		}
		get = fromHost(background, d.Compact().Float64s())
	}
	optics := t.optics.zeros()
	if err := sim.devices.gradients(background, sim, t.optics, optics, get); err != nil {
		return err
	}
	var list []target
	for i, f := range t.forms {
		for k := range f.types {
			list = append(list, target{part: dIn[len(list)], per: t.per(i, k), size: t.bits / 8})
		}
	}
	if err := p.back(background, sim, t.forms, list); err != nil {
		return err
	}
	var flat []float64
	for _, row := range optics {
		for _, c := range row {
			flat = append(flat, c.DeltaPara, c.BetaPara, c.DeltaPerp, c.BetaPerp)
		}
	}
	if err := t.send(dIn[len(dIn)-1], flat); err != nil {
		return err
	}
	return s.Follow(p.s)
}

// fetch returns n numbers of the program.
func (t *deviceStep) fetch(from cuda.Part, n int) ([]float64, error) {
	s := t.sim.devices.parts[0].s
	v := make([]float64, n)
	if t.bits == 64 {
		return v, s.CopyOut(background, v, from.Buffer, from.Offset)
	}
	short := make([]float32, n)
	err := s.CopyOut(background, short, from.Buffer, from.Offset)
	return convert(v, short), err
}

// send puts numbers into an array of the program.
func (t *deviceStep) send(to cuda.Part, v []float64) error {
	s := t.sim.devices.parts[0].s
	if t.bits == 64 {
		return s.CopyIn(background, to.Buffer, to.Offset, v)
	}
	return s.CopyIn(background, to.Buffer, to.Offset, convert(make([]float32, len(v)), v))
}
