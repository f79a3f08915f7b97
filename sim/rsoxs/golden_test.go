// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// settings are the settings of a reference case.
type settings struct {
	CaseType            int
	MorphologyType      int
	WindowingType       int
	RotMask             int
	EwaldsInterpolation int
	ReferenceFrame      int
	Algorithm           int
	KVectors            [][3]float64 `json:"kVectors"`
	Detector            [3]float64
	Energies            []float64
	EAngleRotation      [3]float64
	options
}

type options struct {
	Hann         string
	Grid         string
	BaseAngleBug bool `json:"base_angle_bug"`
	HannInAlg1   bool `json:"hann_in_alg1"`
}

func (s *settings) config() Config {
	c := Config{
		Energies: s.Energies, Angles: Angles{s.EAngleRotation[0], s.EAngleRotation[1], s.EAngleRotation[2]},
		Case: Case(s.CaseType), K: s.KVectors, Detector: s.Detector, RotMask: s.RotMask == 1, CorrectBaseAngle: !s.BaseAngleBug,
	}
	if s.EwaldsInterpolation == 0 {
		c.Interpolation = Nearest
	}
	if s.ReferenceFrame == 0 {
		c.Frame = MaterialFrame
	}
	if s.Grid == "fft" {
		c.Grid = ExactGrid
	}
	if s.WindowingType == 1 && (s.Algorithm == 0 || s.HannInAlg1) {
		c.Window = Hann
		if s.Hann == "hann_symmetric" {
			c.Window = SymmetricHann
		}
	}
	return c
}

// table holds constants by energy as the files write it.
type table map[string][][4]float64

func (o table) optics(energies []float64) (list Optics) {
	for _, e := range energies {
		var row []Constants
		for _, c := range o[key(o, e)] {
			row = append(row, Constants{c[0], c[1], c[2], c[3]})
		}
		list = append(list, row)
	}
	return list
}

func key(o table, e float64) string {
	for k := range o {
		if v, _ := strconv.ParseFloat(k, 64); v == e {
			return k
		}
	}
	return ""
}

func npz(t testing.TB, elem ...string) map[string]*tensor.Tensor {
	t.Helper()
	f, err := os.Open(golden.Path(t, elem...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, _ := f.Stat()
	all, err := tensor.ReadNPZ(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func morphology(t testing.TB, name string, size float64) *Morphology {
	return fromArrays(npz(t, "scatter", "morph", name+".npz"), size)
}

func fromArrays(all map[string]*tensor.Tensor, size float64) *Morphology {
	m := &Morphology{PhysSize: size}
	for i := 1; ; i++ {
		p := fmt.Sprintf("mat%d_", i)
		mat := Material{Vfrac: all[p+"Vfrac"], S: all[p+"S"], Theta: all[p+"Theta"], Psi: all[p+"Psi"],
			Align: all[p+"align"], Unaligned: all[p+"unaligned"]}
		if mat.Vfrac == nil && mat.Align == nil {
			return m
		}
		m.Materials = append(m.Materials, mat)
	}
}

type goldenCase struct {
	dir                         string // its name in the reference
	ID, Description, Morphology string
	PhysSize                    float64 `json:"PhysSize_nm"`
	Config                      settings
	Options                     options
	Optical                     table `json:"optical_constants"`
	Tolerance                   struct {
		Float64 float64 `json:"float64_abs_over_max"`
		Float32 float64 `json:"float32_stable_chi_abs_over_max"`
	}
}

func cases(t testing.TB) (list []goldenCase) {
	for _, dir := range golden.Glob(t, "scatter/cases/*") {
		var c goldenCase
		golden.JSON(t, &c, dir, "case.json")
		c.dir, c.Config.options = dir, c.Options
		list = append(list, c)
	}
	return list
}

func TestCases(t *testing.T) { testCases(t, nil) }

// testCases compares the patterns that a backend computes with the reference's; slow tests do all of them.
func testCases(t *testing.T, b ad.Backend) {
	all := cases(t)
	few := smallest(t, all)
	for _, c := range all {
		if b != nil && !tier.Slow && !slices.Contains(few, c.Morphology) {
			continue // each size and kind of materials has kernels of its own, which take time to compile
		}
		for _, bits := range []int{64, 32} {
			t.Run(fmt.Sprintf("%s/%d", golden.Base(c.dir), bits), func(t *testing.T) {
				cfg := c.Config.config()
				cfg.Precision, cfg.Backend = bits, b
				m := morphology(t, c.Morphology, c.PhysSize)
				p, err := Simulate(context.Background(), m, c.Optical.optics(cfg.Energies), cfg)
				if err != nil {
					t.Fatal(err)
				}
				want := npz(t, c.dir, "expected.npz")
				tol := c.Tolerance.Float64
				if bits == 32 {
					tol = c.Tolerance.Float32
				}
				compare(t, p, want, tol)
			})
		}
	}
}

// smallest returns the smallest morphology with directions as vectors and the smallest one with angles, of those that there are.
func smallest(t *testing.T, cases []goldenCase) (names []string) {
	t.Helper()
	type choice struct {
		name string
		size int
	}
	best := map[bool]choice{}
	for _, c := range cases {
		for key, x := range npz(t, "scatter", "morph", c.Morphology+".npz") {
			vector := key == "mat1_align"
			if old := best[vector]; (vector || key == "mat1_Vfrac") && (old.name == "" || x.Size() < old.size) {
				best[vector] = choice{c.Morphology, x.Size()}
			}
		}
	}
	for _, c := range best {
		names = append(names, c.name)
	}
	return names
}

func compare(t *testing.T, p *Pattern, want map[string]*tensor.Tensor, tol float64) {
	t.Helper()
	images, stable := want["images"], want["stable"]
	if !slices.Equal(p.Intensity.Shape(), images.Shape()) {
		t.Fatalf("shape %v, want %v", p.Intensity.Shape(), images.Shape())
	}
	got, w, ok := p.Intensity.Float64s(), images.Float64s(), stable.Float64s()
	size := len(w) / images.Shape()[0]
	for e := range images.Shape()[0] {
		top, worst, at, masks := 0.0, 0.0, 0, 0
		for i := e * size; i < (e+1)*size; i++ {
			top = max(top, w[i])
		}
		for i := e * size; i < (e+1)*size; i++ {
			if ok[i] == 0 {
				continue
			}
			if math.IsNaN(got[i]) != math.IsNaN(w[i]) {
				masks++
				if masks < 4 {
					t.Logf("energy %d pixel %d: %g, want %g", e, i-e*size, got[i], w[i])
				}
			}
			if d := math.Abs(got[i]-w[i]) / top; d > worst {
				worst, at = d, i-e*size
			}
		}
		if masks > 0 || !(worst <= tol) {
			t.Errorf("energy %d: largest error %.3g of the maximum at %d, %d masks differ", e, worst, at, masks)
		}
	}
}
