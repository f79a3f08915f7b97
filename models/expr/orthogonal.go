// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/optim"
)

// uncertainInputs puts inputs in place of the columns that have errors.
func (p *Problem) uncertainInputs(values map[string]*ad.Node, rows int, used []string) (variables []optim.Variable, err error) {
	for _, name := range sortedKeys(p.SigmaX) {
		c, ok := p.Data[name]
		switch {
		case !ok || c.Labels != nil:
			return nil, fmt.Errorf("sigma_x: there is no column of numbers %s%s", name, meant(name, p.Numeric()))
		case !slices.Contains(used, name):
			return nil, fmt.Errorf("sigma_x: the formula %q does not use the column %s", p.Expr, name)
		}
		sigma, err := p.errorsOf(name, p.SigmaX[name])
		if err != nil {
			return nil, fmt.Errorf("sigma_x: %w", err)
		}
		values[name] = ad.Input(name, rows)
		variables = append(variables, optim.Variable{Node: values[name], Values: c.Values, Sigma: sigma})
	}
	return variables, nil
}

// errorsOf reads the errors of a column: the name of a column of them, a number, or a share such as 5%.
func (p *Problem) errorsOf(name, text string) ([]float64, error) {
	if c, ok := p.Data[text]; ok && c.Labels == nil {
		for i, v := range c.Values {
			if !(v >= 0) {
				return nil, fmt.Errorf("%s is %g in %s: want errors of 0 or above", text, v, p.Row(i))
			}
		}
		return c.Values, nil
	}
	share, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(share, 64)
	if err == nil && !(x > 0 && !math.IsInf(x, 0)) {
		return nil, fmt.Errorf("the errors of %s are %s: want a number above 0, a share such as 5%%, or a column", name, text)
	}
	if err != nil {
		return nil, fmt.Errorf("the errors of %s are %s, which is neither a column, a number above 0, nor a share such as 5%%%s", name, text, meant(text, p.Numeric()))
	}
	if !percent {
		return []float64{x}, nil
	}
	var out []float64
	for _, v := range p.Data[name].Values {
		out = append(out, x/100*math.Abs(v))
	}
	return out, nil
}

// orthogonal is the problem of a model whose variables have errors.
func (p *Problem) orthogonal(m *ad.Node, y []float64, params []*ad.Node, variables []optim.Variable) (*optim.Problem, error) {
	switch {
	case p.Cov != nil || p.AR1 != "":
		return nil, fmt.Errorf("sigma_x is given with cov or ar1, which describe errors of y alone: give one of them")
	case p.Implicit && p.Sigma != "":
		return nil, fmt.Errorf("an implicit formula has errors of its columns (sigma_x) only: leave sigma out")
	case !p.Implicit && p.Sigma == "":
		return nil, fmt.Errorf("sigma_x needs the errors of %s beside it, as their ratio decides where the curve goes: give sigma", p.Y)
	}
	d := optim.ErrorsInX{Params: params, Variables: variables, Responses: []optim.Response{{Model: ad.Broadcast(m, len(y))}}}
	switch {
	case len(p.CorrelationXY) > 0:
		if err := p.together(&d, y); err != nil {
			return nil, err
		}
	case !p.Implicit:
		d.Responses[0].Y, d.Responses[0].Sigma = y, p.Data[p.Sigma].Values
	}
	o, err := optim.FromErrorsInX(d)
	if err != nil {
		return nil, err
	}
	p.trueValues = o.True
	return o.Problem, nil
}

// atTrueValues puts the values where a fit with errors in x says that the rows really are in place of those measured: residuals go with the measured ones, as an error of x
// moves both, so that a right model would show a pattern at the ends.
func (p *Problem) atTrueValues(axes []check.Axis, r *optim.Result) error {
	if len(p.SigmaX) == 0 || p.trueValues == nil {
		return nil
	}
	values, err := p.trueValues(r)
	if err != nil {
		return err
	}
	for k, name := range sortedKeys(p.SigmaX) {
		for i := range axes {
			if axes[i].Name == name && len(values[k]) == len(axes[i].Values) {
				axes[i].Values = values[k]
			}
		}
	}
	return nil
}

// together makes Y one of the variables, so that its errors may be correlated with those of the others: the formula less Y is 0 at the true values.
func (p *Problem) together(d *optim.ErrorsInX, y []float64) error {
	correlations, _, err := p.correlations(len(y))
	if err != nil {
		return err
	}
	truth := ad.Input("the true "+p.Y, len(y))
	sy, k := p.Data[p.Sigma].Values, len(d.Variables)
	d.Cov = make([]float64, len(y)*(k+1)*(k+1))
	for i := range y {
		c := d.Cov[i*(k+1)*(k+1):]
		for j, name := range sortedKeys(p.SigmaX) {
			s := d.Variables[j].Sigma
			sx := s[min(i, len(s)-1)]
			c[j*(k+1)+j] = sx * sx
			if r := correlations[name]; r != nil {
				c[j*(k+1)+k] = r[i] * sx * sy[i]
				c[k*(k+1)+j] = c[j*(k+1)+k]
			}
		}
		c[k*(k+1)+k] = sy[i] * sy[i]
	}
	d.Variables = append(d.Variables, optim.Variable{Node: truth, Values: y})
	d.Responses[0].Model = ad.Sub(d.Responses[0].Model, truth)
	return nil
}

// correlations reads CorrelationXY, for each row, and returns beside them the part of the variance of Y that the errors of the columns do not tell.
func (p *Problem) correlations(rows int) (all map[string][]float64, rest []float64, err error) {
	all, rest = map[string][]float64{}, slices.Repeat([]float64{1}, rows)
	if p.Implicit && len(p.CorrelationXY) > 0 {
		return nil, nil, fmt.Errorf("correlation_xy: an implicit formula describes no y: leave it out")
	}
	for _, name := range sortedKeys(p.CorrelationXY) {
		if p.SigmaX[name] == "" {
			return nil, nil, fmt.Errorf("correlation_xy: the column %s has no errors%s: give them in sigma_x", name, meant(name, sortedKeys(p.SigmaX)))
		}
		text := p.CorrelationXY[name]
		c, column := p.Data[text]
		r := c.Values
		if !column || c.Labels != nil {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, nil, fmt.Errorf("correlation_xy: the correlation of the errors of %s and %s is %s, which is neither a column of numbers nor a number%s", name, p.Y, text, meant(text, p.Numeric()))
			}
			r = slices.Repeat([]float64{x}, rows)
		}
		for i, x := range r {
			if rest[i] -= x * x; !(rest[i] > 0) {
				return nil, nil, fmt.Errorf("correlation_xy: in %s the correlation of the errors of %s and %s is %g: want numbers between -1 and 1, whose squares have a sum below 1", p.Row(i), name, p.Y, x)
			}
		}
		all[name] = r
	}
	return all, rest, nil
}

// plainFit reports whether residuals are (expr - y)/sigma.
func (p *Problem) plainFit() bool {
	return len(p.SigmaX) == 0 && !p.Implicit && p.Cov == nil && p.AR1 == ""
}

// checkImplicit returns an error if an implicit formula has no errors to measure distances by, or if there are correlations of errors that are not given.
func (p *Problem) checkImplicit() error {
	if len(p.CorrelationXY) > 0 && len(p.SigmaX) == 0 {
		return fmt.Errorf("correlation_xy needs errors of x: give sigma_x")
	}
	if p.Implicit && len(p.SigmaX) == 0 {
		return fmt.Errorf("an implicit formula needs errors of its columns: give sigma_x")
	}
	return nil
}
