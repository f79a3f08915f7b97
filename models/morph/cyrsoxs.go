// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"fmt"
	"path/filepath"

	"github.com/euryale-dev/euryale/data"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// Experiment is the content of a CyRSoXS working directory, both as its files store it and as a
// simulator needs it.
type Experiment struct {
	Settings *cyrsoxs.Config
	Volume   *cyrsoxs.Morphology

	Morphology *rsoxs.Morphology // fields of the simulator; they share the memory of Volume
	Config     rsoxs.Config
	Optics     rsoxs.Optics

	Warnings []string // Warnings lists the differences from what CyRSoXS would do, and its own warnings.
	// Checks lists problems with the volume, such as fractions that do not sum to 1; nil if there
	// are none.
	Checks error
}

// ExperimentSettings control how an Experiment is read. The zero value suits simulations
// in single precision.
type ExperimentSettings struct {
	// Parity reproduces the mistakes of CyRSoXS: the window is left out with Algorithm 1, and the
	// base angle of oblique beams is added in radians to degrees. The q grid is that of CyRSoXS in
	// either case; see Config.Grid.
	Parity bool
	// Double makes OpenExperiment read the fields as float64. Default float32.
	Double bool
}

// OpenExperiment reads config.txt and Material1.txt, Material2.txt, ... of a folder,
// and the HDF5 file of a morphology.
func OpenExperiment(dir, file string, s ExperimentSettings) (*Experiment, error) {
	c, warnings, err := cyrsoxs.ReadConfig(filepath.Join(dir, "config.txt"))
	if err != nil {
		return nil, err
	}
	all, err := cyrsoxs.ReadMaterials(dir)
	if err != nil {
		return nil, err
	}
	v, err := cyrsoxs.ReadMorphology(file, cyrsoxs.ReadSettings{Double: s.Double, Vector: c.MorphologyType == cyrsoxs.Vector})
	if err != nil {
		return nil, err
	}
	x, err := NewExperiment(c, v, all, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	x.Warnings = append(warnings, x.Warnings...)
	return x, nil
}

// NewExperiment combines settings, a volume and tables of optical constants, one for each
// phase. Surplus tables are ignored with a warning. Constants are looked up by energy, in
// any order.
func NewExperiment(c *cyrsoxs.Config, v *cyrsoxs.Morphology, all []*cyrsoxs.Material, s ExperimentSettings) (*Experiment, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if v.Type != c.MorphologyType {
		return nil, &data.FormatError{Format: "cyrsoxs", Place: "MorphologyType", What: fmt.Sprintf("is %v in the settings, but the volume is of type %v", c.MorphologyType, v.Type),
			Try: fmt.Sprintf("set MorphologyType = %d", v.Type)}
	}
	n := len(v.Phases)
	if len(all) < n {
		return nil, &data.FormatError{Format: "cyrsoxs", Place: "materials", What: fmt.Sprintf("the volume has %d, but there are optical constants of only %d", n, len(all)),
			Try: fmt.Sprintf("add Material%d.txt", len(all)+1), Err: cyrsoxs.ErrIncomplete}
	}
	x := &Experiment{Settings: c, Volume: v, Config: SimulatorConfig(c), Checks: v.Check(0)}
	if len(all) > n {
		x.warn("the volume has %s: Material%d.txt and later are not used", errtext.Count(n, "material"), n+1)
	}
	table, warnings, err := cyrsoxs.Optics(all[:n], c.Energies)
	if err != nil {
		return nil, err
	}
	x.Warnings = append(x.Warnings, warnings...)
	for _, row := range table {
		o := make([]rsoxs.Constants, n)
		for m, k := range row {
			o[m] = rsoxs.Constants(k)
		}
		x.Optics = append(x.Optics, o)
	}
	if x.Morphology, err = scatteringVolume(v); err != nil {
		return nil, err
	}
	return x, x.quirks(s.Parity)
}

func (x *Experiment) warn(format string, a ...any) {
	x.Warnings = append(x.Warnings, fmt.Sprintf(format, a...))
}

// quirks reproduces the mistakes of CyRSoXS, or warns that they are corrected.
func (x *Experiment) quirks(parity bool) error {
	if x.Settings.Algorithm == cyrsoxs.MinMemory && x.Config.Window != rsoxs.NoWindow {
		if parity {
			x.Config.Window = rsoxs.NoWindow
			x.warn("the window is left out: CyRSoXS ignores WindowingType with Algorithm = 1")
		} else {
			x.warn("the window is applied, which CyRSoXS with Algorithm = 1 forgets")
		}
	}
	x.Config.CorrectBaseAngle = !parity
	beams, err := x.Config.Beams()
	if err != nil {
		return err
	}
	for i, b := range beams {
		if b.Base != 0 && !parity {
			x.warn("beam %d: the electric field starts at its base angle of %.4g degrees; CyRSoXS adds that in radians to degrees", i, b.Base)
		}
	}
	return nil
}

// SimulatorConfig converts CyRSoXS settings to those of the simulator, with the grid and
// the base angle of CyRSoXS.
func SimulatorConfig(c *cyrsoxs.Config) rsoxs.Config {
	a := c.EAngleRotation
	out := rsoxs.Config{Energies: c.Energies, Angles: rsoxs.Angles{Start: a[0], Increment: a[1], End: a[2]},
		Case: rsoxs.Case(c.CaseType), K: c.KVectors, Detector: c.Detector, RotMask: c.RotMask}
	if c.Interpolation == cyrsoxs.Nearest {
		out.Interpolation = rsoxs.Nearest
	}
	if c.Window == cyrsoxs.Hann {
		out.Window = rsoxs.Hann
	}
	if c.ReferenceFrame == cyrsoxs.MaterialFrame {
		out.Frame = rsoxs.MaterialFrame
	}
	return out
}

// scatteringVolume returns the volume in the same memory. Only fields that are zero
// everywhere get memory of their own, because the simulator requires numbers there.
func scatteringVolume(v *cyrsoxs.Morphology) (*rsoxs.Morphology, error) {
	m := &rsoxs.Morphology{PhysSize: v.PhysSize}
	z, y, x := v.Shape[0], v.Shape[1], v.Shape[2]
	for i, p := range v.Phases {
		var err error
		field := func(f cyrsoxs.Field, needed bool, shape ...int) (t *tensor.Tensor) {
			if err == nil {
				t, err = f.Tensor(shape...)
			}
			if t == nil && needed {
				t = tensor.New(tensor.Float32, shape...)
			}
			return t
		}
		mat := rsoxs.Material{Name: fmt.Sprintf("material %d", i+1)}
		if v.Type == cyrsoxs.Vector {
			mat.Align, mat.Unaligned = field(p.Alignment, true, z, y, x, 3), field(p.Unaligned, true, z, y, x)
		} else {
			aligned := !p.S.IsZero()
			mat.Vfrac, mat.S = field(p.Vfrac, true, z, y, x), field(p.S, aligned, z, y, x)
			if aligned {
				mat.Theta, mat.Psi = field(p.Theta, true, z, y, x), field(p.Psi, true, z, y, x)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("material %d: %w", i+1, err)
		}
		m.Materials = append(m.Materials, mat)
	}
	return m, nil
}
