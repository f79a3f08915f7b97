// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// boxed is a problem of random domains with a detector of 12 x 14 pixels, whose counts are in a file.
func boxed(t *testing.T, model string, depth, boxes int, counts []float64) *measured.Task {
	t.Helper()
	dir := t.TempDir()
	if counts == nil {
		counts = make([]float64, 12*14)
		for i := range counts {
			counts[i] = 1
		}
	}
	a := tensor.New(tensor.Float64, 1, 12, 14)
	copy(a.Data().([]float64), counts)
	var file bytes.Buffer
	if err := a.WriteNPY(&file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "counts.npy"), file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	options := map[string]any{"width": 0.1} // walls of the field are sharp
	if boxes > 0 {
		options["boxes"] = boxes
	}
	row := [][]float64{{-2e-3, 3e-3, -2e-3, 3e-3}}
	b, err := json.Marshal(map[string]any{"model": model, "grid": map[string]any{"shape": []int{depth, 36, 36}, "voxel": 2}, "options": options, "data": "counts.npy", "energies": []float64{284}, "exposure": 10, "solid_angle": false,
		"geometry": map[string]any{"distance": 20, "pixel": 1.5, "beam": []float64{7, 6}}, "constants": []any{row},
		"parameters": map[string]any{"period": map[string]any{"start": 14, "bounds": []float64{8, 30}}, "log_scale": map[string]any{"start": 12}}, "fixed": map[string]any{"spread": 0.25, "fraction": 0.4}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := morph.ParseProblem(b)
	if err != nil {
		t.Fatal(err)
	}
	k, err := measured.Open(p, dir)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The mean of simulated boxes tends to the closed form of the field that they are cut from.
func TestBoxesHaveTheMeanOfTheirField(t *testing.T) {
	mean := func(k *measured.Task) (list []float64) {
		list, err := k.Means()
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	boxes, field := mean(boxed(t, "domains", 24, 8, nil)), mean(boxed(t, "spinodal", 24, 0, nil))
	var sum [2]float64
	scatter, n := 0.0, 0.0
	for i := range boxes {
		if y, x := float64(i/14)-5.5, float64(i%14)-6.5; math.Hypot(x, y) > 2 && math.Hypot(x, y) < 6 { // where most of the light is
			sum[0], sum[1] = sum[0]+boxes[i], sum[1]+field[i]
			r := boxes[i]/field[i] - 1
			scatter, n = scatter+r*r, n+1
		}
	}
	if ratio, scatter := sum[0]/sum[1], math.Sqrt(scatter/n); math.Abs(ratio-1) > 0.15 || scatter > 0.5 {
		t.Errorf("boxes have %.3f times the intensity of the field, want 1 within 0.15, and scatter by %.2f from pixel to pixel, want about 1/sqrt(8)", ratio, scatter)
	}
}

// A fit of boxes of other seeds finds the period of the field that made the data, with the errors of speckle.
func TestBoxesFindTheirPeriod(t *testing.T) {
	mu, err := boxed(t, "spinodal", 8, 0, nil).Means()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(2, 3))
	for i := range mu {
		mu[i] = distuv.Poisson{Lambda: mu[i], Src: random}.Rand()
	}
	k := boxed(t, "domains", 8, 4, mu)
	if said := strings.Join(k.Read, "\n"); !strings.Contains(said, "means over 4 simulated boxes") || k.Fixed["modes"] != 4 {
		t.Errorf("%v, %s", k.Fixed, said)
	}
	k.Params[0].Start = 12
	s, err := k.Fit(t.Context(), optim.Settings{MaxEvaluations: 30})
	if err != nil {
		t.Fatal(err)
	}
	if pull := (s.X[0] - 14) / s.SD[0]; !(math.Abs(pull) < 4) || s.SD[0] < 0.02 || s.SD[0] > 1 {
		t.Errorf("the period is %g +- %g nm, want 14", s.X[0], s.SD[0])
	}
}
