// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// volume is two voxels of one aligned phase in vacuum.
func volume() *cyrsoxs.Morphology {
	f := func(a, b float32) cyrsoxs.Field { return cyrsoxs.Field{Float32: []float32{a, b}} }
	return &cyrsoxs.Morphology{Shape: [3]int{1, 1, 2}, PhysSize: 2, Phases: []cyrsoxs.Phase{
		{Vfrac: f(1, 0.5), S: f(0.5, 0), Theta: f(1, 0), Psi: f(2, 0)}, {Vfrac: f(0, 0.5)}}}
}

func materials() []*cyrsoxs.Material {
	m := &cyrsoxs.Material{Name: "Material1.txt", Energies: []float64{280, 285}, Constants: []cyrsoxs.Constants{{DeltaPara: 1e-3}, {BetaPerp: 2e-3}}}
	return []*cyrsoxs.Material{m, {}}
}

func settings() *cyrsoxs.Config {
	c := cyrsoxs.NewConfig()
	c.Energies, c.EAngleRotation = []float64{285, 280}, [3]float64{0, 15, 165}
	return c
}

func TestExperimentSharesMemory(t *testing.T) {
	v := volume()
	x, err := morph.NewExperiment(settings(), v, materials(), morph.ExperimentSettings{})
	if err != nil {
		t.Fatal(err)
	}
	v.Phases[0].Vfrac.Float32[1] = 0.25
	p := x.Morphology.Materials
	if p[0].Vfrac.Float64s()[1] != 0.25 || x.Morphology.PhysSize != 2 {
		t.Errorf("the fields are copies: %v", p[0].Vfrac)
	}
	if p[0].Theta == nil || p[0].Psi == nil || p[1].S != nil || p[1].Theta != nil {
		t.Errorf("fields of %+v", p)
	}
	if x.Checks != nil {
		t.Errorf("checks: %v", x.Checks)
	}
	// Constants follow the energies, and the other order is told.
	if x.Optics[0][0].BetaPerp != 2e-3 || x.Optics[1][0].DeltaPara != 1e-3 || len(x.Warnings) != 1 {
		t.Errorf("%v, warnings %q", x.Optics, x.Warnings)
	}
}

func TestExperimentRefuses(t *testing.T) {
	vector := settings()
	vector.MorphologyType = cyrsoxs.Vector
	far := settings()
	far.Energies = []float64{290}
	for says, f := range map[string]func() error{
		"set MorphologyType = 0": func() error {
			_, err := morph.NewExperiment(vector, volume(), materials(), morph.ExperimentSettings{})
			return err
		},
		"add Material2.txt": func() error {
			_, err := morph.NewExperiment(settings(), volume(), materials()[:1], morph.ExperimentSettings{})
			return err
		},
		"290": func() error {
			_, err := morph.NewExperiment(far, volume(), materials(), morph.ExperimentSettings{})
			return err
		},
		"config.txt": func() error {
			_, err := morph.OpenExperiment(t.TempDir(), "none.h5", morph.ExperimentSettings{})
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q in it", err, says)
		}
	}
	open := volume()
	open.Phases[1].Vfrac.Float32[0] = 0.5
	x, err := morph.NewExperiment(settings(), open, append(materials(), &cyrsoxs.Material{}), morph.ExperimentSettings{})
	if err != nil || x.Checks == nil || !strings.Contains(strings.Join(x.Warnings, "\n"), "Material3.txt and later") {
		t.Errorf("%v, checks %v, warnings %q", err, x.Checks, x.Warnings)
	}
}

// Quirks of CyRSoXS are repeated on request only, and told otherwise.
func TestExperimentQuirks(t *testing.T) {
	c := settings()
	c.Algorithm, c.Window = cyrsoxs.MinMemory, cyrsoxs.Hann
	c.CaseType, c.KVectors = cyrsoxs.BeamDivergence, [][3]float64{{0, 0, 1}, {0.1, 0.2, 0.97}}
	for _, parity := range []bool{false, true} {
		x, err := morph.NewExperiment(c, volume(), materials(), morph.ExperimentSettings{Parity: parity})
		if err != nil {
			t.Fatal(err)
		}
		told := strings.Join(x.Warnings, "\n")
		if (x.Config.Window == rsoxs.Hann) == parity || x.Config.CorrectBaseAngle == parity || !strings.Contains(told, "window") || strings.Contains(told, "beam 1") == parity {
			t.Errorf("parity %v: %+v\n%s", parity, x.Config, told)
		}
	}
}

func TestOpenExperiment(t *testing.T) {
	dir, name := "", "" // of a case whose volume is there as a file
	for _, c := range golden.Having(t, "scatter/cases/*/case.json", "morphology") {
		var s struct{ Morphology string }
		golden.JSON(t, &s, c)
		if file := "scatter/morph/" + s.Morphology; slices.Contains(golden.Glob(t, file+".*"), file+".h5") {
			dir, name = golden.Path(t, path.Dir(c)), golden.Path(t, file+".h5")
			break
		}
	}
	if name == "" {
		t.Skip("no case with an HDF5 file of its volume")
	}
	for _, double := range []bool{false, true} {
		x, err := morph.OpenExperiment(dir, name, morph.ExperimentSettings{Double: double})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(x.Morphology.Materials); n != len(x.Optics[0]) || len(x.Optics) != len(x.Config.Energies) || x.Morphology.Shape() != x.Volume.Shape {
			t.Errorf("%d materials, constants %v, shape %v", n, x.Optics, x.Morphology.Shape())
		}
	}
}
