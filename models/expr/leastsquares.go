// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/optim"
)

// LeastSquares returns the residual (expr - y)/sigma as a function of the parameters that have a
// start or are tied, in natural order of their names, with starts and bounds, and the settings of
// the method in the document.
func (p *Problem) LeastSquares() (*optim.Problem, optim.Settings, error) {
	return p.LeastSquaresOn(nil)
}

// LeastSquaresOn is LeastSquares with the residual and its derivatives on a backend, such as
// ad.CUDA{}. Nil is one thread of the CPU.
func (p *Problem) LeastSquaresOn(b ad.Backend) (*optim.Problem, optim.Settings, error) {
	out, s, err := p.leastSquares(b)
	if err != nil {
		return out, s, fmt.Errorf("expr: %w", err)
	}
	p.inUnitsOfErrors(out, &s)
	return out, s, nil
}

// settings are those of the method in the document.
func (p *Problem) settings() (optim.Settings, error) {
	s := optim.Settings{Method: optim.Method(p.Method), Loss: optim.Loss(p.Loss), LossScale: p.FScale, Fixed: p.Fixed,
		FTol: p.FTol, XTol: p.XTol, GTol: p.GTol, MaxEvaluations: p.MaxNFev, RelativeSigma: p.Sigma == "" && p.Cov == nil && !p.Implicit}
	for _, n := range []struct {
		field string
		v     float64
	}{{"f_scale", p.FScale}, {"ftol", p.FTol}, {"xtol", p.XTol}, {"gtol", p.GTol}, {"max_nfev", float64(p.MaxNFev)}} {
		if n.v < 0 {
			return s, fmt.Errorf("%s is %g: want a number above 0, or leave it out for the default", n.field, n.v)
		}
	}
	if p.Absolute != nil {
		s.RelativeSigma = !*p.Absolute
	}
	if len(p.Flat)+len(p.NonCentred) > 0 || p.Likelihood != "" {
		return s, fmt.Errorf("flat, likelihood and noncentred are only for sampling, and least squares does not use them: leave them out, or sample")
	}
	return s, p.checkImplicit()
}

func (p *Problem) leastSquares(b ad.Backend) (*optim.Problem, optim.Settings, error) {
	s, err := p.settings()
	if err != nil {
		return nil, s, err
	}
	model, err := p.formula()
	if err != nil {
		return nil, s, err
	}
	names, err := p.fitted(model)
	if err != nil {
		return nil, s, err
	}
	vectors, err := p.vectors(model)
	if err != nil {
		return nil, s, err
	}
	values, n, err := p.columns()
	if err != nil {
		return nil, s, err
	}
	y, err := p.observed(values, n)
	if err != nil {
		return nil, s, err
	}
	if err := p.enough(names, vectors, n); err != nil {
		return nil, s, err
	}
	if values[p.Sigma] != nil { // before values in units of their errors are looked at
		if _, err := p.errorColumn(values); err != nil {
			return nil, s, err
		}
	}
	if err := p.squarable(model, y); err != nil {
		return nil, s, err
	}
	if s.RelativeSigma && p.Sigma == "" {
		s.LeastScale = roundingVariance(y)
	}
	m, params, variables, err := p.modelOf(model, names, values, n)
	if err != nil {
		return nil, s, err
	}
	if s.Priors, err = p.penalties(names, vectors); err != nil {
		return nil, s, err
	}
	m, shared, err := p.withShared(m, n)
	if err != nil {
		return nil, s, err
	}
	params, s.Priors = append(params, shared.inputs...), append(s.Priors, shared.priors...)
	var out *optim.Problem
	if len(variables) > 0 {
		out, err = p.orthogonal(m, y, params, variables)
	} else {
		var r *ad.Node
		if r, err = p.residual(m, y, values); err == nil {
			out, err = optim.FromGraphOn(b, r, params)
		}
	}
	if err != nil {
		return nil, s, err
	}
	for _, name := range names {
		v, elements := p.Start[name], vectors[name].elements(name)
		if len(v) > 1 && len(v) != len(elements) {
			return nil, s, fmt.Errorf("start gives %s %d numbers: want %s", name, len(v), map[bool]string{true: "1", false: fmt.Sprintf("1, or one for each of %d labels", len(elements))}[len(elements) == 1])
		}
		for k := range elements {
			at := p.Fixed[name] // 0 for what is tied: its value follows
			if len(v) > 0 {
				at = v[min(k, len(v)-1)]
			}
			out.Start = append(out.Start, at)
		}
	}
	s.Fixed = p.held(vectors)
	out.Start = append(out.Start, make([]float64, len(shared.inputs))...)
	if err := p.limit(out, out.Names); err != nil {
		return nil, s, err
	}
	s.Tied, err = p.ties(out.Names)
	return out, s, err
}

// held are the values of fixed parameters, by element.
func (p *Problem) held(vectors map[string]vector) map[string]float64 {
	if len(p.Fixed) == 0 {
		return nil
	}
	out := map[string]float64{}
	for name, v := range p.Fixed {
		for _, e := range vectors[name].elements(name) {
			out[e] = v
		}
	}
	return out
}

// modelOf makes the graph of the formula, its parameters, and the columns that have errors.
func (p *Problem) modelOf(model *formula.Formula, names []string, values map[string]*ad.Node, n int) (m *ad.Node, params []*ad.Node, variables []optim.Variable, err error) {
	vectors, err := p.vectors(model)
	if err != nil {
		return nil, nil, nil, err
	}
	inputs := map[string]*ad.Node{}
	for _, name := range names {
		for _, e := range vectors[name].elements(name) {
			inputs[e] = ad.Input(e)
			params = append(params, inputs[e])
		}
		values[name] = inputs[name]
	}
	if err := p.assemble(values, model, p.Data, func(e string) *ad.Node { return inputs[e] }); err != nil {
		return nil, nil, nil, err
	}
	for _, name := range model.Names() {
		if !indexes(model.Indices(), name) {
			if err := p.labels(p.Expr, name); err != nil {
				return nil, nil, nil, err
			}
		}
	}
	if len(p.SigmaX) > 0 && model.OfRows() {
		return nil, nil, nil, fmt.Errorf("sigma_x: %q has a function of all rows together, such as a spline or a convolution, which needs columns without errors: leave sigma_x out", p.Expr)
	}
	if variables, err = p.uncertainInputs(values, n, model.Names()); err != nil {
		return nil, nil, nil, err
	}
	m, err = model.Node(values)
	switch missing := slices.ContainsFunc(model.Names(), func(name string) bool { return values[name] == nil }); {
	case missing:
		return nil, nil, nil, fmt.Errorf("%w: give it a start or a column", err)
	case err != nil:
		return nil, nil, nil, err
	}
	return m, params, variables, perRow(model, m, n)
}

// residual is (m - y)/sigma, made independent from row to row.
func (p *Problem) residual(m *ad.Node, y []float64, values map[string]*ad.Node) (*ad.Node, error) {
	r := ad.Broadcast(ad.Sub(m, ad.Const(y)), len(y))
	if p.Sigma != "" {
		sigma, err := p.errorColumn(values)
		if err != nil {
			return nil, err
		}
		r = ad.Div(r, sigma)
	}
	return p.whitened(r, len(y))
}

// formula is that of the model.
func (p *Problem) formula() (*formula.Formula, error) {
	f, err := formula.Parse(p.Expr)
	if err != nil {
		return nil, fmt.Errorf("field expr: %w", err)
	}
	return f, nil
}

// fitted lists the parameters of a least-squares fit.
func (p *Problem) fitted(model *formula.Formula) (names []string, err error) {
	take := func(field, name string) {
		switch _, column := p.Data[name]; {
		case err != nil:
		case column:
			err = fmt.Errorf("%s is both a column and a parameter: rename one of them", name)
		case !slices.Contains(model.Names(), name):
			err = fmt.Errorf("%s has %s, which the formula %q does not use", field, name, p.Expr)
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	for _, name := range sortedKeys(p.Start) {
		take("start", name)
	}
	for _, name := range sortedKeys(p.Fixed) {
		take("fixed", name)
	}
	for _, name := range sortedKeys(p.Tied) {
		take("tied", name)
	}
	slices.SortFunc(names, natural)
	return names, err
}

// errorColumn returns the column of errors, which must be positive.
func (p *Problem) errorColumn(values map[string]*ad.Node) (*ad.Node, error) {
	if err := p.labels("sigma", p.Sigma); err != nil {
		return nil, err
	}
	sigma := values[p.Sigma]
	if sigma == nil || p.Data[p.Sigma].Len() == 0 {
		return nil, fmt.Errorf("sigma: there is no column %q: name a column of standard errors, or sample if it is a parameter", p.Sigma)
	}
	for i, v := range p.Data[p.Sigma].Values {
		if !(v > 0) {
			return nil, fmt.Errorf("sigma: %s is %g in %s: want errors above 0, or leave the row out", p.Sigma, v, p.Row(i))
		}
	}
	return sigma, nil
}

// ties reads the formulas of tied parameters in terms of the others.
func (p *Problem) ties(names []string) (map[string]*ad.Node, error) {
	out := map[string]*ad.Node{}
	for name, text := range p.Tied {
		e, err := formula.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("tied %s: %w", name, err)
		}
		values := map[string]*ad.Node{}
		for _, other := range names {
			values[other] = ad.Input(other)
			if whole, _, element := strings.Cut(other, "["); element && slices.Contains(e.Names(), whole) {
				return nil, fmt.Errorf("tied %s: %q uses %s, which has a value for each label: tie parameters without an index", name, text, whole)
			}
		}
		if out[name], err = e.Node(values); err != nil {
			return nil, fmt.Errorf("tied %s: %w", name, err)
		}
	}
	return out, nil
}

func (p *Problem) limit(out *optim.Problem, names []string) error {
	if len(p.Bounds) == 0 {
		return nil
	}
	out.Lower, out.Upper = slices.Repeat([]float64{math.Inf(-1)}, len(names)), slices.Repeat([]float64{math.Inf(1)}, len(names))
	for name, b := range p.Bounds {
		found := false
		for i, e := range names {
			if e == name || strings.HasPrefix(e, name+"[") {
				out.Lower[i], out.Upper[i] = b[0], b[1]
				found = true
			}
		}
		if !found {
			return fmt.Errorf("bounds: %s is not a parameter of start: give bounds [lower, upper] only to parameters that have a start", name)
		}
	}
	return nil
}
