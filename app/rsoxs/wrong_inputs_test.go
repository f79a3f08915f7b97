// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// wrongInput is a folder with a problem of a small measurement, which a test spoils.
type wrongInput struct {
	t       *testing.T
	dir     string
	problem map[string]any
	counts  []float64 // of two energies and 12 x 14 pixels
}

// put writes a file of the folder.
func (w *wrongInput) put(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// array writes an NPY file of the folder.
func (w *wrongInput) array(name string, values []float64, shape ...int) {
	w.t.Helper()
	a := tensor.New(tensor.Float64, shape...)
	copy(a.Data().([]float64), values)
	var b bytes.Buffer
	if err := a.WriteNPY(&b); err != nil {
		w.t.Fatal(err)
	}
	w.put(name, b.String())
}

// set replaces keys of the problem; nil takes one out.
func (w *wrongInput) set(pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		if key := pairs[i].(string); pairs[i+1] == nil {
			delete(w.problem, key)
		} else {
			w.problem[key] = pairs[i+1]
		}
	}
}

// The twenty mistakes that users make with measured patterns are answered with what is wrong, where, with the numbers, and what to try.
func TestWrongInputs(t *testing.T) {
	tier.SlowOnly(t)
	geometry := func(pairs ...any) map[string]any {
		g := map[string]any{"distance": 10, "pixel": 0.25, "beam": []float64{7, 6}}
		for i := 0; i < len(pairs); i += 2 {
			g[pairs[i].(string)] = pairs[i+1]
		}
		return g
	}
	table := "Energy DeltaPara BetaPara DeltaPerp BetaPerp\n280 1e-3 1e-4 1e-3 1e-4\n284.5 1e-3 1e-4 1e-3 1e-4\n"
	for name, c := range map[string]struct {
		spoil func(w *wrongInput)
		want  []string
	}{
		"no geometry":   {func(w *wrongInput) { w.set("geometry", nil) }, []string{`"geometry": {`, "distance"}},
		"distance in m": {func(w *wrongInput) { w.set("geometry", geometry("distance", 0.01)) }, []string{"0.01", "mm"}},
		"pixels of 0":   {func(w *wrongInput) { w.set("geometry", geometry("pixel", 0)) }, []string{"geometry.pixel is 0: want a length in mm above 0"}},
		"a distance of 0": {func(w *wrongInput) {
			w.set("data", map[string]any{"file": "counts.npy", "geometry": geometry("distance", 0)}, "geometry", nil)
		}, []string{"geometry.distance is 0: want a length in mm above 0"}},
		"three pixels": {func(w *wrongInput) {
			for i := range w.counts {
				if w.counts[i] += 100; i > 2 {
					w.counts[i] = math.NaN()
				}
			}
		}, []string{"only 3 of 168 pixels of its patterns can be used", "333 pixels are not finite", "look at its masks"}},
		"coarse voxels": {func(w *wrongInput) {
			w.set("grid", map[string]any{"shape": []int{4, 4, 4}, "voxel": 20}, "options", map[string]any{"matrix": true})
		}, []string{"q reaches", "the voxels of 20 nm end at 0.157"}},
		"beam outside":  {func(w *wrongInput) { w.set("geometry", geometry("beam", []float64{70, 6})) }, []string{"the beam meets the plane of the detector 17.5, 1.5 mm", "outside its 3.5 x 3 mm"}},
		"constants end": {func(w *wrongInput) { w.put("c.txt", table); w.set("constants", []any{"c.txt", "c.txt", "vacuum"}) }, []string{"285", "280", "284.5"}},
		"constants' number": {func(w *wrongInput) {
			w.set("constants", []any{[][]float64{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}, "vacuum", "vacuum"})
		}, []string{"constants of material 1", "3 rows are given for 2 energies, [284 285] eV"}},
		"shapes differ": {func(w *wrongInput) {
			w.array("b.npy", make([]float64, 2*14*12), 2, 14, 12)
			w.set("data", []string{"counts.npy", "b.npy"})
		}, []string{"12 x 14", "14 x 12"}},
		"energies differ": {func(w *wrongInput) { w.set("energies", []float64{284, 285, 286}) }, []string{`"energies" has 3 numbers, and there are 2 patterns`}},
		"mask's shape": {func(w *wrongInput) {
			w.array("m.npy", make([]float64, 15*14), 15, 14)
			w.set("masks", []string{"m.npy"})
		}, []string{"shape [15 14]", "12 x 14", "give the mask of this detector"}},
		"mask transposed": {func(w *wrongInput) {
			w.array("m.npy", make([]float64, 14*12), 14, 12)
			w.set("masks", []string{"m.npy"})
		}, []string{"[14 12]", "its transpose fits"}},
		"all masked": {func(w *wrongInput) {
			m := make([]float64, 12*14)
			for i := range m {
				m[i] = 1
			}
			w.array("m.npy", m, 12, 14)
			w.set("masks", []string{"m.npy"})
		}, []string{"keeps", `"keep"`}},
		"mask of NaN": {func(w *wrongInput) {
			m := make([]float64, 12*14)
			for i := range m {
				m[i] = math.NaN()
			}
			w.array("m.npy", m, 12, 14)
			w.set("masks", []string{"m.npy"})
		}, []string{"all 168 numbers are NaN", "with 0 and 1"}},
		"all zeros":           {func(w *wrongInput) { clear(w.counts) }, []string{"all 336 numbers that are compared are 0"}},
		"saturation of 1":     {func(w *wrongInput) { w.set("saturation", 1) }, []string{"with a saturation of 1, 336 of 336 pixels", "such as 65535"}},
		"pedestal above all":  {func(w *wrongInput) { w.set("pedestal", 1000) }, []string{"after a pedestal of 1000 is subtracted, 336 of 336 pixels are below 0"}},
		"rotation in degrees": {func(w *wrongInput) { w.set("geometry", geometry("rot", []float64{0, 30, 0})) }, []string{"rot2 is 30 rad", "is it in degrees?", "0.523599 for 30 degrees"}},
		"a file twice":        {func(w *wrongInput) { w.set("data", []string{"counts.npy", "./counts.npy"}) }, []string{"data names ./counts.npy twice, as file 1 and 2"}},
		"wedges":              {func(w *wrongInput) { w.set("anisotropy", map[string]any{"width": -5}) }, []string{"anisotropy.width is -5", "at most 90"}},
		"bin below 0":         {func(w *wrongInput) { w.set("bin", -2) }, []string{"bin is -2: want the number of pixels"}},
		"energies that fall":  {func(w *wrongInput) { w.set("energies", []float64{285, 284}) }, []string{"rows of constants are taken in the order of the energies in the data, [285 284] eV"}},
		"constants without the matrix": {func(w *wrongInput) {
			row := []float64{1e-3, 1e-4, 1e-3, 1e-4}
			w.set("constants", []any{[][]float64{row}, [][]float64{row}})
		}, []string{"2 materials beside the matrix", "the last of the 2 that are given", "3 in all"}},
		"all NaN": {func(w *wrongInput) {
			for i := range w.counts {
				w.counts[i] = math.NaN()
			}
		}, []string{"no pixel of any pattern", "336 pixels"}},
		"negative": {func(w *wrongInput) {
			for i := range w.counts {
				w.counts[i] -= 100
			}
		}, []string{"no pixel of any pattern", "336 pixels", "negative"}},
		"rates as counts": {func(w *wrongInput) {
			for i := range w.counts {
				w.counts[i] = w.counts[i]/7 + 0.01
			}
			w.set("loss", "poisson")
		}, []string{"not whole"}},
		"pedestal": {func(w *wrongInput) {
			for i := range w.counts {
				w.counts[i] += 100
			}
		}, []string{"smallest count is 10", `"pedestal": 100`}},
		"no exposure":    {func(w *wrongInput) { w.set("exposure", nil) }, []string{"exposure"}},
		"exposure in ms": {func(w *wrongInput) { w.set("exposure", 15000) }, []string{"15000", "ms"}},
		"truncated":      {func(w *wrongInput) { w.put("counts.nc", "\x89HDF\r\n\x1a\n\x00\x00"); w.set("data", "counts.nc") }, []string{"counts.nc"}},
		"another format": {func(w *wrongInput) { w.put("counts.nc", "hello, this is text"); w.set("data", "counts.nc") }, []string{"counts.nc", "netCDF"}},
		"pointer": {func(w *wrongInput) {
			w.put("counts.nc", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4\n")
			w.set("data", "counts.nc")
		}, []string{"git lfs pull"}},
		"errors below 0": {func(w *wrongInput) {
			w.put("iq.csv", "energy (eV),q (1/nm),I,dI\n284,0.1,5,-1\n284,0.2,4,-1\n")
			w.set("data", "iq.csv", "exposure", nil, "energies", nil, "geometry", nil)
		}, []string{"the error of number 1 of curve 1, at q = 0.1 1/nm, is -1"}},
		"evaluations below 0": {func(w *wrongInput) { w.set("max_nfev", -1) }, []string{"max_nfev is -1: want at least 1"}},
		"constants of vacuum": {func(w *wrongInput) { w.set("constants", []any{"vacuum", "vacuum", "vacuum"}) }, []string{"equal those of the surrounding material at all energies, so that nothing scatters"}},
		"a huge particle": {func(w *wrongInput) {
			w.set("fixed", map[string]any{"shell": 4, "aligned": 0, "background": 0.5, "radius": 1e9}, "parameters", map[string]any{"log_scale": map[string]any{}})
		}, []string{"Error: bodies of a radius of up to 2e+09 nm"}},
		"q beyond 2k": {func(w *wrongInput) {
			w.put("iq.csv", "energy (eV),q (1/nm),I,dI\n284,20,5,1\n284,30,4,1\n")
			w.set("data", "iq.csv", "exposure", nil, "energies", nil, "geometry", nil)
		}, []string{"q reaches 30 1/nm at 284 eV", "2k = 2.878 1/nm", `"q_unit"`}},
		"one q": {func(w *wrongInput) {
			w.put("iq.csv", "energy (eV),q (1/nm),I,dI\n284,0.1,5,1\n")
			w.set("data", "iq.csv", "exposure", nil, "energies", nil, "geometry", nil)
		}, []string{"the curve at 284 eV has 1 value of q"}},
		"q without units": {func(w *wrongInput) {
			w.put("iq.csv", "energy,q,I,dI\n700,0.1,5,1\n700,0.5,4,1\n")
			w.set("data", "iq.csv", "exposure", nil, "energies", nil, "geometry", nil)
		}, []string{`"q_unit"`}},
	} {
		t.Run(name, func(t *testing.T) {
			row := []float64{1e-3, 1e-4, 1e-3, 1e-4}
			two := [][]float64{row, row}
			w := &wrongInput{t: t, dir: t.TempDir(), problem: map[string]any{"model": "core_shell", "options": map[string]any{"matrix": true, "closed": true, "width": 1},
				"data": "counts.npy", "energies": []float64{284, 285}, "exposure": 10, "polarization": 0, "solid_angle": false, "geometry": geometry(), "constants": []any{two, two, "vacuum"},
				"parameters": map[string]any{"radius": map[string]any{"start": 6}, "log_scale": map[string]any{}}, "fixed": map[string]any{"shell": 4, "aligned": 0, "background": 0.5}}}
			for i := range 2 * 12 * 14 {
				w.counts = append(w.counts, float64(3+i*7%11))
			}
			c.spoil(w)
			w.array("counts.npy", w.counts, 2, 12, 14)
			b, err := json.Marshal(w.problem)
			if err != nil {
				t.Fatal(err)
			}
			w.put("problem.json", string(b))
			code, stdout, stderr := apptest.Do(t, "invert", "rsoxs", filepath.Join(w.dir, "problem.json"), "--out", filepath.Join(w.dir, "out"), "--no-report")
			said := strings.ReplaceAll(stderr, w.dir+string(filepath.Separator), "")
			t.Logf("exit %d: %s", code, said)
			if strings.Contains(said, "Error") && code != exit.Data && code != exit.WrongUsage {
				t.Errorf("exit %d for wrong input", code)
			}
			for _, want := range c.want {
				if !strings.Contains(said, want) {
					t.Errorf("want %q (exit %d, %s)", want, code, stdout)
				}
			}
		})
	}
}
