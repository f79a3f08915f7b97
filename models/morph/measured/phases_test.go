// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
	"github.com/euryale-dev/euryale/sim/rsoxs/phasing"
	"github.com/euryale-dev/euryale/tensor"
)

const phaseSide, phaseVoxel, phasePixels = 32, 3.0, 80

// flatSample is a flat sample of overlapping discs without symmetry.
func flatSample() []float64 {
	x := make([]float64, phaseSide*phaseSide)
	for i := range x {
		a, b := float64(i/phaseSide-phaseSide/2), float64(i%phaseSide-phaseSide/2)
		for _, c := range [][4]float64{{-3, -2, 3, 1}, {2, 3, 2.2, 0.7}, {3, -4, 1.7, 0.9}, {-4, 4, 1.5, 0.5}} {
			if math.Hypot(a-c[0], b-c[1]) < c[2] {
				x[i] = max(x[i], c[3])
			}
		}
	}
	return x
}

// flatProblem writes counts of the flat sample on a detector behind a beam stop, two energies with the field at 20 degrees, and returns the
// problem of its voxels. change alters it.
func flatProblem(t *testing.T, change func(doc map[string]any)) (*morph.Problem, string) {
	t.Helper()
	constants := [][4]float64{{2e-3, 1e-3, 2e-3, 1e-3}, {-1e-3, 2e-3, -1e-3, 2e-3}}
	table := measured.Table{Energies: []float64{284, 285}}
	for _, c := range constants {
		table.Constants = append(table.Constants, rsoxs.Constants{DeltaPara: c[0], BetaPara: c[1], DeltaPerp: c[2], BetaPerp: c[3]})
	}
	const pixel, distance = 0.2, 1.44 * 0.2 * phasePixels / 2 / (math.Pi / phaseVoxel) // so that they reach the ends of the grid
	d := &measured.Data{Detector: farfield.Detector{Rows: phasePixels, Columns: phasePixels, PixelY: pixel, PixelX: pixel}, Geometry: measured.Geometry{Distance: distance, PoniY: pixel * phasePixels / 2, PoniX: pixel * (phasePixels/2 + 0.3)}}
	for _, e := range table.Energies {
		d.Frames = append(d.Frames, measured.Frame{Energy: e, Angle: 20, Exposure: 10, Dark: 0.5, Counts: make([]float64, phasePixels*phasePixels)})
	}
	sample := ad.Const(flatSample(), 1, phaseSide, phaseSide)
	m := &measured.Model{Data: d, Grid: morph.Grid{Shape: [3]int{1, phaseSide, phaseSide}, Voxel: phaseVoxel}, Tables: []measured.Table{table}, SolidAngle: true,
		Scene: func(morph.Values) morph.Scene {
			return morph.Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: sample}}}
		}}
	mu, err := (&measured.Task{Model: m, Params: []measured.Param{{Name: "log_scale", Start: 11}}, Fixed: map[string]float64{"background": 0.5}}).Means()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(4, 4))
	counts, keep := tensor.New(tensor.Float64, 2, phasePixels, phasePixels), tensor.New(tensor.Float64, phasePixels, phasePixels)
	for i := range mu {
		counts.Data().([]float64)[i] = distuv.Poisson{Lambda: mu[i], Src: random}.Rand()
	}
	for i := range keep.Data().([]float64) { // 1 is bad
		if math.Hypot(float64(i/phasePixels)-phasePixels/2+0.5, float64(i%phasePixels)-phasePixels/2+0.2) < 2 {
			keep.Data().([]float64)[i] = 1
		}
	}
	dir := t.TempDir()
	for name, x := range map[string]*tensor.Tensor{"counts.npy": counts, "mask.npy": keep} {
		var b bytes.Buffer
		if err := x.WriteNPY(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	doc := map[string]any{"model": "voxels", "grid": map[string]any{"shape": []int{1, phaseSide, phaseSide}, "voxel": phaseVoxel}, "options": map[string]any{"from": []int{0, 8, 8}, "to": []int{1, 24, 24}},
		"parameters": map[string]any{"logit": map[string]any{"start": 0}}, "fixed": map[string]float64{"log_scale": 11, "background": 0.5, "dark": 0.5}, "data": "counts.npy", "masks": []string{"mask.npy"}, "energies": table.Energies, "exposure": 10, "polarization": 20,
		"geometry": map[string]any{"distance": distance, "pixel": pixel, "beam": []float64{phasePixels/2 + 0.3, phasePixels / 2}}, "constants": []any{constants}, "method": "phase"}
	if change != nil {
		change(doc)
	}
	return parse(t, doc), dir
}

// Voxels come out of counts of a detector without a start, on the scale of the counts, and without a finding.
func TestVoxelsFromCounts(t *testing.T) {
	tier.SlowOnly(t)
	problem, dir := flatProblem(t, nil)
	p, err := measured.OpenPhases(problem, dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := phasing.Solve(t.Context(), p.Problem, phasing.Settings{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of 20 agree, residual %.3g, free %.3g, noise %.3g, %.3g of the cells, resolution %.3g nm, transfer %.2g", r.Kept, r.Residual, r.Free, p.Problem.Noise, p.Measured, p.Resolution(r), r.Transfer)
	truth, best := flatSample(), math.Inf(1)
	const n = phaseSide
	for _, turn := range []int{1, -1} {
		for shift := range 13 * 13 {
			sum := 0.0
			for i, x := range r.Mean[0] {
				y, x0 := (turn*(i/n)+shift/13-6+4*n)%n, (turn*(i%n)+shift%13-6+4*n)%n
				d := x - truth[y*n+x0]
				sum += d * d
			}
			best = min(best, math.Sqrt(sum/(n*n)))
		}
	}
	if !(best < 0.05) || len(r.Findings)+len(p.Findings) > 0 {
		t.Errorf("voxels are off by %.3g: %q %q", best, p.Findings, r.Findings)
	}
	if i := slices.IndexFunc(p.Read, func(s string) bool { return strings.Contains(s, "symmetry of the patterns") }); i < 0 {
		t.Errorf("the foot of the beam is not told: %q", p.Read)
	}
	d, err := p.Dataset(r)
	if err != nil || d.Var("mean") == nil {
		t.Error(err)
	}
}

// What a measurement or a problem lacks for the method phase is told.
func TestMeasurementsThatHaveNoPhases(t *testing.T) {
	for want, change := range map[string]func(doc map[string]any){
		"a pixel is": func(doc map[string]any) { doc["grid"].(map[string]any)["voxel"] = 12 },
		"differ along and across the director: it finds isotropic voxels": func(doc map[string]any) {
			doc["constants"] = []any{[][4]float64{{2e-3, 1e-3, 1e-3, 1e-3}}}
		},
		"there is nothing to see": func(doc map[string]any) {
			doc["constants"], doc["options"] = []any{[][4]float64{{1e-3, 1e-3, 1e-3, 1e-3}}, [][4]float64{{1e-3, 1e-3, 1e-3, 1e-3}}}, map[string]any{"matrix": true}
		},
		"it finds the volume fraction of one":    func(doc map[string]any) { doc["constants"] = []any{"vacuum", "vacuum"} },
		"thickness is fixed: of the measurement": func(doc map[string]any) { doc["fixed"] = map[string]any{"thickness": 100} },
	} {
		problem, dir := flatProblem(t, change)
		if _, err := measured.OpenPhases(problem, dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
