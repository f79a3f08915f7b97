// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/viz"
)

// anisotropyMaps draws A(q, E) of data and model beside their difference, a row for each angle of the field. It returns nil if no angle has
// several energies with an anisotropy.
func anisotropyMaps(list []measured.Profile) (*viz.Figure, error) {
	var rows [][]viz.Image
	byAngle := map[float64][]measured.Profile{}
	var angles []float64
	for _, p := range list {
		if p.A == nil {
			continue
		}
		if !slices.Contains(angles, p.Angle) {
			angles = append(angles, p.Angle)
		}
		byAngle[p.Angle] = append(byAngle[p.Angle], p)
	}
	for _, angle := range angles {
		of := slices.DeleteFunc(byAngle[angle], func(p measured.Profile) bool { return len(p.Q) != len(byAngle[angle][0].Q) })
		if len(of) > 1 {
			rows = append(rows, anisotropyRow(angle, of))
		}
	}
	if rows == nil {
		return nil, nil
	}
	return viz.Images("Anisotropy A(q, E) of data and model", rows)
}

// anisotropyRow is the row of one angle. The colours of data and model end where those of the model do, so that noise does not hide it.
func anisotropyRow(angle float64, list []measured.Profile) []viz.Image {
	slices.SortFunc(list, func(a, b measured.Profile) int { return cmp.Compare(a.Energy, b.Energy) })
	var energies []float64
	var of [3][][]float64
	high := 0.05
	for _, p := range list {
		energies = append(energies, p.Energy)
		rest := make([]float64, len(p.A))
		for i := range rest {
			rest[i] = p.A[i] - p.Model[i]
			if x := math.Abs(p.Model[i]); x > high {
				high = x
			}
		}
		of[0], of[1], of[2] = append(of[0], p.A), append(of[1], p.Model), append(of[2], rest)
	}
	high = min(high, 1)
	var row []viz.Image
	for k, what := range []string{"data", "model", "data - model"} {
		m := viz.Image{Title: fmt.Sprintf("%g degrees: %s", angle, what), XLabel: "q (1/nm)", YLabel: "energy (eV)", ZLabel: "A", X: shared(list), Y: energies, Z: of[k], Signed: true, Low: -high, High: high}
		if k == 2 {
			m.Low, m.High = -high/2, high/2
		}
		row = append(row, m)
	}
	return row
}

// shared returns the q in 1/nm of the middle energy: bins of pixels move a little with the energy.
func shared(list []measured.Profile) []float64 { return list[len(list)/2].Q }

// mostResiduals is the largest number of profiles in one picture.
const mostResiduals = 12

// residualProfiles draws the residuals along q for each energy and angle of the field, with the band that 95 % of them should lie in. Of
// many energies it takes some that are evenly spaced.
func residualProfiles(list []measured.Profile) (*viz.Figure, error) {
	step := (len(list) + mostResiduals - 1) / mostResiduals
	var curves []viz.Curve
	for i := 0; i < len(list); i += max(1, step) {
		p := list[i]
		c := viz.Curve{Title: fmt.Sprintf("%g eV, %g degrees", p.Energy, p.Angle), XLabel: "q (1/nm)", YLabel: "residual of the bin (standard deviations)", BandName: "95 % of bins without a misfit"}
		for k, z := range p.Residual {
			if !math.IsNaN(z) {
				c.X, c.Y = append(c.X, p.Q[k]), append(c.Y, z)
			}
		}
		if len(c.X) == 0 {
			continue
		}
		c.LineX = []float64{c.X[0], c.X[len(c.X)-1]}
		c.Line, c.Low, c.High = []float64{0, 0}, []float64{-1.96, -1.96}, []float64{1.96, 1.96}
		curves = append(curves, c)
	}
	f, err := viz.Grid(curves)
	if err == nil {
		f.Title = "Residuals along q"
	}
	return f, err
}

// leastShare is that of which a bar can be seen.
const leastShare = 0.005

// mostParameters is the largest number of parameters whose energies are drawn.
const mostParameters = 9

// energyWorth draws what each photon energy is worth to the parameters: the share of the information that it has alone, and what would be
// lost without it. Parameters of which no energy has a visible share say so.
func energyWorth(list []measured.EnergyInformation, names []string, sd map[string]float64) (*viz.Figure, error) {
	var charts []viz.Bars
	for _, name := range names[:min(len(names), mostParameters)] {
		c := viz.Bars{Title: name, XLabel: "energy (eV)", YLabel: "share of the information", High: 1}
		alone, lost := viz.BarSeries{Name: "this energy alone has"}, viz.BarSeries{Name: "would be lost without it"}
		for _, e := range list {
			c.Labels = append(c.Labels, strconv.FormatFloat(e.Energy, 'g', 6, 64))
			a, w := sd[name]/e.Alone[name], sd[name]/e.Without[name]
			alone.Y, lost.Y = append(alone.Y, min(1, a*a)), append(lost.Y, max(0, 1-w*w))
		}
		c.Series = []viz.BarSeries{alone, lost}
		if !slices.ContainsFunc(slices.Concat(alone.Y, lost.Y), func(y float64) bool { return y >= leastShare }) { // none that is NaN
			c.Title += ": no information"
		}
		charts = append(charts, c)
	}
	return viz.BarGrid("What each energy is worth", charts...)
}

// mostCorners is the largest number of parameters of a corner plot.
const mostCorners = 6

// cornerNames are the parameters of a corner plot: those of the morphology, and the nuisances that are correlated with them most.
func cornerNames(morphology []string, correlations []measured.Correlation, all []string) []string {
	names := slices.Clone(morphology)
	for _, c := range correlations {
		for _, name := range []string{c.A, c.B} {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range all {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names[:min(len(names), mostCorners)]
}
