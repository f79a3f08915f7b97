// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package apptest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

// WorkIn makes a copy of a case's inputs the working directory and returns the path
// of its morphology.
func WorkIn(t *testing.T, name string) (scatterCase, string) {
	t.Helper()
	var c scatterCase
	golden.JSON(t, &c, name, "case.json")
	morphology := c.volume(t)
	dir := t.TempDir()
	for _, f := range golden.Glob(t, name+"/*.txt") {
		b, err := os.ReadFile(golden.Path(t, f))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f)), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return c, morphology
}

// scatterCase is a reference case.
type scatterCase struct {
	Morphology string
	PhysSize   float64 `json:"PhysSize_nm"`
	Config     struct {
		Energies                     []float64
		CaseType, Algorithm, RotMask int
		WindowingType                int
	}
	Options struct {
		Hann, Grid   string
		BaseAngleBug bool `json:"base_angle_bug"`
	}
}

// volume returns the path of the case's morphology, which it writes where the
// reference has the arrays alone.
func (c *scatterCase) volume(t *testing.T) string {
	t.Helper()
	file := "scatter/morph/" + c.Morphology
	if slices.Contains(golden.Glob(t, file+".*"), file+".h5") {
		return golden.Path(t, file+".h5")
	}
	all := ReadNPZ(t, file+".npz")
	m := &cyrsoxs.Morphology{PhysSize: c.PhysSize, Type: cyrsoxs.Euler}
	for i := 1; ; i++ {
		field := func(key string) (f cyrsoxs.Field) {
			if x := all[fmt.Sprintf("mat%d_%s", i, key)]; x != nil {
				f.Float32, m.Shape = x.Data().([]float32), [3]int(x.Shape()[:3])
			}
			return f
		}
		p := cyrsoxs.Phase{Vfrac: field("Vfrac"), S: field("S"), Theta: field("Theta"), Psi: field("Psi"), Alignment: field("align"), Unaligned: field("unaligned")}
		if p.Vfrac.Len()+p.Unaligned.Len() == 0 {
			return VolumeFile(t, m, cyrsoxs.WriteSettings{})
		}
		if p.Unaligned.Len() > 0 {
			m.Type = cyrsoxs.Vector
		}
		m.Phases = append(m.Phases, p)
	}
}

// ReadNPZ reads the arrays of a reference.
func ReadNPZ(t *testing.T, elem ...string) map[string]*tensor.Tensor {
	t.Helper()
	f, err := os.Open(golden.Path(t, elem...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	all, err := tensor.ReadNPZ(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Countdown is a context that is cancelled when it is asked for the nth time.
type Countdown struct {
	context.Context
	Left atomic.Int32
}

// Err is nil as often as Left says.
func (c *Countdown) Err() error {
	if c.Left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// VolumeFile writes a volume and returns its path.
func VolumeFile(t *testing.T, m *cyrsoxs.Morphology, o cyrsoxs.WriteSettings) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "volume.h5")
	o.Gzip = 1
	if err := cyrsoxs.WriteMorphology(name, m, o); err != nil {
		t.Fatal(err)
	}
	return name
}

// WorkInSample makes a folder with the files of a run the working directory and
// returns the path of its volume.
func WorkInSample(t *testing.T) string {
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
	volume := VolumeFile(t, SampleVolume(), cyrsoxs.WriteSettings{})
	t.Chdir(dir)
	return volume
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

// SampleVolume is a random mixture of an ordered and an isotropic material with
// vacuum: 8 x 32 x 32 voxels of 5 nm, with volume fractions that sum to 1 exactly.
func SampleVolume() *cyrsoxs.Morphology {
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

// ProblemFile writes a problem with changes into dir.
func ProblemFile(t *testing.T, dir string, problem map[string]any, changes map[string]any) string {
	t.Helper()
	all := map[string]any{}
	for k, v := range problem {
		all[k] = v
	}
	for k, v := range changes {
		if all[k] = v; v == nil {
			delete(all, k)
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "problem.json")
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// InversionFolder writes the core-shell inverse problem of the reference, which
// alone of those with a centre in space has a gradient, as files, and returns the
// problem as a map to be changed.
func InversionFolder(t *testing.T) (dir string, problem map[string]any, want []float64) {
	t.Helper()
	var d InverseDemo
	name := golden.Having(t, "scatter/demo/*.json", "centre_zyx_vox", "grad_at_start")[0]
	var results struct {
		Results map[string]struct{ Params []float64 }
	}
	golden.JSON(t, &d, name)
	golden.JSON(t, &results, name)
	arrays := ReadNPZ(t, strings.TrimSuffix(name, "json")+"npz")
	dir, problem = d.CoreShell(t, arrays["D_noisy"], arrays["mask"])
	for key, r := range results.Results {
		if strings.HasPrefix(key, "lognormal") {
			want = r.Params
		}
	}
	return dir, problem, want
}

// InverseDemo is an inverse problem of the reference.
type InverseDemo struct {
	Start   []float64
	Shape   []int      `json:"shape_zyx"`
	Support [2]int     `json:"support_yx"`
	Voxel   float64    `json:"PhysSize_nm"`
	Centre  [3]float64 `json:"centre_zyx_vox"`
	Width   float64    `json:"w_nm"`
	Eps     float64
	Config  struct {
		Energies       []float64
		EAngleRotation []float64
		RotMask        int
	}
	RMS     float64                `json:"rms_start"`
	Optical map[string][][]float64 `json:"optical_constants"`
}

// CoreShell writes the files of a core-shell problem.
func (d *InverseDemo) CoreShell(t *testing.T, data, mask *tensor.Tensor) (dir string, problem map[string]any) {
	t.Helper()
	dir = t.TempDir()
	for name, array := range map[string]*tensor.Tensor{"data.npy": data, "mask.npy": mask} {
		var b bytes.Buffer
		x, err := tensor.From(array.Float64s(), array.Shape()...)
		if err == nil {
			err = x.WriteNPY(&b)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, map[string]any{
		"model": "core_shell", "grid": map[string]any{"shape": d.Shape, "voxel": d.Voxel}, "options": map[string]any{"width": d.Width},
		"parameters": map[string]any{"radius": map[string]any{"start": d.Start[0]}, "shell": map[string]any{"start": d.Start[1]}, "aligned": map[string]any{"start": d.Start[2]}},
		"fixed":      map[string]any{"x": d.Centre[2] * d.Voxel, "y": d.Centre[1] * d.Voxel, "z": d.Centre[0] * d.Voxel},
		"data":       "data.npy", "energies": d.Config.Energies, "constants": d.Constants(2), "angles": d.Config.EAngleRotation, "rot_mask": d.Config.RotMask == 1,
		"mask": map[string]any{"file": "mask.npy"}, "eps": d.Eps,
	}
}

// Constants returns those of the first n materials at all energies.
func (d *InverseDemo) Constants(n int) (out [][][]float64) {
	for m := range n {
		out = append(out, nil)
		for _, e := range d.Config.Energies {
			for key, rows := range d.Optical {
				if v, _ := strconv.ParseFloat(key, 64); v == e {
					out[m] = append(out[m], rows[m])
				}
			}
		}
	}
	return out
}
