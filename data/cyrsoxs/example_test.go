// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
)

func ExampleReadMorphology() {
	m, err := cyrsoxs.ReadMorphology("testdata/earliest.h5", cyrsoxs.ReadSettings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Shape, m.PhysSize, "nm,", len(m.Phases), "materials,", m.Phases[0].S.Float32[23])
	m.Phases[1].Vfrac.Float32[13] += 0.25
	fmt.Println(m.Check(0))
	// Output:
	// [2 3 4] 2.5 nm, 2 materials, 0.359375
	// cyrsoxs: Phases: the volume fractions sum to 1.25 at voxel (z 1, y 0, x 1), want 1 within 1e-05: scale them, or add the missing volume as vacuum
}

func ExampleParseConfig() {
	c, warnings, err := cyrsoxs.ParseConfig(`CaseType = 0;
Energies = [284.7, 285.2];
EAngleRotation = [0, 60, 120]; # degrees
MorphologyType = 0;`, "config.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	angles, _ := c.Angles()
	fmt.Println(c.Energies, angles, c.Interpolation)
	fmt.Println(warnings[0])
	_, _, err = cyrsoxs.ParseConfig("CaseType = 5; Energies = [285.0]; EAngleRotation = [0.0, 0.0, 90.0];", "config.txt")
	fmt.Println(err)
	// Output:
	// [284.7 285.2] [0 60 120] trilinear
	// config.txt:3: EAngleRotation has whole numbers: taken as fractions (CyRSoXS stops: write 1.0 for 1)
	// cyrsoxs: config.txt: MorphologyType: it is missing: add MorphologyType = 0;
	// cyrsoxs: config.txt: line 1 (CaseType): there is no choice 5: choose 0 normal incidence, 1 beam divergence or 2 grazing incidence
	// cyrsoxs: config.txt: line 1 (EAngleRotation): the step is 0 from 0 to 90 degrees: give a positive step
}

func ExampleOptics() {
	dir, err := os.MkdirTemp("", "optics")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	table := &cyrsoxs.Material{Energies: []float64{280, 290}, Constants: []cyrsoxs.Constants{{BetaPara: 1e-3}, {BetaPara: 3e-3}}}
	energies := []float64{285}
	for i, m := range []*cyrsoxs.Material{table, {}} { // a table and vacuum
		name := filepath.Join(dir, fmt.Sprintf("Material%d.txt", i+1))
		if err := cyrsoxs.WriteMaterial(name, m.Sample(energies)); err != nil {
			fmt.Println(err)
		}
	}
	all, err := cyrsoxs.ReadMaterials(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	n, _, err := cyrsoxs.Optics(all, energies)
	fmt.Println(n, err)
	// Output: [[{0 0.002 0 0} {0 0 0 0}]] <nil>
}
