// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/rsoxs"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/tensor"
)

// ballOf are the parameters of a measured ball.
var ballOf = map[string]float64{"radius": 6, "shell": 4, "aligned": 0.5, "log_scale": 12, "background": 2, "centre_x": 0.6, "centre_y": -0.5}

// measuredProblem writes a measurement of a ball with its problem file, and returns the name of that and what it holds.
func measuredProblem(t *testing.T) (name string, problem map[string]any) {
	t.Helper()
	dir := t.TempDir()
	const pixels = 18
	parameters := map[string]any{}
	for name, x := range ballOf {
		parameters[name] = map[string]any{"start": x}
	}
	problem = map[string]any{"model": "core_shell", "grid": map[string]any{"shape": []int{10, 12, 12}, "voxel": 2.2}, "options": map[string]any{"matrix": true, "width": 1.2},
		"data": "counts.npy", "energies": []float64{284, 285}, "exposure": 10, "polarization": 0, "solid_angle": false,
		"geometry":   map[string]any{"distance": 10, "pixel": 0.25, "beam": []float64{pixels / 2, pixels / 2}},
		"parameters": parameters,
		"constants": [][][4]float64{{{-1e-3, 6e-4, -1e-3, 6e-4}, {-5e-4, 1.3e-3, -5e-4, 1.3e-3}}, {{9e-4, 3e-4, 6e-4, 4e-4}, {-1.3e-3, 1.1e-3, -4e-4, 2.4e-3}},
			{{2e-4, 2e-4, 2e-4, 2e-4}, {4e-4, 7e-4, 4e-4, 7e-4}}}}
	name = filepath.Join(dir, "ball.json")
	counts := tensor.New(tensor.Float64, 2, pixels, pixels)
	save := func() {
		var b bytes.Buffer
		if err := counts.WriteNPY(&b); err != nil {
			t.Fatal(err)
		}
		document, err := json.Marshal(problem)
		if err != nil {
			t.Fatal(err)
		}
		for file, content := range map[string][]byte{filepath.Join(dir, "counts.npy"): b.Bytes(), name: document} {
			if err := os.WriteFile(file, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	save()
	document, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := morph.ParseProblem(document)
	if err != nil {
		t.Fatal(err)
	}
	task, err := measured.Open(p, dir)
	if err != nil {
		t.Fatal(err)
	}
	mu, err := task.Means()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(4, 4))
	for i := range mu {
		counts.Data().([]float64)[i] = distuv.Poisson{Lambda: mu[i], Src: random}.Rand()
	}
	parameters["radius"], parameters["shell"] = map[string]any{"start": 5.5, "bounds": []float64{2, 12}}, map[string]any{"start": 4.5}
	for _, name := range []string{"log_scale", "background", "centre_x", "centre_y"} {
		parameters[name] = map[string]any{}
	}
	save()
	return name, problem
}

// Counts on the pixels of a detector are fitted from a problem file, and what the problem leaves out is named with the line to add.
func TestInvertMeasured(t *testing.T) {
	name, problem := measuredProblem(t)
	out := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := apptest.Do(t, "invert", "rsoxs", name, "--out", out, "--json", "--strict", "--quiet")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var doc rsoxs.MeasuredDoc
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	for name, want := range ballOf {
		if pull := (float64(doc.X[name]) - want) / float64(doc.SD[name]); !(math.Abs(pull) < 3.5) {
			t.Errorf("%s is %g +- %g, want %g", name, float64(doc.X[name]), float64(doc.SD[name]), want)
		}
	}
	if doc.Used[0].Used == 0 || len(doc.Information) != 2 || len(doc.Geometry) != 1 || doc.Nuisances["background"].Unit != "counts/s" {
		t.Errorf("%+v", doc.AnswersDoc)
	}
	for name, moved := range doc.Interpolation {
		if !(moved < 0.1) {
			t.Errorf("the interpolation moves %s by %g standard deviations", name, float64(moved))
		}
	}
	for _, file := range []string{"fit.json", "fit.nc", "fits.csv", "report.html", "plots/patterns.svg", "plots/anisotropy.svg", "plots/residuals.svg", "plots/energies.svg"} {
		if _, err := os.Stat(filepath.Join(out, file)); err != nil {
			t.Error(err)
		}
	}
	delete(problem["parameters"].(map[string]any), "background")
	b, err := json.Marshal(problem)
	if err == nil {
		err = os.WriteFile(name, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = apptest.Do(t, "invert", "rsoxs", name, "--out", out, "--overwrite", "--strict", "--quiet", "--no-report")
	if code != 1 || !strings.Contains(stdout, "a constant background of about") || !strings.Contains(stdout, `add "background": {} to the parameters`) {
		t.Errorf("without a background: exit %d: %s%s", code, stdout, stderr)
	}
}

// Energies are chosen from the tables of constants, without data too.
func TestChooseEnergiesOfProblem(t *testing.T) {
	name, problem := measuredProblem(t)
	for _, data := range []bool{true, false} {
		if !data {
			delete(problem, "data")
			problem["geometry"].(map[string]any)["shape"] = []int{18, 18}
			for n, x := range ballOf {
				problem["parameters"].(map[string]any)[n] = map[string]any{"start": x}
			}
			b, err := json.Marshal(problem)
			if err == nil {
				err = os.WriteFile(name, b, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			if code, _, stderr := apptest.Do(t, "invert", "rsoxs", name, "--quiet"); code != 65 || !strings.Contains(stderr, "names no data") {
				t.Errorf("exit %d: %s", code, stderr)
			}
		}
		code, stdout, stderr := apptest.Do(t, "invert", "rsoxs", name, "--choose-energies", "1", "--time", "30", "--quiet")
		if code != 0 || !strings.HasPrefix(stdout, "30 s at each of [28") || !strings.Contains(stdout, "radius           sd ") {
			t.Errorf("exit %d: %s%s", code, stdout, stderr)
		}
	}
}

// A table of I(q) is fitted without a detector, and drawn as curves.
func TestInvertTable(t *testing.T) {
	tier.SlowOnly(t)
	name, problem := measuredProblem(t)
	var rows strings.Builder
	rows.WriteString("energy (eV),q (1/nm),I,dI\n")
	for _, e := range []float64{284, 285} {
		for i := range 12 {
			q := 0.05 + 0.02*float64(i)
			rate := 300*math.Exp(-50*q*q)*(e-283) + 2
			fmt.Fprintf(&rows, "%g,%g,%.9g,%.9g\n", e, q, rate, 0.05*rate)
		}
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(name), "iq.csv"), []byte(rows.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	parameters := problem["parameters"].(map[string]any)
	for _, n := range []string{"centre_x", "centre_y"} {
		delete(parameters, n)
	}
	for _, key := range []string{"geometry", "exposure", "energies", "solid_angle"} {
		delete(problem, key)
	}
	problem["data"], problem["polarization"] = "iq.csv", 0
	b, err := json.Marshal(problem)
	if err == nil {
		err = os.WriteFile(name, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := apptest.Do(t, "invert", "rsoxs", name, "--out", out)
	if code != 0 || !strings.Contains(stderr, "the bins are compared by their errors") || !strings.Contains(stderr, "the detector is not known") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if _, err := os.Stat(filepath.Join(out, "plots", "curves.svg")); err != nil {
		t.Error(err)
	}
}

// Pictures leave out expectations without a logarithm, and keep the sign of A(q).
func TestExpectationsOfPictures(t *testing.T) {
	images := []measured.Image{{Frame: &measured.Frame{}, Mean: [][]float64{{2, 0}}}, {Frame: &measured.Frame{Bins: &measured.Bins{Less: &measured.Bins{}}}, Mean: [][]float64{{0.2, -0.3}}}}
	rsoxs.DropEmpty(images)
	if x := images[0].Mean[0]; x[0] != 2 || !math.IsNaN(x[1]) {
		t.Errorf("intensities are %v", x)
	}
	if x := images[1].Mean[0]; x[0] != 0.2 || x[1] != -0.3 {
		t.Errorf("A(q) is %v", x)
	}
}
