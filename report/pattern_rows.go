// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
	"github.com/euryale-dev/euryale/viz"
)

// PatternRows makes one row of pictures for each energy index in which: the image of a
// beam and either its intensity and anisotropy against q or cuts through the centre. The
// rows are for viz.Scattering.
func PatternRows(p *rsoxs.Pattern, r rsoxs.Reduction, which []int, beam int, cuts bool) ([]viz.PatternRow, error) {
	d, err := r.NewReducer(p)
	if err != nil {
		return nil, err
	}
	c, err := d.Reduce(p)
	if err != nil {
		return nil, err
	}
	beams := p.Intensity.Shape()[1]
	var list []viz.PatternRow
	for _, e := range which {
		im := p.Image(e, beam)
		row := viz.PatternRow{Pattern: viz.Pattern(fmt.Sprintf("%g eV", p.Energies[e]), p.QY, p.QX, im)}
		if cuts {
			row.Plots = []viz.Lines{cutsOf(p, im)}
			list = append(list, row)
			continue
		}
		n := len(c.Q[e])
		at := (e*beams + beam) * n
		line := func(name string, t *tensor.Tensor) viz.Line {
			// Skip the direct beam, which carries no information.
			return viz.Line{Name: name, X: c.Q[e][1:], Y: t.Data().([]float64)[at+1 : at+n]}
		}
		row.Plots = []viz.Lines{
			{XLabel: "q (1/nm)", YLabel: "intensity", LogY: true, Curves: []viz.Line{line("mean", c.I), line("along the field", c.Para), line("across", c.Perp)}},
			{XLabel: "q (1/nm)", YLabel: "anisotropy", Curves: []viz.Line{line("A", c.A)}, Low: -1, High: 1}}
		list = append(list, row)
	}
	return list, nil
}

// cutsOf returns the row and the column of an image through q = 0.
func cutsOf(p *rsoxs.Pattern, im []float64) viz.Lines {
	ny, nx := len(p.QY), len(p.QX)
	column := make([]float64, ny)
	for j := range column {
		column[j] = im[j*nx+nx/2]
	}
	return viz.Lines{XLabel: "q (1/nm)", YLabel: "intensity", LogY: true, Curves: []viz.Line{{Name: "q_{y} = 0", X: p.QX, Y: im[ny/2*nx : (ny/2+1)*nx]}, {Name: "q_{x} = 0", X: p.QY, Y: column}}}
}
