// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/sim/rsoxs/phasing"
	"github.com/euryale-dev/euryale/viz"
)

// Phases returns the page of voxels that projections found in measured patterns: the mean and the standard deviation of the starts that agree,
// what of the patterns lies on the grid, and the phase retrieval transfer function. File is the problem file.
func Phases(file string, p *measured.Phases, r *phasing.Result, s Settings) *Page {
	b := &Album{Note: s.Note, DPI: s.DPI}
	f, err := voxelImages(p, r)
	b.Add("voxels", f, err)
	f, err = gridded(p)
	b.Add("patterns", f, err)
	f, err = transfer(p, r)
	b.Add("transfer", f, err)
	var list strings.Builder
	for _, finding := range slices.Concat(p.Findings, r.Findings) {
		fmt.Fprintf(&list, "<li>%s</li>", html.EscapeString(finding))
	}
	told := "<p>The starts agree, and predict what was left out.</p>"
	if list.Len() > 0 {
		told = "<ul>" + list.String() + "</ul>"
	}
	return &Page{Album: *b, Report: viz.Report{Title: "Voxels from measured patterns", Facts: s.facts([]viz.Fact{{Name: "problem", Value: file}, {Name: "method", Value: "projections from random starts"}, {Name: "data", Value: strings.Join(p.Read, "; ")}}),
		Sections: []viz.Section{{Title: "What keeps the voxels from being determined", Tables: []string{told}}, {Title: "Voxels and data", Figures: b.Figures()}}}}
}

// voxelImages draws mean and standard deviation of the volume fractions.
func voxelImages(p *measured.Phases, r *phasing.Result) (*viz.Figure, error) {
	var row []viz.Image
	for _, c := range []struct {
		title, z string
		values   []float64
	}{{"mean of the starts that agree", "volume fraction", r.Mean[0]}, {"their standard deviation", "volume fraction", r.Spread[0]}} {
		row = append(row, viz.Image{Title: c.title, XLabel: "x (nm)", YLabel: "y (nm)", ZLabel: c.z, X: middles(p.Shape[1], p.Voxel), Y: middles(p.Shape[0], p.Voxel), Z: rowsOf(c.values, p.Shape[1]), Equal: true})
	}
	return viz.Images("Voxels", [][]viz.Image{row})
}

// gridded draws what of the first patterns lies on the grid of q.
func gridded(p *measured.Phases) (*viz.Figure, error) {
	var row []viz.Image
	for i, x := range p.Problem.Patterns[:min(len(p.Problem.Patterns), 3)] {
		z := make([]float64, len(x.Intensity))
		for k, v := range x.Intensity {
			if z[k] = v; v == 0 {
				z[k] = math.NaN()
			}
		}
		step := func(n int) []float64 { return middles(n, 2*math.Pi/(float64(n)*p.Voxel)) }
		row = append(row, viz.Image{Title: p.Titles[i], XLabel: "q_{x} (1/nm)", YLabel: "q_{y} (1/nm)", ZLabel: "intensity (grey: none)", X: step(p.Shape[1]), Y: step(p.Shape[0]), Z: rowsOf(z, p.Shape[1]), Log: true, Equal: true})
	}
	return viz.Images("Patterns on the grid of q", [][]viz.Image{row})
}

// transfer draws the phase retrieval transfer function.
func transfer(p *measured.Phases, r *phasing.Result) (*viz.Figure, error) {
	c := viz.Bars{Title: fmt.Sprintf("Where the starts have phases in common (determined above %g)", phasing.Agreeing), XLabel: "q (1/nm)", YLabel: "transfer", High: 1, Series: []viz.BarSeries{{Name: "all rings", Y: r.Transfer}}}
	for ring := range r.Transfer {
		c.Labels = append(c.Labels, fmt.Sprintf("%.2g", 2*math.Pi*float64(ring)/(float64(min(p.Shape[0], p.Shape[1]))*p.Voxel)))
	}
	return viz.BarGrid("Phase retrieval transfer function", c)
}

// middles are n places about 0 with a step.
func middles(n int, step float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i-n/2) * step
	}
	return x
}

// rowsOf cuts an image into its rows.
func rowsOf(x []float64, columns int) (rows [][]float64) {
	for ; len(x) >= columns; x = x[columns:] {
		rows = append(rows, x[:columns])
	}
	return rows
}
