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

	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// countsOfBalls writes counts of balls in closed form on 20 x 20 pixels at two energies, and returns the task that fits parameters to them.
func countsOfBalls(t *testing.T, constants [][][4]float64, distance float64, truth map[string]float64, parameters map[string]any) *measured.Task {
	t.Helper()
	const n = 20
	dir, counts := t.TempDir(), tensor.New(tensor.Float64, 2, n, n)
	save := func() {
		var b bytes.Buffer
		if err := counts.WriteNPY(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "counts.npy"), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range counts.Data().([]float64) {
		counts.Data().([]float64)[i] = 1
	}
	save()
	open := func(parameters map[string]any) *measured.Task {
		task, err := measured.Open(parse(t, map[string]any{"model": "core_shell", "options": map[string]any{"matrix": true, "width": 1.2, "closed": true}, "data": "counts.npy", "energies": []float64{280, 282}, "exposure": 10, "polarization": 30,
			"geometry": map[string]any{"distance": distance, "pixel": 0.25, "beam": []float64{n / 2, n / 2}}, "constants": constants, "parameters": parameters}), dir)
		if err != nil {
			t.Fatal(err)
		}
		return task
	}
	from := map[string]any{}
	for name, x := range truth {
		from[name] = map[string]any{"start": x}
	}
	mu, err := open(from).Means()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(4, 4))
	for i, m := range mu {
		counts.Data().([]float64)[i] = distuv.Poisson{Lambda: m, Src: random}.Rand()
	}
	save()
	return open(parameters)
}

// Balls that scatter into all pixels do not start from a background that is their own light, from which a fit ends at the bound of the radius.
func TestBackgroundOfFullImages(t *testing.T) {
	truth := map[string]float64{"radius": 9.4, "shell": 3.43, "aligned": 0.717, "log_scale": 4.49, "background": 2, "centre_x": 0.45, "centre_y": -0.12}
	task := countsOfBalls(t, [][][4]float64{{{-0.001923, 0.001889, -0.001923, 0.001889}, {-1.572e-05, 0.002227, -1.572e-05, 0.002227}}, {{0.001028, 0.002341, 0.0008936, 0.001619}, {-0.000254, 0.0003505, -0.0009433, 0.0003883}},
		{{0.0004381, 0.002993, 0.0004381, 0.002993}, {0.001208, 0.0002674, 0.001208, 0.0002674}}}, 40, truth,
		map[string]any{"radius": map[string]any{"start": 9.07, "bounds": []float64{2, 30}}, "shell": map[string]any{"start": 3.59, "bounds": []float64{1, 20}}, "aligned": map[string]any{"start": 0.77, "bounds": []float64{0, 1}},
			"log_scale": map[string]any{}, "background": map[string]any{}, "centre_x": map[string]any{}, "centre_y": map[string]any{}})
	s, err := task.Fit(t.Context(), optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range s.Names {
		if pull := (s.X[i] - truth[name]) / s.SD[i]; !(math.Abs(pull) < 4) {
			t.Errorf("%s is %g +- %g, want %g; deviance %g of %d pixels", name, s.X[i], s.SD[i], truth[name], s.Deviance, s.Pixels)
		}
	}
}

// A blur of nearly 0 has no effect of first order. Errors do not depend on how near it is: they hold that it may be larger.
func TestErrorsBesideNoBlur(t *testing.T) {
	truth := map[string]float64{"radius": 8.9, "shell": 5, "log_scale": -1, "background": 2, "centre_x": 0.25, "centre_y": -0.09, "resolution": 0.01, "aligned": 0}
	sd := map[float64][]float64{}
	for _, blur := range []float64{1e-3, 0.03} {
		task := countsOfBalls(t, [][][4]float64{{{-0.0001672, 0.001734, -0.0001672, 0.001734}, {0.0004084, 0.002772, 0.0004084, 0.002772}}, {{-0.001755, 0.0005631, -0.001755, 0.0005631}, {0.001119, 0.002416, 0.001119, 0.002416}},
			{{0.0008331, 0.0007727, 0.0008331, 0.0007727}, {-4.709e-05, 0.002683, -4.709e-05, 0.002683}}}, 25, truth,
			map[string]any{"radius": map[string]any{"start": 8.9, "bounds": []float64{2, 30}}, "shell": map[string]any{"start": 5, "bounds": []float64{1, 20}}, "resolution": map[string]any{"start": blur, "bounds": []float64{0, 10}},
				"aligned": map[string]any{"start": 0.01, "prior": "normal(0, 0.01)"}, "log_scale": map[string]any{}, "background": map[string]any{}})
		s, err := task.Fit(t.Context(), optim.Settings{MaxEvaluations: 3})
		if err != nil {
			t.Fatal(err)
		}
		sd[blur] = []float64{s.SD[slices.Index(s.Names, "radius")], s.SD[slices.Index(s.Names, "resolution")]}
		if strings.Contains(strings.Join(s.Warnings, "\n"), "do not determine resolution") {
			t.Errorf("a blur of %g: %v", blur, s.Warnings)
		}
		t.Log(s.Names, s.X, s.SD)
	}
	if a, b := sd[1e-3], sd[0.03]; !(a[0]/b[0] < 1.2 && b[0]/a[0] < 1.2) || !(a[1] > 0.1 && a[1] < 10) {
		t.Errorf("errors of the radius and of the blur are %.3g and %.3g", a, b)
	}
}

// Bright counts know a blur to less than a pixel, by which a sampled Gaussian of half that width does not blur at all: the search for the
// standard deviation does not end there.
func TestErrorsOfNoBlurInBrightCounts(t *testing.T) {
	truth := map[string]float64{"radius": 8.9, "shell": 5, "log_scale": 11, "background": 2, "centre_x": 0.25, "centre_y": -0.09, "resolution": 0, "aligned": 0}
	parameters := map[string]any{"resolution": map[string]any{"start": 1e-3, "bounds": []float64{0, 10}}}
	for name, x := range truth {
		if name != "resolution" {
			parameters[name] = map[string]any{"start": x}
		}
	}
	task := countsOfBalls(t, [][][4]float64{{{-0.0001672, 0.001734, -0.0001672, 0.001734}, {0.0004084, 0.002772, 0.0004084, 0.002772}}, {{-0.001755, 0.0005631, -0.001755, 0.0005631}, {0.001119, 0.002416, 0.001119, 0.002416}},
		{{0.0008331, 0.0007727, 0.0008331, 0.0007727}, {-4.709e-05, 0.002683, -4.709e-05, 0.002683}}}, 25, truth, parameters)
	s, err := task.Fit(t.Context(), optim.Settings{MaxEvaluations: 3})
	if err != nil {
		t.Fatal(err)
	}
	if sd := s.SD[slices.Index(s.Names, "resolution")]; !(sd > 0.05 && sd < 1) || strings.Contains(strings.Join(s.Warnings, "\n"), "do not determine resolution") {
		t.Errorf("the blur is known to %.3g pixels: %v", sd, s.Warnings)
	}
}
