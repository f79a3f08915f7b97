// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// sampleVolume is a random mixture of an ordered and an isotropic material with
// vacuum: 8 x 32 x 32 voxels of 5 nm, with volume fractions that sum to 1 exactly.
func sampleVolume() *cyrsoxs.Morphology {
	m := &cyrsoxs.Morphology{Shape: [3]int{8, 32, 32}, PhysSize: 5, Phases: make([]cyrsoxs.Phase, 3)}
	field := func() cyrsoxs.Field { return cyrsoxs.Field{Float32: make([]float32, m.Voxels())} }
	a, b, vacuum := field(), field(), field()
	s, theta, psi := field(), field(), field()
	src := tensor.NewStream(4, 1, 0)
	for i := range m.Voxels() {
		a.Float32[i], b.Float32[i] = float32(src.Uint32()%33)/64, float32(src.Uint32()%32)/64
		vacuum.Float32[i] = 1 - a.Float32[i] - b.Float32[i]
		s.Float32[i] = float32(src.Float64())
		theta.Float32[i], psi.Float32[i] = float32(math.Pi*src.Float64()), float32(2*math.Pi*src.Float64())
	}
	m.Phases[0] = cyrsoxs.Phase{Vfrac: a, S: s, Theta: theta, Psi: psi}
	m.Phases[1], m.Phases[2] = cyrsoxs.Phase{Vfrac: b}, cyrsoxs.Phase{Vfrac: vacuum}
	return m
}

// volumeFile writes a volume and returns its path.
func volumeFile(t *testing.T, m *cyrsoxs.Morphology, o cyrsoxs.WriteOptions) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "volume.h5")
	o.Gzip = 1
	if err := cyrsoxs.WriteMorphology(name, m, o); err != nil {
		t.Fatal(err)
	}
	return name
}

const volumeConfig = `CaseType = 0;
Energies = [284.4, 285.2];
EAngleRotation = [0.0, 0.0, 0.0];
MorphologyType = 0;
Algorithm = 0;
WindowingType = 0;
RotMask = False;
EwaldsInterpolation = 1;
ReferenceFrame = 1;
ScatterApproach = 0;
NumThreads = 1;
`

// workInSample makes a folder with the files of a run the working directory and
// returns the path of its volume.
func workInSample(t *testing.T) string {
	t.Helper()
	material := func(scale string) string {
		return "EnergyData0:\n{\nEnergy = 284.4;\nBetaPara = 4.9e-" + scale + ";\nBetaPerp = 1.6e-" + scale + ";\nDeltaPara = 1.9e-" + scale + ";\nDeltaPerp = 5.3e-" + scale + ";\n}\n" +
			"EnergyData1:\n{\nEnergy = 285.2;\nBetaPara = 8.4e-" + scale + ";\nBetaPerp = 1.3e-" + scale + ";\nDeltaPara = -1.1e-" + scale + ";\nDeltaPerp = -5.6e-" + scale + ";\n}\n"
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"config.txt": volumeConfig, "Material1.txt": material("3"), "Material2.txt": material("4"), "Material3.txt": material("9")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	volume := volumeFile(t, sampleVolume(), cyrsoxs.WriteOptions{})
	t.Chdir(dir)
	return volume
}

// ringFolder writes images of rings at three energies as a simulation would.
func ringFolder(t *testing.T) string {
	t.Helper()
	const n = 48
	images := tensor.New(tensor.Float64, 3, 1, n, n)
	for i := range images.Size() {
		e, y, x := i/(n*n), float64(i/n%n-n/2), float64(i%n-n/2)
		images.Data().([]float64)[i] = math.Exp(-math.Hypot(x, y)/8) * (2 + math.Cos(math.Hypot(x, y)) + 0.1*float64(e)*x*x/(1+x*x+y*y))
	}
	return patternFolder(t, []float64{284.4, 285.2, 288.6}, images)
}
