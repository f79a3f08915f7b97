// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// SimulationSettings control how an Experiment is simulated. The zero value corresponds
// to CyRSoXS in single precision.
type SimulationSettings struct {
	Grid      string `json:"grid" yaml:"grid" default:"cyrsoxs" choices:"cyrsoxs,exact" about:"q of pixels and planes: cyrsoxs, or exact (the q of the Fourier transform)"`
	Precision int    `json:"precision" yaml:"precision" only:"batch" default:"32" low:"32" high:"64" about:"floating-point precision in bits, 32 or 64"`
	Parity    bool   `json:"parity" yaml:"parity" about:"reproduce the known errors of CyRSoXS"` // the Experiment must have been read with it too
	CollapseZ bool   `json:"collapse_z" yaml:"collapse_z" about:"average the morphology along z and scatter from that one slice"`

	Backend ad.Backend `json:"-" yaml:"-"` // backend that computes the images, such as autodiff.CUDA. Default: the CPU
}

// Check sets what is zero to its default. Its error is of type *setting.Error.
func (s *SimulationSettings) Check() error {
	if err := setting.Complete(s); err != nil {
		return err
	}
	switch {
	case s.Grid == "exact" && s.Parity:
		return &setting.Error{Name: "parity", Text: "uses the grid of CyRSoXS: leave out the grid exact"}
	case s.Precision != 32 && s.Precision != 64:
		return &setting.Error{Name: "precision", Text: fmt.Sprintf("%d: want 32 or 64", s.Precision)}
	}
	return nil
}

// SettingsError says that the settings of an experiment cannot be simulated with any morphology.
type SettingsError struct{ Err error }

// Error returns the message about the settings.
func (e *SettingsError) Error() string { return e.Err.Error() }

// Unwrap returns the underlying error.
func (e *SettingsError) Unwrap() error { return e.Err }

// Simulation writes the images of an experiment into a folder as CyRSoXS does, with one
// file per energy.
//
//	x, err := morph.OpenExperiment(".", "film.h5", morph.ExperimentSettings{})
//	s, err := morph.NewSimulation(x, "HDF5", morph.SimulationSettings{}, 0)
//	err = s.Transform(ctx)
//	err = s.Write(ctx, nil, nil)
type Simulation struct {
	*Experiment
	How   SimulationSettings
	Dir   string   // folder of the image files
	Files []string // names of the image files, in the order of the energies
	Beams []rsoxs.Beam

	sim *rsoxs.Simulator
}

// NewSimulation sets up the simulator with the given number of threads; 0 uses all
// processors. The caller must create the folder.
func NewSimulation(x *Experiment, dir string, how SimulationSettings, threads int) (*Simulation, error) {
	if err := how.Check(); err != nil {
		return nil, err
	}
	s := &Simulation{Experiment: x, How: how, Dir: dir}
	if how.Grid == "exact" {
		x.Config.Grid = rsoxs.ExactGrid
	}
	x.Config.CollapseZ, x.Config.Precision, x.Config.Workers, x.Config.Backend = how.CollapseZ, how.Precision, threads, how.Backend
	var err error
	if s.Files, err = cyrsoxs.FileNames(x.Config.Energies); err != nil {
		return nil, &SettingsError{err}
	}
	for i, e := range x.Config.Energies {
		if want := fmt.Sprintf("Energy_%.2f.h5", e); s.Files[i] != want {
			x.Warnings = append(x.Warnings, fmt.Sprintf("the pattern at %g eV is written to %s, because another energy has the name %s", e, s.Files[i], want))
		}
	}
	if s.Beams, err = x.Config.Beams(); err != nil {
		return nil, &SettingsError{err}
	}
	s.sim, err = rsoxs.New(x.Volume.Shape, x.Volume.PhysSize, x.Config)
	return s, err
}

// Device returns the device on which the images are computed: "cpu", a GPU such as "cuda:0", or
// several of them.
func (s *Simulation) Device() string { return s.sim.Device() }

// Transform computes the detector planes of the morphology. It must run before Write.
func (s *Simulation) Transform(ctx context.Context) error { return s.sim.Transform(ctx, s.Morphology) }

// Write computes and writes the energies in todo, or all of them if todo is nil. A file
// appears under its name once it is complete. Then done, unless it is nil, is called with
// the index of the energy and its intensities. When ctx ends, the current energies are
// finished.
func (s *Simulation) Write(ctx context.Context, todo []bool, done func(energy int, values []float64)) error {
	if todo == nil {
		todo = slices.Repeat([]bool{true}, len(s.Files))
	}
	for from := 0; from < len(todo); {
		to := from + 1
		for to < len(todo) && todo[to] == todo[from] && to-from < s.batch() {
			to++
		}
		if todo[from] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.write(ctx, from, to, done); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

// batchBytes limits the memory for the images of the current energies.
const batchBytes = 256 << 20

// batch returns how many energies are computed together: those that share the geometry of
// the rotations, if there are any.
func (s *Simulation) batch() int {
	if a := s.Config.Angles; a.Start == a.End {
		return 1
	}
	size := 8 * 8 * len(s.Beams) * s.Volume.Shape[1] * s.Volume.Shape[2]
	return max(1, min(8, batchBytes/size))
}

// write computes and writes the energies from to to-1, even if it is interrupted.
func (s *Simulation) write(ctx context.Context, from, to int, done func(energy int, values []float64)) error {
	p, err := s.sim.PatternOf(context.WithoutCancel(ctx), s.Optics, from, to)
	if err != nil {
		return err
	}
	images := p.Intensity.Data().([]float64)
	size := len(images) / (to - from)
	for e := from; e < to; e++ {
		v := images[(e-from)*size : (e-from+1)*size]
		if err := cyrsoxs.WritePattern(filepath.Join(s.Dir, s.Files[e]), s.pattern(e, v)); err != nil {
			return err
		}
		if done != nil {
			done(e, v)
		}
	}
	return nil
}

// pattern returns the images of an energy as they are written.
func (s *Simulation) pattern(e int, v []float64) *cyrsoxs.Pattern {
	n := s.Volume.Shape[1] * s.Volume.Shape[2]
	p := &cyrsoxs.Pattern{Energy: s.Config.Energies[e], Shape: [2]int(s.Volume.Shape[1:])}
	for i, b := range s.Beams {
		f := cyrsoxs.Field{Float64: v[i*n : (i+1)*n]}
		if s.How.Precision == 32 {
			f = cyrsoxs.Field{Float32: f.Float32s()}
		}
		p.KVectors, p.Images = append(p.KVectors, b.K), append(p.Images, f)
	}
	return p
}

// Kept returns the intensities of an energy that an earlier run has written, or nil if
// there is no complete file of it. The intensities have the precision of the file.
func (s *Simulation) Kept(energy int) []float64 {
	if energy < 0 || energy >= len(s.Files) {
		return nil
	}
	p, err := cyrsoxs.ReadPattern(filepath.Join(s.Dir, s.Files[energy]))
	if err != nil || !s.complete(p) {
		return nil
	}
	var v []float64
	for _, f := range p.Images {
		v = append(v, f.Float64s()...)
	}
	return v
}

func (s *Simulation) complete(p *cyrsoxs.Pattern) bool {
	if len(p.Images) != len(s.Beams) || p.Shape != [2]int(s.Volume.Shape[1:]) {
		return false
	}
	for _, f := range p.Images {
		if (f.Float32 != nil) != (s.How.Precision == 32) {
			return false
		}
	}
	return true
}
