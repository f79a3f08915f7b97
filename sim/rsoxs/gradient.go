// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// Gradient holds the derivatives of a number with respect to everything that a Pattern depends on,
// in the layout of the inputs.
type Gradient struct {
	Materials []Material // derivatives with respect to the arrays that the morphology has
	Optics    Optics
}

// Gradient returns the derivatives of a number L from its derivatives with respect to the pattern,
// dL/dIntensity in float64 [energy, beam, QY, QX]. Elements for which the pattern is NaN, or which
// no angle reaches, are ignored.
//
// It costs about as much as another Transform and another Pattern; only the fields are kept between
// calls. With one beam and at most eight energies the derivatives overwrite the transformed fields,
// so that the next call without a Transform starts by transforming again. Arrays of the result have
// the precision of those of the morphology, at least float32. Derivatives with respect to Theta and
// Psi are 0 where S is 0.
func (s *Simulator) Gradient(ctx context.Context, o Optics, dIntensity *tensor.Tensor) (*Gradient, error) {
	return s.GradientTo(ctx, nil, o, dIntensity)
}

// GradientTo is like Gradient but writes into the arrays of g, a previous result for a morphology
// with the same arrays, and returns it; a nil g is allocated. This saves fits the time to allocate.
func (s *Simulator) GradientTo(ctx context.Context, g *Gradient, o Optics, dIntensity *tensor.Tensor) (*Gradient, error) {
	if err := s.ready(ctx, o, true); err != nil {
		return nil, err
	}
	want := tensor.Shape{len(o), len(s.beams), s.shape[1], s.shape[2]}
	if !dIntensity.Shape().Equal(want) {
		return nil, fmt.Errorf("rsoxs: the gradient has shape %v: want that of the pattern, %v", dIntensity.Shape(), want)
	}
	out := &Gradient{Optics: o.zeros()}
	if g != nil {
		g.Optics, out = out.Optics, g
	}
	if s.remote {
		return nil, errRemote
	}
	if s.devices != nil {
		return s.deviceGradient(ctx, out, o, dIntensity)
	}
	inPlace := len(s.beams) == 1 && len(o) <= s.batch()
	by := s.spectra.gradient(inPlace)
	if inPlace {
		s.state = spoiled
	}
	d := dIntensity.Copy().Float64s()
	err := s.batches(ctx, o, func(j, from int, exposures []*exposure) {
		for _, h := range exposures {
			h.outline(s.cfg.Workers)
		}
		seen := outlines(exposures)
		s.averages[j].back(s.parts(d, j, from, len(exposures)), s.reached(j, from, seen, len(exposures)), seen, exposures)
		for e, back := range s.spectra.exposeBack(by, exposures) {
			addBack(out.Optics[from+e], o[from+e], back)
		}
	})
	if err != nil {
		return nil, err
	}
	out.Materials = s.roomFor(out.Materials)
	rest, err := by.back(ctx, &Morphology{Materials: out.Materials})
	if rest != nil {
		addBack(out.Optics[0], o[0], rest)
	}
	return out, err
}

// reached returns the number of angles that reach each pixel of the mean, for n energies of beam j, starting at from. It counts them
// once, since only the geometry matters.
func (s *Simulator) reached(j, from int, seen []uint8, n int) [][]int32 {
	if s.counts == nil {
		s.counts = make([][]int32, len(s.beams)*len(s.cfg.Energies))
	}
	list := s.counts[j*len(s.cfg.Energies)+from:][:n]
	if list[0] == nil {
		copy(list, s.averages[j].counts(seen, n))
	}
	return list
}

// deviceGradient is GradientTo on GPUs.
func (s *Simulator) deviceGradient(ctx context.Context, out *Gradient, o Optics, dIntensity *tensor.Tensor) (*Gradient, error) {
	if err := s.devices.gradients(ctx, s, o, out.Optics, fromHost(ctx, dIntensity.Compact().Float64s())); err != nil {
		return nil, err
	}
	out.Materials = s.roomFor(out.Materials)
	to := targets(out.Materials, s.shape[0]*s.shape[1]*s.shape[2])
	if err := s.devices.each(func(p *device) error { return p.back(ctx, s, s.devices.forms, to) }); err != nil {
		return nil, err
	}
	return out, nil
}

// roomFor returns arrays for the derivatives with respect to the arrays of the morphology, reusing
// those of old that fit.
func (s *Simulator) roomFor(old []Material) []Material {
	list := make([]Material, len(s.morph.Materials))
	for i := range list {
		from, to := s.morph.Materials[i], allFields(&list[i])
		list[i].Name = from.Name
		var room [6]field
		if i < len(old) {
			copy(room[:], allFields(&old[i]))
		}
		for k, f := range allFields(&from) {
			if slices.Contains(from.fields(), f) {
				*to[k].at = derivatives(*f.at, room[k])
			}
		}
	}
	return list
}

// derivatives returns an array for the derivatives with respect to t, reusing old if it fits.
func derivatives(t *tensor.Tensor, old field) *tensor.Tensor {
	d := derivativeType(t.DType())
	if old.at != nil && *old.at != nil && *old.at != t && (*old.at).DType() == d && (*old.at).Shape().Equal(t.Shape()) && (*old.at).Contiguous() {
		return *old.at
	}
	return tensor.New(d, t.Shape()...)
}

// derivativeType returns the type of derivatives by an array: float32 for half precision, whose range
// they may leave.
func derivativeType(d tensor.DType) tensor.DType {
	if d == tensor.Float16 {
		return tensor.Float32
	}
	return d
}

// addBack adds to the derivatives with respect to the constants at one energy.
func addBack(to, at []Constants, back []contrast) {
	for m, c := range at {
		d := c.back(back[m])
		t := &to[m]
		t.DeltaPara, t.BetaPara = t.DeltaPara+d.DeltaPara, t.BetaPara+d.BetaPara
		t.DeltaPerp, t.BetaPerp = t.DeltaPerp+d.DeltaPerp, t.BetaPerp+d.BetaPerp
	}
}
