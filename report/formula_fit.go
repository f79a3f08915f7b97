// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/viz"
)

// FormulaFit returns the page of a fit of a formula by least squares, which predicts these values of y: data and model, where the formula has one column of numbers, and
// the residuals.
func FormulaFit(file string, p *expr.Problem, predicted []float64, v check.Verdict, s Settings) *Page {
	b := &Album{Note: s.Note, DPI: s.DPI}
	f := viz.Fact{Name: "verdict", Value: v.Summary(), Verdict: viz.Good}
	if !v.OK {
		f.Verdict = viz.Bad
	}
	r := viz.Report{Title: p.Y + " = " + p.Expr, Facts: s.facts([]viz.Fact{{Name: "file", Value: file}, {Name: "model", Value: p.Expr}, {Name: "points", Value: fmt.Sprint(len(predicted))}}, f)}
	if name, x, ok := p.X(); ok {
		drawn, err := exprLine(p, name, x, predicted)
		if b.Add("fit", drawn, err); err == nil {
			r.Sections = append(r.Sections, viz.Section{Title: "Data and model", Figures: b.Figures()})
		}
	}
	r.Sections = append(r.Sections, modelSection(v, b))
	return &Page{Report: r, Album: *b}
}

// exprLine draws the data with their errors and the fitted formula against x.
func exprLine(p *expr.Problem, name string, x, predicted []float64) (*viz.Figure, error) {
	y, err := p.Observed()
	if err != nil {
		return nil, err
	}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	v := viz.Curve{Title: "Data and fit", XLabel: name, YLabel: p.Y}
	for _, i := range order {
		v.X, v.Y, v.LineX, v.Line = append(v.X, x[i]), append(v.Y, y[i]), append(v.LineX, x[i]), append(v.Line, predicted[i])
		if p.Sigma != "" {
			v.Err = append(v.Err, p.Data[p.Sigma].Values[i])
		}
	}
	return viz.Fit(v)
}
