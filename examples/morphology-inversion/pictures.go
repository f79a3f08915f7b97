// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math"
	"os"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/viz"
)

// draw writes the pictures.
func draw(ctx context.Context, dir string, inv *morph.Inversion, x []float64, post *infer.Fit) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	model, err := pattern(ctx, inv.Sim, x)
	if err != nil {
		return err
	}
	data := *model
	data.Intensity = inv.Data
	d := viz.FromFit(post)
	d.Units = map[string]string{"core": "nm", "shell": "nm"}
	for name, figure := range map[string]func() (*viz.Figure, error){
		"patterns.png":  func() (*viz.Figure, error) { return patterns(&data, model) },
		"curves.png":    func() (*viz.Figure, error) { return anisotropy(&data, model) },
		"particle.png":  func() (*viz.Figure, error) { return slice(x) },
		"posterior.png": func() (*viz.Figure, error) { return viz.Pair(d) },
	} {
		f, err := figure()
		if err != nil {
			return err
		}
		if err := write(dir, name, f.PNG()); err != nil {
			return err
		}
	}
	return nil
}

// patterns draws data, fit and the difference of their logarithms.
func patterns(data, model *rsoxs.Pattern) (*viz.Figure, error) {
	var rows [][]viz.Image
	n := len(model.QY) * len(model.QX)
	a, b := data.Intensity.Float64s(), model.Intensity.Float64s()
	for e, energy := range model.Energies {
		d, m := a[e*n:(e+1)*n], b[e*n:(e+1)*n]
		title := fmt.Sprintf("%.1f eV", energy)
		r := make([]float64, n)
		for i := range r {
			r[i] = math.Log(d[i] / m[i])
		}
		residual := viz.Pattern("ln data/fit", model.QY, model.QX, r)
		residual.Log, residual.Signed, residual.ZLabel, residual.Low, residual.High = false, true, "", -0.4, 0.4
		rows = append(rows, []viz.Image{viz.Pattern(title+", data", model.QY, model.QX, d), viz.Pattern("fit", model.QY, model.QX, m), residual})
	}
	return viz.Images("Patterns", rows)
}

// anisotropy draws A(q) at the last energy.
func anisotropy(data, model *rsoxs.Pattern) (*viz.Figure, error) {
	r, err := rsoxs.Reduction{Radii: rsoxs.TrueRadii}.NewReducer(model)
	if err != nil {
		return nil, err
	}
	d, err := r.Reduce(data)
	if err != nil {
		return nil, err
	}
	m, err := r.Reduce(model)
	if err != nil {
		return nil, err
	}
	last := len(model.Energies) - 1
	x := m.Q[last]
	return viz.Fit(viz.Curve{Title: fmt.Sprintf("Anisotropy at %.1f eV", model.Energies[last]), XLabel: "q (1/nm)", YLabel: "A",
		X: x, Y: d.A.Index(0, last).Index(0, 0).Float64s(), LineX: x, Line: m.A.Index(0, last).Index(0, 0).Float64s()})
}

// slice draws the recovered particle through its middle.
func slice(x []float64) (*viz.Figure, error) {
	m, err := morphology(x)
	if err != nil {
		return nil, err
	}
	ny, nx := grid.Shape[1], grid.Shape[2]
	at := func(material int, field int) []float64 {
		return m.Materials[material].Fields()[field].Index(0, grid.Shape[0]/2).Float64s()
	}
	image := func(title string, v []float64) viz.Image {
		im := viz.Image{Title: title, XLabel: "x (nm)", YLabel: "y (nm)", Equal: true, Low: 0, High: 1}
		for i := range nx {
			im.X = append(im.X, float64(i)*grid.Voxel)
		}
		for j := range ny {
			im.Y = append(im.Y, float64(j)*grid.Voxel)
			im.Z = append(im.Z, v[j*nx:(j+1)*nx])
		}
		return im
	}
	shell := image("shell and its directors", at(1, 0))
	shell.Arrows = viz.Directors(at(1, 2), at(1, 3), at(1, 0), ny, nx, grid.Voxel, 2, 0.4)
	return viz.Images("Recovered particle", [][]viz.Image{{image("core", at(0, 0)), shell}})
}
