// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// Simulator computes scattering patterns of morphologies of one shape. It keeps everything that
// depends only on the geometry, so that fits repeat only the work on the fields or on the constants.
// It is not safe for concurrent use.
type Simulator struct {
	cfg      Config
	shape    [3]int
	a        float64
	layout   *layout
	beams    []*beam
	averages []*average
	morph    *Morphology
	spectra  spectrum
	state    state    // what spectra holds
	merged   Optics   // constants that the polarization in spectra is for
	devices  *devices // nil if the processor computes
	remote   bool     // whether the arrays of morph are on the device only
	shared   *geometries
	counts   [][]int32 // number of angles that reach each pixel, by beam and energy; nil until a gradient needs them
}

// state says what the spectra of a simulator hold.
type state int

const (
	spoiled      state = iota // nothing of the morphology, or what gradients left
	fields                    // all fields
	polarization              // the polarization for the constants in merged
)

// spectrum is a spectra of either precision.
type spectrum interface {
	load(m *Morphology)
	merge(contrasts []contrast) bool
	transform(ctx context.Context) error
	expose(exposures []*exposure)
	gradient(inPlace bool) spectrum
	exposeBack(g spectrum, exposures []*exposure) [][]contrast
	back(ctx context.Context, m *Morphology) ([]contrast, error)
	tangent(ctx context.Context, dm []Material) (spectrum, error)
	exposeTangent(g spectrum, exposures []*exposure)
}

// New prepares simulations of volumes of shape Z, Y, X with voxels of physSize nm.
func New(shape [3]int, physSize float64, cfg Config) (*Simulator, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if shape[0] < 1 || shape[1] < 1 || shape[2] < 1 || !(physSize > 0) {
		return nil, fmt.Errorf("rsoxs: the volume has %v voxels of %g nm: want at least one along each axis, of a size above 0", shape, physSize)
	}
	s := &Simulator{cfg: cfg, shape: shape, a: physSize}
	planes := shape
	if cfg.CollapseZ {
		planes[0] = 1
	}
	l := newLattice(planes, physSize, cfg.Grid)
	var views []*view
	for _, k := range cfg.K {
		b := newBeam(&s.cfg, k)
		s.beams = append(s.beams, b)
		s.averages = append(s.averages, newAverage(&s.cfg, b, k, shape[1], shape[2]))
		for _, e := range cfg.Energies {
			views = append(views, newView(l, b, e, cfg.Interpolation))
		}
	}
	s.layout = newLayout(l, views, shape[0], cfg.Workers)
	s.shared = &geometries{on: map[*cuda.Device]*deviceGeometry{}}
	if s.devices, err = s.openDevices(); err != nil {
		return nil, err
	}
	return s, nil
}

// Clone returns a simulator of the same geometry for another goroutine, without a
// morphology.
func (s *Simulator) Clone() *Simulator {
	c := *s
	c.morph, c.spectra, c.merged, c.devices, c.counts = nil, nil, nil, s.devices.clone(), slices.Clone(s.counts)
	return &c
}

// Close releases the memory on GPUs that s holds, which otherwise waits for the garbage collector.
// The next Transform allocates it again.
func (s *Simulator) Close() {
	s.morph = nil
	if s.devices != nil {
		s.devices.forms = nil
		for _, p := range s.devices.parts {
			p.release()
		}
	}
}

// WithWorkers returns a Clone that uses n goroutines.
func (s *Simulator) WithWorkers(n int) *Simulator {
	c := s.Clone()
	c.cfg.Workers = max(n, 1)
	c.averages = slices.Clone(s.averages)
	for i, a := range c.averages {
		b := *a
		b.workers = c.cfg.Workers
		c.averages[i] = &b
	}
	return c
}

// Energies returns the energies in eV.
func (s *Simulator) Energies() []float64 { return slices.Clone(s.cfg.Energies) }

// Shape returns the number of voxels along Z, Y and X.
func (s *Simulator) Shape() [3]int { return s.shape }

// PhysSize returns the edge of a voxel in nm.
func (s *Simulator) PhysSize() float64 { return s.a }

// Pattern is the image on the detector: intensities without normalisation. Multiplied by PhysSize^6
// they are a differential cross section in nm^2.
type Pattern struct {
	Energies  []float64      // photon energies in eV
	QY, QX    []float64      // q of the rows and columns in 1/nm
	Intensity *tensor.Tensor // float64 [energy, beam, QY, QX]; NaN where the detector sees nothing
}

// Image returns the intensities [QY, QX] of an energy and a beam, both from 0, on the memory
// of the pattern.
func (p *Pattern) Image(energy, beam int) []float64 {
	s := p.Intensity.Shape()
	n := s[2] * s[3]
	at := (energy*s[1] + beam) * n
	return p.Intensity.Data().([]float64)[at : at+n]
}

// Transform prepares patterns of m. The Simulator keeps m, whose arrays must not change until the next Transform: the
// parts of the fields' transforms that detectors read are computed when they are first needed, on a GPU at once. For one
// energy and the angle 0, the first Pattern and its Gradient transform the polarization instead, which takes half the
// time; other constants for the same morphology transform the fields.
func (s *Simulator) Transform(ctx context.Context, m *Morphology) error {
	if err := m.inspect(); err != nil {
		return err
	}
	if m.Shape() != s.shape || m.PhysSize != s.a {
		return fmt.Errorf("rsoxs: the morphology has %v voxels of %g nm, but the simulator is for %v of %g nm: make a simulator for this size", m.Shape(), m.PhysSize, s.shape, s.a)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.morph = nil
	if s.devices != nil {
		f, list := m.sources()
		if err := s.devices.transform(ctx, s, f, list); err != nil {
			return err
		}
		s.morph, s.remote = m, false
		return nil
	}
	if s.spectra == nil && s.cfg.Precision == 32 {
		s.spectra = newSpectra[float32](s.layout, s.cfg.Window, s.cfg.Workers)
	} else if s.spectra == nil {
		s.spectra = newSpectra[float64](s.layout, s.cfg.Window, s.cfg.Workers)
	}
	s.spectra.load(m)
	s.morph, s.state = m, spoiled
	return nil
}

// ready returns an error unless there is a morphology with constants for it, and transforms it if that has not been
// done, or if a gradient has overwritten its spectra. merge says whether the polarization may stand for the fields.
func (s *Simulator) ready(ctx context.Context, o Optics, merge bool) error {
	if s.morph == nil {
		return errors.New("rsoxs: no morphology has been transformed: call Transform first")
	}
	if err := o.checkValues(s.cfg.Energies, len(s.morph.Materials)); err != nil {
		return err
	}
	if s.devices != nil || s.state == fields || s.state == polarization && merge && slices.EqualFunc(o, s.merged, slices.Equal[[]Constants]) {
		return nil
	}
	var contrasts []contrast
	if s.state == spoiled && merge && s.alongX() {
		for _, c := range o[0] {
			contrasts = append(contrasts, c.contrast())
		}
	}
	s.state, s.merged = spoiled, nil
	to := fields
	if s.spectra.merge(contrasts) {
		to = polarization
		for _, row := range o {
			s.merged = append(s.merged, slices.Clone(row))
		}
	}
	err := s.spectra.transform(ctx)
	if err == nil {
		s.state = to
	}
	return err
}

// alongX reports whether there is one energy and one beam, whose field lies along x.
func (s *Simulator) alongX() bool {
	if len(s.cfg.Energies) != 1 || len(s.beams) != 1 || s.beams[0].e1 != (vec{1, 0, 0}) {
		return false
	}
	return newProjector(s.beams[0], s.averages[0].turns, s.cfg.Frame, 1).alone
}

// energyBatch is the number of energies that share the geometry of the rotations.
const energyBatch = 8

// Pattern computes the images of the transformed morphology.
func (s *Simulator) Pattern(ctx context.Context, o Optics) (*Pattern, error) {
	if err := s.ready(ctx, o, true); err != nil {
		return nil, err
	}
	p := s.newPattern(len(o))
	out := p.Intensity.Data().([]float64)
	if s.devices != nil {
		return p, s.devices.patterns(ctx, s, o, nil, toHost(ctx, out))
	}
	err := s.batches(ctx, o, func(j, from int, exposures []*exposure) {
		s.spectra.expose(exposures)
		s.averages[j].to(s.parts(out, j, from, len(exposures)), exposures)
	})
	return p, err
}

// newPattern returns a pattern without intensities.
func (s *Simulator) newPattern(energies int) *Pattern {
	ny, nx := s.shape[1], s.shape[2]
	return &Pattern{Energies: s.cfg.Energies, QY: Frequencies(ny, s.a), QX: Frequencies(nx, s.a),
		Intensity: tensor.New(tensor.Float64, energies, len(s.beams), ny, nx)}
}

// parts returns the images of beam j and n energies, starting at from, as parts of all.
func (s *Simulator) parts(all []float64, j, from, n int) [][]float64 {
	size := s.shape[1] * s.shape[2]
	parts := make([][]float64, n)
	for e := range parts {
		at := ((from+e)*len(s.beams) + j) * size
		parts[e] = all[at : at+size]
	}
	return parts
}

// batch returns the number of energies that are simulated together.
func (s *Simulator) batch() int {
	if s.cfg.Frame == MaterialFrame {
		return 1
	}
	return energyBatch
}

// batches calls f with the exposures of some energies of one beam, batch after batch.
func (s *Simulator) batches(ctx context.Context, o Optics, f func(j, from int, exposures []*exposure)) error {
	step := s.batch()
	for j, b := range s.beams {
		for from := 0; from < len(o); from += step {
			if err := ctx.Err(); err != nil {
				return err
			}
			var exposures []*exposure
			for e := from; e < min(from+step, len(o)); e++ {
				exposures = append(exposures, s.newExposure(b, s.averages[j].turns, e, o[e]))
			}
			f(j, from, exposures)
		}
	}
	return nil
}

func (s *Simulator) newExposure(b *beam, turns []foldedAngle, energy int, constants []Constants) *exposure {
	v := newView(s.layout.lattice, b, s.cfg.Energies[energy], s.cfg.Interpolation)
	h := &exposure{view: v, projector: newProjector(b, turns, s.cfg.Frame, v.wave)}
	for _, c := range constants {
		h.contrasts = append(h.contrasts, c.contrast())
	}
	for range h.projector.images() {
		h.images = append(h.images, make([]float64, s.shape[1]*s.shape[2]))
	}
	return h
}

// Simulate computes the pattern of a morphology.
func Simulate(ctx context.Context, m *Morphology, o Optics, cfg Config) (*Pattern, error) {
	if err := given.Args("rsoxs.Simulate", "ctx", ctx, "m", m); err != nil {
		return nil, err
	}
	s, err := New(m.Shape(), m.PhysSize, cfg)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.Transform(ctx, m); err != nil {
		return nil, err
	}
	return s.Pattern(ctx, o)
}
