// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/report"
)

// Draws of all chains are spread over what is drawn, parameters without draws have the value of the fit, and the
// picture has a flux and a residual for every spectrum with data.
func TestStarDraws(t *testing.T) {
	fit := &spectra.Fit{Names: []string{"vel", "vsini", "teff"}, X: []float64{10, 5, 6000}}
	chains := make([][]float64, 2)
	for i := range 1000 {
		chains[i/500] = append(chains[i/500], float64(i))
	}
	points := report.StarPoints(fit, func(name string) [][]float64 {
		if name == "vsini" {
			return nil
		}
		return chains
	})
	if len(points) != 200 || !slices.Equal(points[0], []float64{2, 5, 2}) || !slices.Equal(points[199], []float64{997, 5, 997}) {
		t.Errorf("%d points, of which the first is %v and the last %v", len(points), points[0], points[len(points)-1])
	}
	few := report.StarPoints(fit, func(string) [][]float64 { return [][]float64{{1, 2}, {3}} })
	if len(few) != 3 || few[0][0] != 1 || few[2][2] != 3 {
		t.Errorf("points %v", few)
	}
	if none := report.StarPoints(fit, func(string) [][]float64 { return nil }); len(none) != 0 {
		t.Errorf("points %v without draws", none)
	}

	star := &spectra.Star{Name: "a star", Spectra: []spectra.Spectrum{
		{Arm: "blue", Lam: []float64{5000, 5001, 5002}, Flux: []float64{1, 2, 1}, Err: []float64{0.1, 0.1, 0.1}},
		{Arm: "red", Lam: []float64{6000, 6001}, Flux: []float64{1, 2}, Err: []float64{0.1, 0.1}, Bad: []bool{true, true}},
	}}
	models := [][][]float64{{{1, 2, 1}, {1, 2}}, {{1.1, 2.1, 1.1}, {1, 2}}}
	f, err := report.StarDraws(star, models)
	if err != nil {
		t.Fatal(err)
	}
	svg, err := f.Encode(".svg")
	if err != nil {
		t.Fatal(err)
	}
	for says, times := range map[string]int{"blue: models of 2 draws": 1, "red: models": 0, "posterior, 95 %": 2} {
		if n := strings.Count(string(svg), says); n != times {
			t.Errorf("%q is there %d times, want %d", says, n, times)
		}
	}
	if n := strings.Count(string(svg), "stroke-opacity:0.6;stroke-width:0.6"); n != 2 {
		t.Errorf("%d thin lines, want those of the data and of the residual", n)
	}
	if _, err := report.StarDraws(star, nil); err == nil {
		t.Error("a picture of no draws")
	}
}
