// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/viz"
)

// FormulaFit returns the page of a fit of a formula by least squares: data and model with bands, where the formula has one column of numbers, the
// residuals, and contours, if there are any.
func FormulaFit(file string, fit *expr.Fitted, s Settings) (*Page, error) {
	p, v := fit.Problem, fit.Verdict
	predicted, err := p.Predicted(fit.Result)
	if err != nil {
		return nil, err
	}
	b := &Album{Note: s.Note, DPI: s.DPI}
	page := viz.Report{Title: p.Y + " = " + p.Expr, Facts: s.facts([]viz.Fact{{Name: "file", Value: file}, {Name: "model", Value: p.Expr}, {Name: "points", Value: fmt.Sprint(len(predicted))}}, fitFact(v))}
	page.Sections = append(page.Sections, viz.Section{Title: "Parameters", Tables: []string{fittedRows(fit)}})
	if name, x, ok := p.X(); ok {
		drawn, err := exprFigure(fit, name, x, predicted)
		if b.Add("fit", drawn, err); err == nil {
			text := ""
			if fit.Result.DoF() > 0 {
				text = "The dark band holds the curve with a probability of 95 % at each place, and the light one new data."
			}
			page.Sections = append(page.Sections, viz.Section{Title: "Data and model", Text: text, Figures: b.Figures()})
		}
	}
	page.Sections = append(page.Sections, modelSection(v, b))
	if len(fit.Contours) > 0 {
		regions := &Album{Note: s.Note, DPI: s.DPI}
		for k, c := range fit.Contours {
			if k > 0 && fit.Contours[k-1].Names == c.Names {
				continue // drawn with the first of the pair
			}
			drawn, err := contourFigure(fit, c.Names)
			regions.Add("contour-"+c.Names[0]+"-"+c.Names[1], drawn, err)
		}
		page.Sections = append(page.Sections, viz.Section{Title: "Pairs of parameters", Text: "Regions within which both parameters lie with the probabilities given, from profiles.", Figures: regions.Figures()})
		b.Append(regions)
	}
	return &Page{Report: page, Album: *b}, nil
}

// mostGroups is the number of groups whose parameters a page lists; fits.csv has those of all.
const mostGroups = 50

// mostRows is the number of parameters that a page lists: fits of many labels have a table of their own.
const mostRows = 200

// fittedRows is the table of the parameters with their standard deviations.
func fittedRows(fit *expr.Fitted) string {
	var rows [][2]string
	sd := fit.Result.SD()
	for k, name := range fit.Result.Names[:min(len(fit.Result.Names), mostRows)] {
		text := PlusMinus(fit.Result.X[k], math.NaN())
		switch {
		case sd == nil:
		case sd[k] == 0:
			text += " (fixed or tied)"
		case math.IsInf(sd[k], 1):
			text += " (not determined by the data)"
		default:
			text = PlusMinus(fit.Result.X[k], sd[k])
		}
		if fit.Result.Active != nil && fit.Result.Active[k] != 0 {
			text += map[int]string{-1: ", at its lower bound", 1: ", at its upper bound"}[fit.Result.Active[k]]
		}
		rows = append(rows, [2]string{name, text})
	}
	return ParameterRows(rows)
}

// contourFigure draws the contours of a pair and the fit.
func contourFigure(fit *expr.Fitted, names [2]string) (*viz.Figure, error) {
	l := viz.Lines{XLabel: names[0], YLabel: names[1]}
	for _, c := range fit.Contours {
		if c.Names != names {
			continue
		}
		x, y := slices.Clone(c.X), slices.Clone(c.Y)
		l.Curves = append(l.Curves, viz.Line{Name: fmt.Sprintf("%.3g %%", 100*c.Level), X: append(x, x[0]), Y: append(y, y[0])})
	}
	l.Curves = append(l.Curves, viz.Line{Name: "fit", X: []float64{fit.Result.Value(names[0])}, Y: []float64{fit.Result.Value(names[1])}})
	return viz.Plots(names[0]+" and "+names[1], l)
}

// mostParts is the largest number of components that are drawn by themselves.
const mostParts = 6

// between is the number of places of the line beside those of the data.
const between = 300

// exprFigure draws the data with their errors, the fitted formula against x, and its bands where the fit leaves degrees of freedom; a panel for each label where
// parameters have values of their own for labels.
func exprFigure(fit *expr.Fitted, name string, x, predicted []float64) (*viz.Figure, error) {
	index := fit.Problem.Index()
	if index == "" {
		v, err := exprLine(fit, name, x, predicted, nil, nil)
		if err != nil {
			return nil, err
		}
		return viz.Fit(*v)
	}
	rows, labels, err := fit.Problem.GroupsOf(index)
	if err != nil {
		return nil, err
	}
	var all []viz.Curve
	for k, own := range rows {
		v, err := exprLine(fit, name, x, predicted, own, map[string]string{index: labels[k]})
		if err != nil {
			return nil, err
		}
		v.Title = labels[k]
		all = append(all, *v)
	}
	return viz.Multiples("Data and fit by "+index, all...)
}

// FormulaFits is the page of fits of groups, each under its title: data and models in panels.
func FormulaFits(file string, fits []*expr.Fitted, titles []string, s Settings) (*Page, error) {
	b := &Album{Note: s.Note, DPI: s.DPI}
	var all []viz.Curve
	good := 0
	for k, fit := range fits {
		if fit.Verdict.OK {
			good++
		}
		name, x, ok := fit.Problem.X()
		if !ok || fit.Problem.Index() != "" {
			continue
		}
		predicted, err := fit.Problem.Predicted(fit.Result)
		if err != nil {
			return nil, err
		}
		v, err := exprLine(fit, name, x, predicted, nil, nil)
		if err != nil {
			return nil, err
		}
		v.Title = titles[k]
		all = append(all, *v)
	}
	p := fits[0].Problem
	r := viz.Report{Title: p.Y + " = " + p.Expr, Facts: s.facts([]viz.Fact{{Name: "file", Value: file}, {Name: "model", Value: p.Expr}, {Name: "groups", Value: fmt.Sprint(len(fits))}},
		viz.Fact{Name: "verdict", Value: fmt.Sprintf("the model agrees with the data in %d of %d groups", good, len(fits)), Verdict: map[bool]viz.Verdict{true: viz.Good, false: viz.Bad}[good == len(fits)]})}
	if len(all) > 0 {
		drawn, err := viz.Multiples("Data and fits", all...)
		b.Add("fits", drawn, err)
		r.Sections = []viz.Section{{Title: "Data and models", Figures: b.Figures()}}
	}
	for k, fit := range fits[:min(len(fits), mostGroups)] {
		r.Sections = append(r.Sections, viz.Section{Title: titles[k], Text: fit.Verdict.Summary(), Tables: []string{fittedRows(fit)}})
	}
	return &Page{Report: r, Album: *b}, nil
}

// exprLine makes the curve of some rows, all for nil, with a band at their labels.
func exprLine(fit *expr.Fitted, name string, x, predicted []float64, rows []int, labels map[string]string) (*viz.Curve, error) {
	p := fit.Problem
	y, err := p.Observed()
	if err != nil {
		return nil, err
	}
	order := slices.Clone(rows)
	if order == nil {
		order = make([]int, len(x))
		for i := range order {
			order[i] = i
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	v := &viz.Curve{Title: "Data and fit", XLabel: name, YLabel: p.Y}
	order, v.Note = farthest(order, func(i int) float64 { return y[i] - predicted[i] })
	for _, i := range order {
		v.X, v.Y, v.LineX, v.Line = append(v.X, x[i]), append(v.Y, y[i]), append(v.LineX, x[i]), append(v.Line, predicted[i])
		if p.Sigma != "" {
			v.Err = append(v.Err, p.Data[p.Sigma].Values[i])
		}
	}
	return v, addBands(v, fit, name, labels)
}

// addBands makes the line finer, and adds the band of the curve and that of new data, if there are any.
func addBands(v *viz.Curve, fit *expr.Fitted, name string, labels map[string]string) error {
	lo, hi := v.X[0], v.X[len(v.X)-1]
	x := slices.Clone(v.X)
	for i := range between {
		x = append(x, lo+(hi-lo)*float64(i)/(between-1))
	}
	slices.Sort(x)
	x = slices.Compact(x)
	rows := map[string]expr.Column{name: {Values: x}}
	for over, label := range labels {
		rows[over] = expr.Column{Labels: slices.Repeat([]string{label}, len(x))}
	}
	b, err := fit.Bands(rows)
	if b == nil || err != nil {
		return err
	}
	v.LineX, v.Line, v.InnerLow, v.InnerHigh, v.Low, v.High = x, b.Mean, b.Low, b.High, b.NewLow, b.NewHigh
	parts, err := fit.Parts(name, rows)
	if err != nil {
		return err
	}
	for _, part := range parts[:min(len(parts), mostParts)] {
		v.Others = append(v.Others, viz.Line{Name: part.Name, X: x, Y: part.Y})
	}
	v.BandName, v.InnerName = "95 % of new data", "95 % of the curve"
	return nil
}
