// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim"
)

// Fit solves the problem that LeastSquares returned and judges the result. If model and data
// disagree, it starts again from other points; a lower minimum replaces the result, and its warnings
// say so.
func (p *Problem) Fit(ctx context.Context, problem *optim.Problem, s optim.Settings) (*optim.Result, check.Verdict, error) {
	r, err := optim.LeastSquares(ctx, problem, s)
	if err != nil {
		return nil, check.Verdict{}, err
	}
	p.tellRounding(r, s)
	v, err := p.judge(r)
	if err != nil || p.tellConflicts(ctx, problem, s, r.X, &v) || !v.Disagrees() || p.linear {
		return r, v, err
	}
	better := elsewhere(ctx, problem, s, r)
	if better == nil {
		return r, v, nil
	}
	better.Warnings = append(better.Warnings, fmt.Sprintf("the minimum found from the given start, with cost %.6g, did not describe the data; further starts found this one, with cost %.6g", r.Cost, better.Cost))
	v, err = p.judge(better)
	return better, v, err
}

// judge tests the residuals along every column that the formula uses.
func (p *Problem) judge(r *optim.Result) (check.Verdict, error) {
	d := check.FromFit(r)
	if d.Relative {
		d.Penalised = len(d.Priors) > 0
		d.Priors = nil // they are in units of the errors, which only the fit without them tells: see tellConflicts
	}
	axes, err := p.Axes()
	if err != nil {
		return check.Verdict{}, err
	}
	y, err := p.Observed()
	if err != nil {
		return check.Verdict{}, err
	}
	if err := p.atTrueValues(axes, r); err != nil {
		return check.Verdict{}, err
	}
	d.Axes = axes
	if p.Implicit {
		return check.Judge(d, check.Settings{})
	}
	readings, err := p.Readings()
	if err != nil {
		return check.Verdict{}, err
	}
	d.Findings = append(d.Findings, readings...)
	if !p.plainFit() {
		d.Mean, err = p.meanOf(r)
		if err != nil {
			return check.Verdict{}, err
		}
		return check.Judge(d, check.Settings{})
	}
	if linalg.MaxAbs(y) == 0 && linalg.MaxAbs(d.Z) < 1e-140 { // what is left of the start
		d.Z = make([]float64, len(y))
	}
	d.Findings = append(d.Findings, p.unvarying(r.Names, y, d.Z)...)
	if p.Sigma != "" {
		d.Sigma = p.Data[p.Sigma].Values
	}
	d.Mean = p.predicted(y, d.Z)
	if p.Sigma != "" && !d.Relative {
		if err := p.asCounts(&d, y); err != nil {
			return check.Verdict{}, err
		}
	}
	if d.Relative {
		d.Step = check.StepOf(y)
	}
	inOwnUnit(&d)
	return check.Judge(d, check.Settings{})
}

// inOwnUnit takes residuals and predicted values whose scale is unknown in units of the largest where their squares would come near the ends of 64-bit numbers, as no verdict depends on the unit.
func inOwnUnit(d *check.Data) {
	unit := linalg.MaxAbs(d.Z)
	if !d.Relative || unit == 0 || math.Abs(math.Log10(unit)) < 100 {
		return
	}
	d.Step /= unit
	for _, v := range [][]float64{d.Z, d.Mean, d.Jacobian} {
		for i := range v {
			v[i] /= unit
		}
	}
}

// Predicted returns the values of the formula at the data for a result of Fit, in the units of y.
func (p *Problem) Predicted(r *optim.Result) ([]float64, error) {
	if !p.plainFit() {
		return p.meanOf(r)
	}
	y, err := p.Observed()
	if err != nil {
		return nil, err
	}
	return p.predicted(y, check.FromFit(r).Z), nil
}

// meanOf returns the values of the formula at the data.
func (p *Problem) meanOf(r *optim.Result) ([]float64, error) {
	values := map[string]*ad.Node{}
	for i, name := range r.Names {
		values[name] = ad.Scalar(r.X[i])
	}
	m, err := p.curve(p.Data, values)
	if err != nil {
		return nil, err
	}
	v, err := ad.Numbers(m)
	if err != nil {
		return nil, err
	}
	return slices.Clone(v[0]), nil
}

// predicted takes residuals, which are in standard deviations if there are errors, from the observed values.
func (p *Problem) predicted(observed, residuals []float64) []float64 {
	mean := slices.Clone(observed)
	for i, z := range residuals {
		if p.Sigma != "" {
			z *= p.Data[p.Sigma].Values[i]
		}
		mean[i] -= z
	}
	return mean
}

// unvarying returns a flag if all observed values are equal and have no errors of their own: nothing then shows how large their errors
// are, and a formula of several parameters fits them exactly whatever the parameters of its empty terms are. Where a single parameter
// leaves residuals, these show it.
func (p *Problem) unvarying(names []string, y, residuals []float64) []check.Flag {
	if p.Sigma != "" || len(names) == 0 || len(names) >= len(y) || slices.Min(y) < slices.Max(y) {
		return nil
	}
	f := check.Flag{Kind: check.KindUnknown, Where: strings.Join(names, ", "),
		Text:   fmt.Sprintf("all %d observed values are %.6g, so the data do not determine the %d parameters one by one, and their errors say nothing", len(y), y[0], len(names)),
		Remedy: "fit one constant, or give a column of errors as sigma; check that this is the right column"}
	if len(names) == 1 {
		if linalg.MaxAbs(residuals) > 1e-9*math.Abs(y[0]) {
			return nil
		}
		f.Text = fmt.Sprintf("all %d observed values are %.6g, so nothing shows how large their errors are, and the error of %s says nothing", len(y), y[0], names[0])
		f.Remedy = "give a column of errors as sigma; check that this is the right column"
	}
	return []check.Flag{f}
}

// CheckSample judges draws from the posterior along every column that the formula uses. If all observed values are equal and what sets
// their scatter is a parameter, it falls as far as the prior and the sampler let it, and residuals are rounding errors: the verdict is then
// that the data do not determine it, and nothing else. A model that takes up all data, as in a fit without degrees of freedom, is not
// judged to agree.
func (p *Problem) CheckSample(fit *infer.Fit) (check.Verdict, error) {
	axes, err := p.Axes()
	if err != nil {
		return check.Verdict{}, err
	}
	readings, err := p.Readings()
	if err != nil {
		return check.Verdict{}, err
	}
	y, err := p.Observed()
	if err != nil {
		return check.Verdict{}, err
	}
	v, err := fit.CheckModel(infer.CheckSettings{Axes: axes, Findings: readings})
	if err != nil {
		return v, err
	}
	if scale := p.freeScale(); len(scale) > 0 && len(y) > 1 && slices.Min(y) == slices.Max(y) {
		v.OK, v.Flags = false, []check.Flag{{Kind: check.KindUnknown, Where: strings.Join(scale, ", "),
			Text:   fmt.Sprintf("all %d observed values are %.6g, so their standard deviation may be as small as its prior allows, and the widths of the posterior say nothing", len(y), y[0]),
			Remedy: "give a column of errors as sigma; check that this is the right column"}}
		fit.Quote(v)
		return v, nil // more than that the density is unbounded
	}
	if p.conflictsOfDraws(fit, &v) {
		return fit.Quote(v), nil
	}
	if v.OK {
		taken, err := fit.Determined(p.free(p.Expr)...)
		if err != nil {
			return v, err
		}
		if float64(len(y))-taken < leastLeft {
			v.OK, v.Flags = false, []check.Flag{check.NothingLeft()}
			v = fit.Quote(v)
		}
	}
	return v, nil
}

// leastLeft is the number of points beyond the parameters that they determine from which a posterior is judged.
const leastLeft = 0.5

// freeScale returns the parameters that set the scatter of a continuous likelihood.
func (p *Problem) freeScale() (names []string) {
	sigma := cmp.Or(p.Sigma, "sigma")
	if p.Likelihood == "" {
		return p.free(sigma)
	}
	c, err := formula.ParseCall(p.Likelihood)
	if err != nil {
		return nil
	}
	l, err := dist.FamilyByName(c.Name)
	if err != nil {
		return nil
	}
	example := make([]any, len(l.Params))
	for i := range example {
		example[i] = l.At[0][i]
	}
	if l.Make(example...).Discrete {
		return nil
	}
	for _, name := range c.Names() {
		if name == "sigma" {
			name = sigma
		}
		if name != "mu" {
			names = append(names, p.free(name)...)
		}
	}
	slices.SortFunc(names, natural)
	return slices.Compact(names)
}

// free returns the sampled parameters on which a formula depends, through those that are tied.
func (p *Problem) free(text string) (names []string) {
	f, err := formula.Parse(text)
	if err != nil {
		return nil
	}
	sampled := p.parameters()
	for _, name := range f.Names() {
		if tied := p.Tied[name]; tied != "" {
			names = append(names, p.free(tied)...)
		} else if _, column := p.Data[name]; !column && slices.Contains(sampled, name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, natural)
	return slices.Compact(names)
}

// Readings returns flags about the observed values themselves.
func (p *Problem) Readings() ([]check.Flag, error) {
	y, err := p.Observed()
	if err != nil {
		return nil, err
	}
	axes, err := p.Axes()
	if err != nil {
		return nil, err
	}
	var others [][]float64
	for _, a := range axes {
		others = append(others, a.Values)
	}
	return check.Readings(y, others...), nil
}

// Axes returns the columns along which residuals are judged: those that the formula uses, then all
// others except those of the observed values and their errors.
func (p *Problem) Axes() ([]check.Axis, error) {
	f, err := formula.Parse(p.Expr)
	if err != nil {
		return nil, fmt.Errorf("expr: %w", err)
	}
	var axes []check.Axis
	add := func(name string) {
		c, column := p.Data[name]
		if !column || slices.ContainsFunc(axes, func(a check.Axis) bool { return a.Name == name }) {
			return
		}
		a := check.Axis{Name: name, Values: c.Values}
		if c.Labels != nil {
			var code []int
			a.Levels, code = c.levels()
			a.Values = make([]float64, len(code))
			for i, k := range code {
				a.Values[i] = float64(k + 1)
			}
		}
		if slices.Min(a.Values) < slices.Max(a.Values) {
			axes = append(axes, a)
		}
	}
	for _, name := range f.Names() {
		add(name)
	}
	observed, err := formula.Parse(p.Y)
	if err != nil {
		return nil, fmt.Errorf("expr: y: %w", err)
	}
	for _, name := range sortedKeys(p.Data) {
		if name != p.Sigma && !slices.Contains(observed.Names(), name) {
			add(name)
		}
	}
	return axes, nil
}

// elsewhere fits from points spread over the bounds or, where there are none, over two decades about
// the start. It returns nil if no minimum is lower than that of r.
func elsewhere(ctx context.Context, p *optim.Problem, s optim.Settings, r *optim.Result) *optim.Result {
	lower, upper := box(p)
	found, err := optim.MultiStart(ctx, p, optim.MultiSettings{Settings: s, Starts: 24, Seed: 1, Lower: lower, Upper: upper})
	if err != nil || !found[0].Status.Converged() || !(found[0].Cost < r.Cost*(1-1e-6)) {
		return nil
	}
	return found[0].Result
}

// around returns a tenth of a start and ten times a start, or -1 and 1 for a start of 0.
func around(x float64) (lower, upper float64) {
	switch {
	case x > 0:
		return x / 10, 10 * x
	case x < 0:
		return 10 * x, x / 10
	}
	return -1, 1
}
