// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/morph/measured"
)

// Where pixels were added up to one, the model is the sum over them, and not their number times the value at the middle.
func TestPixelsThatWereAddedUp(t *testing.T) {
	const bin = 4
	k := smallOf(t, 3, true)
	means := func(b, rows, columns int, pixel float64, added int, resolution bool) []float64 {
		m, data := *k.Model, *k.Model.Data
		data.Detector.Rows, data.Detector.Columns, data.Detector.PixelY, data.Detector.PixelX, data.Bin = rows, columns, pixel, pixel, added
		data.Frames = data.Frames[:1:1]
		data.Frames[0].Counts = make([]float64, rows*columns)
		m.Data = &data
		task := &measured.Task{Model: &m}
		for _, p := range k.Params {
			switch p.Name {
			case "log_scale":
				p.Start += math.Log(float64(b * b))
			case "resolution":
				p.Start *= bin / float64(b)
			case "background":
				p.Start *= float64(b * b)
			}
			if p.Name != "centre_x" && p.Name != "centre_y" && (resolution || p.Name != "resolution") {
				task.Params = append(task.Params, p)
			}
		}
		mu, err := task.Means()
		if err != nil {
			t.Fatal(err)
		}
		return mu
	}
	for _, resolution := range []bool{false, true} {
		fine := means(1, 80, 88, 0.25/bin, 0, resolution)
		sums := make([]float64, 20*22)
		for i, v := range fine {
			sums[i/88/bin*22+i%88/bin] += v
		}
		far := func(of []float64) (most float64) {
			for i, v := range of {
				if row, column := i/22, i%22; row > 0 && row < 19 && column > 0 && column < 21 {
					most = max(most, math.Abs(v/sums[i]-1))
				}
			}
			return most
		}
		summed, middle := far(means(bin, 20, 22, 0.25, bin, resolution)), far(means(bin, 20, 22, 0.25, 0, resolution))
		if !(summed < 0.002 && middle > 5*summed) {
			t.Errorf("resolution %t: the model is %.2g off the sums, and at the middles %.2g", resolution, summed, middle)
		}
	}
}

// A parameter that is called as the standard deviation of another one would be does not keep a fit from being written.
func TestDatasetsOfSpreads(t *testing.T) {
	k := smallOf(t, 3, true)
	m := *k.Model
	m.Morphology = append(slices.Clone(m.Morphology), "radius_sd")
	task := &measured.Task{Model: &m, Params: append(slices.Clone(k.Params), measured.Param{Name: "radius_sd", Start: 0.1})}
	var x, sd []float64
	for i, p := range task.Params {
		x, sd = append(x, p.Start), append(sd, float64(i+1))
	}
	list, err := task.Datasets(x, sd)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"radius": 6, "radius_error": 1, "radius_sd": 0.1, "radius_sd_sd": float64(len(sd)), "shell_sd": 2} {
		if v := list[0].Var(name); v == nil || v.Data.([]float64)[0] != want {
			t.Errorf("%s is %+v, want %g", name, v, want)
		}
	}
}

// Constants without a file are told by what the model calls its parts.
func TestHeldConstantsAreNamedByParts(t *testing.T) {
	row := [][]float64{{1e-3, 1e-4, 1e-3, 1e-4}}
	start := map[string]any{"start": 5}
	task, err := measured.Open(parse(t, map[string]any{"model": "core_shell", "options": map[string]any{"matrix": true, "closed": true, "width": 1}, "energies": []float64{284, 285}, "exposure": 1, "polarization": 0,
		"geometry": map[string]any{"distance": 40, "pixel": 0.5, "beam": []float64{8, 8}, "shape": []int{16, 16}}, "constants": []any{row, "vacuum", [][]float64{{0, 1e-3, 0, 1e-3}}},
		"parameters": map[string]any{"radius": start, "shell": start}, "fixed": map[string]any{"aligned": 0}}), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(task.Model.Names, ", "); got != "core, vacuum, matrix" {
		t.Errorf("the materials are called %s", got)
	}
}
