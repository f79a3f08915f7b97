// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/rsoxs"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// Voxels come out of images of a detector by the command line, with an ensemble, files and a verdict on what is determined.
func TestInvertPhasesOfCounts(t *testing.T) {
	tier.SlowOnly(t)
	const n, voxel, distance = 24, 40.0, 1000.0 // nm and mm
	k := 2 * math.Pi * 285 / 1239.841984
	pixel := 2 * math.Pi / (n * voxel) / k * distance
	counts, random := tensor.New(tensor.Float64, 1, n, n), rand.New(rand.NewPCG(2, 2))
	for i := range n * n {
		qy, qx := float64(i/n-n/2)*2*math.Pi/n, float64(i%n-n/2)*2*math.Pi/n
		var f complex128
		for _, disc := range [][3]float64{{-2, -1, 3}, {2, 3, 1.6}} {
			for y := -6.0; y < 6; y++ {
				for x := -6.0; x < 6; x++ {
					if math.Hypot(y-disc[0], x-disc[1]) < disc[2] {
						f += cmplx.Exp(complex(0, qy*y+qx*x))
					}
				}
			}
		}
		counts.Data().([]float64)[i] = distuv.Poisson{Lambda: 1 + 100*(real(f)*real(f)+imag(f)*imag(f)), Src: random}.Rand()
	}
	dir := t.TempDir()
	var b bytes.Buffer
	if err := counts.WriteNPY(&b); err != nil {
		t.Fatal(err)
	}
	problem := map[string]any{"model": "voxels", "grid": map[string]any{"shape": []int{1, n, n}, "voxel": voxel}, "options": map[string]any{"from": []int{0, 6, 6}, "to": []int{1, 18, 18}}, "parameters": map[string]any{"logit": map[string]any{"start": 0}},
		"fixed": map[string]float64{"background": 0.1, "centre_x": 0, "centre_y": 0}, "data": "counts.npy", "energies": []float64{285}, "exposure": 10, "polarization": 0, "geometry": map[string]any{"distance": distance, "pixel": pixel, "beam": []float64{n/2 + 0.5, n/2 + 0.5}},
		"constants": []any{[][4]float64{{2e-3, 1e-3, 2e-3, 1e-3}}}, "method": "phase"}
	document, err := json.Marshal(problem)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"counts.npy": b.Bytes(), "voxels.json": document} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out")
	code, stdout, stderr := apptest.Do(t, "invert", "rsoxs", filepath.Join(dir, "voxels.json"), "--out", out, "--json", "--quiet", "--strict")
	if code != 0 {
		t.Fatalf("exit %d: %s %s", code, stderr, stdout)
	}
	var doc rsoxs.PhaseDoc
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Status != "determined" || doc.Kept < 3 || !doc.Relative || !(float64(doc.Residual) < 2*float64(doc.Noise)) || !(float64(doc.Spread) < 0.1) || !(float64(doc.Resolution) < 3*voxel) {
		t.Errorf("%+v", doc)
	}
	for _, file := range []string{"fit.json", "fit.nc", "morphology.h5", "report.html", "plots/voxels.svg", "plots/patterns.svg", "plots/transfer.svg"} {
		if _, err := os.Stat(filepath.Join(out, file)); err != nil {
			t.Error(err)
		}
	}
	code, stdout, _ = apptest.Do(t, "invert", "rsoxs", "--resume", out, "--quiet")
	if code != 0 || !strings.Contains(stdout, "starts agree") || !strings.Contains(stdout, `give "log_scale" in fixed`) {
		t.Errorf("exit %d: %s", code, stdout)
	}
}
