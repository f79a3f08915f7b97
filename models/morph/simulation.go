package morph

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// SimulationSettings say how an Experiment is simulated. The zero value is CyRSoXS in
// single precision.
type SimulationSettings struct {
	Grid      string `json:"grid"`       // of q: "cyrsoxs" (default), or "exact", that of the transform
	Precision int    `json:"precision"`  // bits of reals, 32 or 64. Default 32
	Parity    bool   `json:"parity"`     // that the Experiment was read with
	CollapseZ bool   `json:"collapse_z"` // scatter from one slice, the mean along z
}

// SettingsError says that the settings of an experiment cannot be simulated, whatever its
// morphology.
type SettingsError struct{ Err error }

// Error is that of the settings.
func (e *SettingsError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *SettingsError) Unwrap() error { return e.Err }

// Simulation writes the images of an experiment into a folder as CyRSoXS does, a file for
// each energy.
//
//	x, err := morph.OpenExperiment(".", "film.h5", morph.ExperimentSettings{})
//	s, err := morph.NewSimulation(x, "HDF5", morph.SimulationSettings{}, 0)
//	err = s.Transform(ctx)
//	err = s.Write(ctx, nil, nil)
type Simulation struct {
	*Experiment
	How   SimulationSettings
	Dir   string   // of the files
	Files []string // in it, in the order of the energies
	Beams []rsoxs.Beam

	sim *rsoxs.Simulator
}

// NewSimulation sets the simulator up, for so many threads; 0 takes all processors. The
// folder is made by whoever runs it.
func NewSimulation(x *Experiment, dir string, how SimulationSettings, threads int) (*Simulation, error) {
	how.Grid, how.Precision = cmp.Or(how.Grid, "cyrsoxs"), cmp.Or(how.Precision, 32)
	s := &Simulation{Experiment: x, How: how, Dir: dir}
	if how.Grid == "exact" {
		x.Config.Grid = rsoxs.ExactGrid
	}
	x.Config.CollapseZ, x.Config.Precision, x.Config.Workers = how.CollapseZ, how.Precision, threads
	var err error
	if s.Files, err = cyrsoxs.FileNames(x.Config.Energies); err != nil {
		return nil, &SettingsError{err}
	}
	for i, e := range x.Config.Energies {
		if want := fmt.Sprintf("Energy_%.2f.h5", e); s.Files[i] != want {
			x.Warnings = append(x.Warnings, fmt.Sprintf("%g eV goes to %s: another energy has the name %s", e, s.Files[i], want))
		}
	}
	if s.Beams, err = x.Config.Beams(); err != nil {
		return nil, &SettingsError{err}
	}
	s.sim, err = rsoxs.New(x.Volume.Shape, x.Volume.PhysSize, x.Config)
	return s, err
}

// Transform takes the morphology to the planes that detectors read. It comes before Write.
func (s *Simulation) Transform(ctx context.Context) error { return s.sim.Transform(ctx, s.Morphology) }

// Write computes and writes the energies that are to do; nil: all. Each file takes its name
// when it is whole, and then done, unless it is nil, is told of the energy, by its place,
// and of its intensities. When ctx ends, the energies in hand are finished.
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

// batchBytes bounds the images of the energies in hand.
const batchBytes = 256 << 20

// batch is how many energies are in hand: those that share the geometry of the
// rotations, where there are any.
func (s *Simulation) batch() int {
	if a := s.Config.Angles; a.Start == a.End {
		return 1
	}
	size := 8 * 8 * len(s.Beams) * s.Volume.Shape[1] * s.Volume.Shape[2]
	return max(1, min(8, batchBytes/size))
}

// write computes and writes energies from to to-1, also when they are interrupted.
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

// Kept returns the intensities of an energy that a run before this one has written; nil
// where there is no whole file.
func (s *Simulation) Kept(energy int) []float64 {
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
