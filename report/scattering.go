// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
	"github.com/euryale-dev/euryale/viz"
)

// mostEnergies is the largest number of rows of pictures.
const mostEnergies = 6

// Rows returns the indices of the energies to draw: all of them, or an evenly spaced
// selection.
func Rows(p *rsoxs.Pattern) (list []int) {
	n := min(len(p.Energies), mostEnergies)
	for i := range n {
		list = append(list, i*(len(p.Energies)-1)/max(1, n-1))
	}
	return list
}

// Patterns draws data, fit and the difference of their logarithms for the first beam, one
// row per energy.
func Patterns(data, model *rsoxs.Pattern) (*viz.Figure, error) {
	var table [][]viz.Image
	for _, e := range Rows(model) {
		d, m := data.Image(e, 0), model.Image(e, 0)
		r := make([]float64, len(d))
		most := 0.0
		for i := range r {
			r[i] = math.Log(d[i] / m[i])
			if x := math.Abs(r[i]); x > most && !math.IsInf(x, 0) {
				most = x
			}
		}
		residual := viz.Pattern("ln data/fit", model.QY, model.QX, r)
		residual.Log, residual.Signed, residual.ZLabel = false, true, ""
		residual.Low, residual.High = -min(most, 1), min(most, 1)
		first := viz.Pattern(fmt.Sprintf("%g eV, data", model.Energies[e]), model.QY, model.QX, d)
		second := viz.Pattern("fit", model.QY, model.QX, m)
		second.Low, second.High = first.Low, first.High
		table = append(table, []viz.Image{first, second, residual})
	}
	return viz.Images("Patterns", table)
}

// Curves draws I(q) or A(q) of data and model for each energy.
func Curves(kind string, data, model *rsoxs.Pattern) (*viz.Figure, error) {
	r, err := rsoxs.Reduction{Radii: rsoxs.TrueRadii}.NewReducer(model)
	if err != nil {
		return nil, err
	}
	d, err := r.Reduce(data)
	if err != nil {
		return nil, err
	}
	seen := *model
	seen.Intensity = model.Intensity.Copy() // intensity only where there are data
	for i, x := range data.Intensity.Data().([]float64) {
		if math.IsNaN(x) {
			seen.Intensity.Data().([]float64)[i] = x
		}
	}
	m, err := r.Reduce(&seen)
	if err != nil {
		return nil, err
	}
	pick := func(c *rsoxs.Curves, e int) []float64 {
		t := map[string]*tensor.Tensor{"I": c.I, "A": c.A}[kind]
		n := len(c.Q[e])
		at := e * t.Shape()[1] * n
		return t.Data().([]float64)[at : at+n]
	}
	var all []viz.Curve
	for _, e := range Rows(model) {
		q := m.Q[e][1:] // skip the direct beam, which carries no information
		all = append(all, viz.Curve{Title: fmt.Sprintf("%g eV", model.Energies[e]), XLabel: "q (1/nm)", YLabel: map[string]string{"I": "intensity I", "A": "anisotropy A"}[kind], LogY: kind == "I",
			X: q, Y: pick(d, e)[1:], LineX: q, Line: pick(m, e)[1:]})
	}
	if len(all) == 1 {
		return viz.Fit(all[0])
	}
	f, err := viz.Grid(all)
	if err == nil {
		f.Title = map[string]string{"I": "Intensity, mean over all directions", "A": "Anisotropy (parallel - perpendicular) / (parallel + perpendicular)"}[kind]
	}
	return f, err
}
