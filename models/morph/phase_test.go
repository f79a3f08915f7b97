// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// discs is a flat sample of overlapping discs without symmetry, in the middle of n x n voxels.
func discs(n int) []float64 {
	x := make([]float64, n*n)
	for i := range x {
		a, b := float64(i/n-n/2), float64(i%n-n/2)
		for _, c := range [][4]float64{{-3, -2, 3, 1}, {2, 3, 2.2, 0.7}, {3, -4, 1.7, 0.9}, {-4, 4, 1.5, 0.5}} {
			if math.Hypot(a-c[0], b-c[1]) < c[2] {
				x[i] = max(x[i], c[3])
			}
		}
	}
	return x
}

// Voxels come out of a pattern without a start, by projections and a minimisation from there; what they have in common is told.
func TestVoxelsFromNothing(t *testing.T) {
	const n, voxel = 32, 3.0
	truth := discs(n)
	c := rsoxs.Config{Energies: []float64{285}, Grid: rsoxs.ExactGrid, CorrectBaseAngle: true}
	sim, err := rsoxs.New([3]int{1, n, n}, voxel, c)
	if err != nil {
		t.Fatal(err)
	}
	v := tensor.New(tensor.Float64, 1, n, n)
	copy(v.Data().([]float64), truth)
	if err := sim.Transform(context.Background(), &rsoxs.Morphology{PhysSize: voxel, Materials: []rsoxs.Material{{Vfrac: v}}}); err != nil {
		t.Fatal(err)
	}
	pattern, err := sim.Pattern(context.Background(), rsoxs.Optics{{{DeltaPara: 2e-3, BetaPara: 1e-3, DeltaPerp: 2e-3, BetaPerp: 1e-3}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var image bytes.Buffer
	if err := pattern.Intensity.WriteNPY(&image); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "d.npy"), image.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	doc := map[string]any{"model": "voxels", "grid": map[string]any{"shape": []int{1, n, n}, "voxel": voxel}, "options": map[string]any{"from": []int{0, 8, 8}, "to": []int{1, 24, 24}},
		"parameters": map[string]any{"logit": map[string]any{"start": 0}}, "data": "d.npy", "energies": []float64{285}, "constants": []any{[][]float64{{2e-3, 1e-3, 2e-3, 1e-3}}}, "q_grid": "exact", "sigma": 0.05, "eps": 1e-12, "method": "phase", "max_nfev": 60}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	p, err := morph.ParseProblem(text)
	if err != nil {
		t.Fatal(err)
	}
	task, err := p.Task(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := task.Fit(context.Background(), morph.FitSettings{Restarts: -1, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Warnings) == 0 || !strings.Contains(s.Warnings[0], "projections from 20 random starts") {
		t.Errorf("warnings: %q", s.Warnings)
	}
	found := make([]float64, n*n)
	for i, l := range s.X {
		found[(8+i/16)*n+8+i%16] = 1 / (1 + math.Exp(-l))
	}
	if rms := nearest(n, found, truth); !(rms < 0.02) {
		t.Errorf("voxels are off by %.3g: %q", rms, s.Warnings)
	}
}

// nearest returns the least root mean square difference over shifts and half turns.
func nearest(n int, x, truth []float64) float64 {
	best := math.Inf(1)
	for _, turn := range []int{1, -1} {
		for sy := -6; sy <= 6; sy++ {
			for sx := -6; sx <= 6; sx++ {
				sum := 0.0
				for i := range x {
					y, x0 := (turn*(i/n)+sy+4*n)%n, (turn*(i%n)+sx+4*n)%n
					d := x[y*n+x0] - truth[i]
					sum += d * d
				}
				best = min(best, math.Sqrt(sum/float64(n*n)))
			}
		}
	}
	return best
}

// What the method phase cannot do is told when a problem is read.
func TestProblemsThatHaveNoPhases(t *testing.T) {
	for want, change := range map[string]map[string]any{
		"do not determine how a sample varies along the beam": {"grid": map[string]any{"shape": []int{4, 8, 8}, "voxel": 2}},
		"set model voxels":    {"model": "film", "parameters": map[string]any{"composition": map[string]any{"start": 0}, "director_deg": map[string]any{"start": 0}, "aligned": map[string]any{"start": 0.2}}},
		"aligned is searched": {"parameters": map[string]any{"logit": map[string]any{"start": 0}, "aligned": map[string]any{"start": 0.2}}},
		"the problem has nuisances: it searches for none": {"data": "a.nc", "nuisances": "all"},
		"leave out config": {"hann": true},
	} {
		doc := map[string]any{"model": "voxels", "grid": map[string]any{"shape": []int{1, 8, 8}, "voxel": 2}, "parameters": map[string]any{"logit": map[string]any{"start": 0}}, "data": "folder", "constants": []any{}, "method": "phase"}
		for k, v := range change {
			doc[k] = v
		}
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := morph.ParseProblem(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", fmt.Sprint(change), err, want)
		}
	}
}
