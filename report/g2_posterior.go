// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/viz"
)

// CurveRun is the posterior of one bin together with its data, model and settings.
type CurveRun struct {
	File      string
	Model     g2.Model
	Settings  g2.Settings
	Curve     g2.Curve
	Point     g2.Fit // point fit from which the chains started
	Posterior *infer.Posterior
}

// CurvePosterior returns the page of a sampled bin.
func CurvePosterior(r CurveRun, fit *infer.Fit, v check.Verdict, set Settings) *Page {
	data := &Album{Note: set.Note, DPI: set.DPI}
	line, err := r.Point.Line()
	f, ferr := viz.Fit(titled("Fit", curveOf(r.Point.Curve, r.Model, line)))
	if err == nil {
		err = ferr
	}
	data.Add("fit", f, err)
	band, err := r.Model.PosteriorBand(r.Curve, modelDraws(r.Model, r.Settings, fit), 0.95)
	curve := titled("Posterior of the curve", curveOf(r.Point.Curve, r.Model, band))
	curve.BandName = "95 % of the posterior"
	f, ferr = viz.Fit(curve)
	if err == nil {
		err = ferr
	}
	data.Add("posterior_curve", f, err)
	f, err = predictive(r.Posterior, r.Point.Curve, r.Model, fit, set.Seed)
	data.Add("predictive", f, err)
	figures := data.Figures()
	draws := viz.FromFit(fit)
	draws.Units = r.Model.Units()
	album := posteriorAlbum(draws, set)
	sum, rep := fit.Summary(), fit.Diagnose()
	p := &Page{}
	p.Report = viz.Report{Title: fmt.Sprintf("g2, bin %d: %s", r.Curve.Bin, r.Model.Name), Facts: set.facts([]viz.Fact{
		{Name: "file", Value: r.File}, {Name: "model", Value: r.Model.Formula}, {Name: r.Curve.AxisLabel(), Value: qText(r.Curve.Q)},
		{Name: "points", Value: fmt.Sprint(len(r.Curve.X))}, {Name: "seed", Value: fmt.Sprint(set.Seed)}}, verdictFact(rep, v)),
		Sections: []viz.Section{
			{Title: "Summary", Tables: []string{sum.HTML(), rep.HTML()}},
			modelSection(v, data),
			{Title: "Data and model", Text: "The figures show the least-squares fit from which the chains start, the posterior of the curve as its median and 95 % band, and the band in which the model expects new data.", Figures: figures},
			{Title: "Posterior", Figures: album.Figures()},
		}}
	data.Append(album)
	p.Album = *data
	return p
}

// titled names a figure of the only bin on a page for what it shows.
func titled(title string, c viz.Curve) viz.Curve {
	c.Title = title
	return c
}

// predictive draws the data over the posterior predictive band.
func predictive(post *infer.Posterior, c g2.Curve, model g2.Model, fit *infer.Fit, seed uint64) (*viz.Figure, error) {
	p, err := g2.PredictiveBands(post, fit, c, seed)
	if err != nil {
		return nil, err
	}
	v := titled("Predictive check", curveOf(c, model, nil))
	v.LineX, v.Line, v.Low, v.High, v.InnerLow, v.InnerHigh = c.X, p.Mid, p.Low, p.High, p.InnerLow, p.InnerHigh
	return viz.Predictive(v)
}

// modelDraws returns up to 1000 draws of the model's parameters.
func modelDraws(model g2.Model, s g2.Settings, fit *infer.Fit) [][]float64 {
	var columns [][][]float64
	for _, p := range model.Params {
		columns = append(columns, fit.Draws(p.Name))
	}
	total := 0
	for c := range fit.Chains() {
		total += fit.Len(c)
	}
	step := max(1, total/1000)
	var out [][]float64
	k := 0
	for c := range fit.Chains() {
		for d := range fit.Len(c) {
			if k++; k%step != 0 {
				continue
			}
			row := make([]float64, len(columns))
			for i, col := range columns {
				if col != nil {
					row[i] = col[c][d]
				} else {
					row[i] = s.Fixed[model.Params[i].Name]
				}
			}
			out = append(out, row)
		}
	}
	return out
}
