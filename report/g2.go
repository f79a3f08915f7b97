// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/viz"
)

// CurveFits returns the page of point fits of the bins of a file: a table, a grid of all
// bins, the parameters against q, and what the model does not explain.
func CurveFits(file string, model g2.Model, fits []g2.Fit, s Settings) *Page {
	b := fitAlbum(model, fits, s)
	good := 0
	for _, f := range fits {
		if f.Status == "converged" && f.Check.OK {
			good++
		}
	}
	p := &Page{Report: viz.Report{Title: "g2: " + model.Name, Facts: s.facts([]viz.Fact{{Name: "file", Value: file}, {Name: "model", Value: model.Formula}}, countFact("bins", good, len(fits))),
		Sections: []viz.Section{{Title: "Fits", Tables: []string{fitTable(model, fits)}, Figures: b.Figures()}, misfits(fits, b)}}}
	p.Album = *b
	return p
}

// misfits returns the section of a report that judges the model bin by bin.
func misfits(fits []g2.Fit, b *Album) viz.Section {
	s := viz.Section{Title: "Model against data", Text: "The residuals are in standard deviations, and the band spans two on either side of zero."}
	var panels []viz.Curve
	var said remarks
	for _, f := range fits {
		if f.Status == "failed" {
			continue
		}
		if !f.Check.OK {
			said.add(f.Curve.Bin, f.Check.Summary())
			for _, m := range f.Check.Flags {
				said.add(f.Curve.Bin, m.String())
			}
		}
		panels = append(panels, residualCurve(f.Check, fmt.Sprintf("bin %d", f.Curve.Bin)))
	}
	for line := range strings.Lines(said.String()) {
		s.Text += "\n- " + strings.TrimSuffix(line, "\n")
	}
	if len(panels) == 0 {
		return s
	}
	if len(panels) == 1 {
		panels[0].Title = residualTitle
		f, err := viz.Fit(panels[0])
		if b.Add("residuals", f, err); err == nil {
			s.Figures = append(s.Figures, f)
		}
		return s
	}
	f, err := viz.Grid(panels)
	if err == nil {
		f.Title = "Residuals of g2, with a band of two standard deviations"
	}
	if b.Add("residuals", f, err); err == nil {
		s.Figures = append(s.Figures, f)
	}
	return s
}

// fitAlbum draws the data with the fits.
func fitAlbum(model g2.Model, fits []g2.Fit, s Settings) *Album {
	b := &Album{Note: s.Note, DPI: s.DPI}
	var curves []viz.Curve
	for _, f := range fits {
		if len(f.Curve.X) == 0 {
			continue
		}
		line, err := f.Line()
		if err != nil {
			b.note("the fitted curve of bin %d cannot be drawn: %v", f.Curve.Bin, err)
		}
		curves = append(curves, curveOf(f.Curve, model, line))
	}
	if len(curves) == 1 {
		f, err := viz.Fit(curves[0])
		b.Add("fit", f, err)
		return b
	}
	f, err := viz.Grid(curves)
	if err == nil {
		f.Title = fmt.Sprintf("g2 of %d bins with the fitted model and its band", len(curves))
	}
	b.Add("fits", f, err)
	if model.Of == "delay" {
		f, err = parametersOf(model, fits)
		b.Add("parameters", f, err)
	}
	return b
}

// parametersOf draws the parameters of the fitted bins against q, or against age where the bins are ages.
func parametersOf(model g2.Model, fits []g2.Fit) (*viz.Figure, error) {
	x, place := viz.Against{Label: axisOf(fits).AxisLabel(), Log: true}, func(c g2.Curve) float64 { return c.Q }
	if aged(fits) {
		x, place = viz.Against{Label: "age (s)"}, func(c g2.Curve) float64 { return c.Age }
	}
	series := make([]viz.Series, len(model.Params))
	for i, p := range model.Params {
		series[i] = viz.Series{Name: p.Name, Unit: p.Unit, Log: p.Unit == "s"}
	}
	for _, f := range fits {
		at := place(f.Curve)
		if !f.OK() || x.Log && !(at > 0) {
			continue
		}
		x.X = append(x.X, at)
		for i := range series {
			series[i].Y, series[i].Err = append(series[i].Y, f.X[i]), append(series[i].Err, f.SD[i])
		}
	}
	if len(x.X) == 0 {
		return nil, fmt.Errorf("none of the fitted bins has a value of %s: give it in the data", cmp.Or(axisOf(fits).Axis, "q"))
	}
	return viz.Parameters(x, series...)
}

// curveOf returns the plot of data with a line. Models in q have logarithmic axes.
func curveOf(c g2.Curve, model g2.Model, band *g2.Band) viz.Curve {
	v := viz.Curve{Title: fmt.Sprintf("bin %d", c.Bin), XLabel: "delay (s)", YLabel: "g2", X: c.X, Y: c.Y, Err: c.Err, LogX: true}
	if c.Age > 0 {
		v.Title += fmt.Sprintf(", age %.4g s", c.Age)
	}
	if !math.IsNaN(c.Q) && c.Q > 0 {
		name, unit := "q", "1/Å"
		if c.Axis != "" {
			name, unit = c.Axis, c.AxisUnit
		}
		v.Title += strings.TrimSpace(fmt.Sprintf(", %s = %.4g %s", name, c.Q, unit))
	}
	if model.Of == "q" {
		v.Title, v.XLabel, v.YLabel, v.LogY = "relaxation time", c.AxisLabel(), "tau (s)", true
	}
	if band != nil {
		v.LineX, v.Line, v.Low, v.High = band.X, band.Mid, band.Low, band.High
	}
	return v
}
