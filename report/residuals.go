// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/viz"
)

// residualTitle says what a figure of residuals shows.
const residualTitle = "Residuals, with a band of two standard deviations"

// residualPanel draws the residuals of a verdict along their first axis.
func residualPanel(v check.Verdict, title string) (*viz.Figure, error) {
	return viz.Fit(residualCurve(v, title))
}

// residualCurve returns the residuals in standard deviations with a band of two.
func residualCurve(v check.Verdict, title string) viz.Curve {
	c := viz.Curve{Title: title, XLabel: "point", YLabel: "residual (standard deviations)", BandName: "2 standard deviations"}
	axis := check.Axis{}
	if len(v.Axes) > 0 {
		axis = v.Axes[0]
		c.XLabel = axis.Name
		if axis.Unit != "" {
			c.XLabel += " (" + axis.Unit + ")"
		}
	}
	order := make([]int, len(v.Residuals))
	for i := range order {
		order[i] = i
	}
	at := func(i int) float64 {
		if axis.Values == nil {
			return float64(i + 1)
		}
		return axis.Values[i]
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(at(i), at(j)) })
	order, c.Note = farthest(order, func(i int) float64 { return v.Residuals[i] })
	for _, i := range order {
		c.X, c.Y = append(c.X, at(i)), append(c.Y, v.Residuals[i])
		c.LineX, c.Line = append(c.LineX, at(i)), append(c.Line, 0)
		c.Low, c.High = append(c.Low, -2), append(c.High, 2)
	}
	if n := len(c.X); n > 0 {
		c.LogX = c.X[0] > 0 && c.X[n-1] > 100*c.X[0]
	}
	return c
}

// modelSection returns the section of a report that judges the model.
func modelSection(v check.Verdict, b *Album) viz.Section {
	s := viz.Section{Title: "Model against data", Tables: []string{v.HTML()}}
	if len(v.Residuals) > 0 {
		f, err := residualPanel(v, residualTitle)
		if b.Add("residuals", f, err); err == nil {
			s.Figures = append(s.Figures, f)
		}
	}
	return s
}

// fitFact is the verdict about the model of a point fit.
func fitFact(v check.Verdict) viz.Fact {
	return viz.Fact{Name: "verdict", Value: v.Summary(), Verdict: verdictIf(v.OK)}
}

// countFact is the verdict about the models of several bins or stars: those that converged to a model that agrees, of all.
func countFact(what string, good, all int) viz.Fact {
	return viz.Fact{Name: "verdict", Value: fmt.Sprintf("The fits of %d of %d %s converged to a model that agrees with the data.", good, all, what), Verdict: verdictIf(good == all)}
}

// verdictFact returns both parts of a verdict in their colours.
func verdictFact(chains diag.Report, model check.Verdict) viz.Fact {
	f := viz.Fact{Name: "verdict", Value: chains.Verdict() + " " + model.Summary(), Verdict: viz.Good}
	if !chains.OK() || !model.OK {
		f.Verdict = viz.Bad
	}
	return f
}
