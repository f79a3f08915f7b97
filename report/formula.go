// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/viz"
)

// Formula returns the page of the posterior of a formula that a problem file defines.
func Formula(file string, p *expr.Problem, fit *infer.Fit, v check.Verdict, s Settings) *Page {
	rep := fit.Diagnose()
	data := &Album{Note: s.Note, DPI: s.DPI}
	if x, values, ok := p.X(); ok {
		f, err := exprBand(p, x, values, fit)
		data.Add("predictive", f, err)
	}
	album := posteriorAlbum(viz.FromFit(fit), s)
	r := viz.Report{Title: p.Y + " = " + p.Expr, Facts: s.facts([]viz.Fact{{Name: "file", Value: file}, {Name: "model", Value: p.Expr},
		{Name: "points", Value: fmt.Sprint(p.Data[p.Observation()].Len())}, {Name: "seed", Value: fmt.Sprint(s.Seed)}}, verdictFact(rep, v)),
		Sections: []viz.Section{{Title: "Summary", Tables: []string{fit.Summary().HTML(), rep.HTML()}}}}
	figures := data.Figures()
	r.Sections = append(r.Sections, modelSection(v, data))
	if len(figures) > 0 {
		r.Sections = append(r.Sections, viz.Section{Title: "Data and model", Text: "The band shows where the model expects new data.", Figures: figures})
	}
	r.Sections = append(r.Sections, viz.Section{Title: "Posterior", Figures: album.Figures()})
	data.Append(album)
	return &Page{Report: r, Album: *data}
}

// mostPredicted is the largest number of predicted values drawn for a picture: 400 MB.
const mostPredicted = 50_000_000

// exprBand draws the data over the posterior predictive band, against x.
func exprBand(p *expr.Problem, name string, x []float64, fit *infer.Fit) (*viz.Figure, error) {
	observed, err := p.Observed()
	if err != nil {
		return nil, err
	}
	var errs []float64
	if c, ok := p.Data[p.Sigma]; ok && c.Labels == nil {
		errs = c.Values
	}
	return predictiveBand(viz.Curve{Title: "Predictive check", XLabel: name, YLabel: p.Y}, p.Observation(), x, observed, errs, fit)
}

// predictiveBand draws observed values y with their errors, if there are any, over the posterior predictive band of an observation of
// the model, against x. The curve has the labels.
func predictiveBand(v viz.Curve, observation string, x, y, errs []float64, fit *infer.Fit) (*viz.Figure, error) {
	draws := 0
	for c := range fit.Chains() {
		draws += fit.Len(c)
	}
	if draws*len(x) > mostPredicted {
		return nil, fmt.Errorf("predictions at %d draws of %d points are too many to draw: use fewer data points or draws", draws, len(x))
	}
	rep, err := fit.PosteriorPredictive(observation)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	column := make([]float64, 0, draws)
	for _, i := range order {
		column = column[:0]
		for _, chain := range rep {
			for _, row := range chain {
				column = append(column, row[i])
			}
		}
		v.X, v.Y, v.LineX = append(v.X, x[i]), append(v.Y, y[i]), append(v.LineX, x[i])
		if errs != nil {
			v.Err = append(v.Err, errs[i])
		}
		sorted := diag.Ascend(column)
		for q, to := range map[float64]*[]float64{0.025: &v.Low, 0.25: &v.InnerLow, 0.5: &v.Line, 0.75: &v.InnerHigh, 0.975: &v.High} {
			*to = append(*to, sorted.Quantile(q))
		}
	}
	return viz.Predictive(v)
}
