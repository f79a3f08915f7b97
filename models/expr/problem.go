// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package expr makes models from formulas in text: a Problem is a JSON document with columns of
// numbers, a formula of these columns and of parameters, and what is known about the parameters. It
// lets people fit and sample without writing Go.
//
//	p, err := expr.Parse(document)
//	m, err := p.Model()                      // for infer: needs priors
//	least, settings, err := p.LeastSquares() // for optim: needs starts
//
// The document for sampling:
//
//	{"expr": "b1*(1-exp(-b2*x))", "data": {"x": [..], "y": [..]}, "sigma": "s",
//	 "priors": {"b1": "normal(240, 50)", "b2": "lognormal(-7, 1)", "s": "halfnormal(5)"}}
//
// Arguments of priors are formulas of other parameters. A parameter with a group
// has one element for each label of a column, theta[school].
package expr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/optim"
)

// Problem is the document. Formulas are those of package autodiff/formula.
type Problem struct {
	// Expr is the formula of the model, of columns and parameters; Likelihood calls its value mu.
	Expr string            `json:"expr"`
	Data map[string]Column `json:"data"` // columns of numbers or labels, of equal lengths
	// Y holds the observed values: a column or a formula of columns. Default "y".
	Y string `json:"y,omitempty"`
	// Sigma is the standard deviation of Y: a column or, for sampling, a formula of columns and parameters. A fit without it weights
	// all rows alike.
	Sigma string             `json:"sigma,omitempty"`
	Fixed map[string]float64 `json:"fixed,omitempty"` // values of parameters held fixed
	Units map[string]string  `json:"units,omitempty"` // units of parameters, for readers of tables and documents
	Tied  map[string]string  `json:"tied,omitempty"`  // formulas of parameters that follow from others
	Start map[string]Values  `json:"start,omitempty"` // starting values of a fit; chains need none

	// Bounds are [lower, upper], with null for none. Without a prior, a sampled parameter is uniform
	// between them; with a prior, the prior is truncated.
	Bounds map[string]Bounds `json:"bounds,omitempty"`

	// Priors and the fields up to NonCentred are settings of sampling. Priors are distributions of package infer/dist, by parameter, with formulas
	// as arguments, such as "normal(0, 2*tau)".
	Priors map[string]string `json:"priors,omitempty"`
	// Flat lists parameters without a prior, between their bounds if they have any.
	Flat []string `json:"flat,omitempty"`
	// Likelihood is the distribution of an observation. Default "normal(mu, sigma)", in which mu is always the value of Expr
	// and sigma that of Sigma.
	Likelihood string            `json:"likelihood,omitempty"`
	Groups     map[string]Group  `json:"groups,omitempty"`     // parameters that are vectors
	NonCentred []string          `json:"noncentred,omitempty"` // parameters sampled by their standardised form, see infer.NonCentred
	Derived    map[string]string `json:"derived,omitempty"`    // formulas of parameters: stored with every draw, or given with a fit and its errors

	// SigmaX are errors of columns that the formula uses, by column: the name of a column of standard deviations, a number, or a share such as "5%". Fits
	// then find the true values of these columns as well; see optim.ErrorsInX. Samplers draw them, x_true for a column x, under a flat prior or that which Priors has for the column.
	SigmaX map[string]string `json:"sigma_x,omitempty"`
	// CorrelationXY are correlations, between -1 and 1, of the errors of columns of SigmaX with those of Y in the same row, by column: the name of a column, or a number.
	CorrelationXY map[string]string `json:"correlation_xy,omitempty"`
	// Implicit says that the formula is 0 at the true values of its columns, which have errors SigmaX. There is no Y then.
	Implicit bool `json:"implicit,omitempty"`
	// Cov is the covariance of Y, a row of numbers for each row of the data, in place of Sigma. A document may name a file of it.
	Cov Matrix `json:"cov,omitempty"`
	// ScaleError and OffsetError are standard deviations of a factor and of an offset of Y that all rows share, or those with the same label: "2%", or "0.1 over run". They are
	// fitted as parameters with a normal prior.
	ScaleError  string `json:"scale_error,omitempty"`
	OffsetError string `json:"offset_error,omitempty"`
	// AR1 is the correlation of the errors of neighbouring rows, such as "0.6", "auto", or "0.6 over run".
	AR1 string `json:"ar1,omitempty"`

	// Loss and the fields below are settings of least squares; 0 and "" stand for the defaults of optim.Settings. Loss, "linear", "soft_l1", "huber",
	// "cauchy" or "arctan", and FScale, in standard deviations, are its Loss and LossScale; Method, "lm", "trf" or "dogbox", is
	// its Method, and MaxNFev its MaxEvaluations.
	Loss   string  `json:"loss,omitempty"`
	FScale float64 `json:"f_scale,omitempty"`
	Method string  `json:"method,omitempty"`
	// Absolute says that Sigma is absolute, so that the covariance is not scaled by the reduced chi-square. Default true with Sigma, else false.
	Absolute *bool   `json:"absolute_sigma,omitempty"`
	FTol     float64 `json:"ftol,omitempty"`
	XTol     float64 `json:"xtol,omitempty"`
	GTol     float64 `json:"gtol,omitempty"`
	MaxNFev  int     `json:"max_nfev,omitempty"`

	places *places // of the rows in files
	linear bool    // in all parameters, so that there is one minimum
	// trueValues are those of the columns of SigmaX, in order of their names, at a result of the problem that LeastSquares made last.
	trueValues func(*optim.Result) ([][]float64, error)
}

// Group names the column over which a parameter is a vector: one element for each label of the
// column, in order of appearance.
type Group struct {
	Over string `json:"over"` // name of a column, usually of labels
}

// Parse reads a document; unknown fields are errors.
func Parse(b []byte) (*Problem, error) { return ParseIn(b, nil) }

// ParseIn reads a document whose data may be the name of a file with a table, which read returns; see package data/columns.
func ParseIn(b []byte, read func(name string) ([]byte, error)) (*Problem, error) {
	b, err := foreign.Problem(b, foreign.FormulaProblem)
	if err != nil {
		return nil, fmt.Errorf("expr: %w", err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, fmt.Errorf("expr: %w", foreign.InWords(b, err))
	}
	if raw == nil {
		return nil, fmt.Errorf(`expr: the document is null: want an object, such as {"expr": "a + b*x", "data": {...}}`)
	}
	b, files, tables, err := withFile(b, raw, read)
	if err != nil {
		return nil, err
	}
	if b, err = withMatrix(b, raw, read); err != nil {
		return nil, err
	}
	fields := fieldNames(reflect.TypeFor[Problem]())
	for name := range raw {
		if !slices.Contains(fields, name) {
			return nil, fmt.Errorf("expr: unknown field %q%s", name, meant(name, fields))
		}
	}
	p := &Problem{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		if column := unreadable(raw["data"]); column != nil {
			return nil, fmt.Errorf("expr: %w", column)
		}
		var kind *json.UnmarshalTypeError
		if limit := string(raw["max_nfev"]); errors.As(err, &kind) && kind.Field == "max_nfev" && strings.HasPrefix(kind.Value, "number") {
			return nil, fmt.Errorf("expr: field max_nfev is %s: want a whole number, such as 1000", foreign.Short(limit, 40))
		}
		return nil, fmt.Errorf("expr: %w", foreign.InWords(b, err))
	}
	if tables != nil {
		p.From(files, tables)
	}
	if y, model, ok := SplitFormula(p.Expr); ok {
		if p.Y != "" && p.Y != y {
			return nil, fmt.Errorf("expr: field expr says that %s is described, and field y says %s: give one of them", y, p.Y)
		}
		p.Y, p.Expr = y, model
	}
	if p.Y == "" {
		if p.Y = "y"; p.Implicit {
			p.Y = "0"
		}
	}
	if strings.TrimSpace(p.Expr) == "" {
		return nil, fmt.Errorf(`expr: field expr is missing or empty: give the formula of the model, such as "expr": "a + b*x"`)
	}
	p.Complete()
	if err := p.ordered(); err != nil {
		return nil, err
	}
	if err := p.reserved(); err != nil {
		return nil, err
	}
	return p, nil
}

// SplitFormula takes "y = a + b*x", or "y ~ a + b*x", apart into what is described and the model; ok is false for a model alone.
func SplitFormula(text string) (y, model string, ok bool) {
	i := strings.IndexAny(text, "=~")
	if i < 0 {
		return "", text, false
	}
	y, model = strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+1:])
	return y, model, y != "" && model != "" && !strings.ContainsAny(y, "<>!") && !strings.HasPrefix(model, "=")
}

// unreadable returns the error of the first column that cannot be read, with its name.
func unreadable(data []byte) error {
	var all map[string]json.RawMessage
	if len(data) == 0 || json.Unmarshal(data, &all) != nil {
		return nil
	}
	for _, name := range sortedKeys(all) {
		if err := new(Column).UnmarshalJSON(all[name]); err != nil {
			return fmt.Errorf("column %s: %w", name, foreign.InWords(nil, err))
		}
	}
	return nil
}

// reserved refuses names that end in __, as the columns of the sampler's statistics do.
func (p *Problem) reserved() error {
	names := slices.Concat(sortedKeys(p.Start), sortedKeys(p.Bounds), sortedKeys(p.Fixed), sortedKeys(p.Tied), sortedKeys(p.Priors), p.Flat, sortedKeys(p.Groups), sortedKeys(p.Derived))
	for _, name := range names {
		if strings.HasSuffix(name, "__") {
			return fmt.Errorf("expr: parameter %q: names that end in __, such as lp__, are reserved for the sampler: leave out the underscores", name)
		}
	}
	return nil
}

func fieldNames(t reflect.Type) (all []string) {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		all = append(all, name)
	}
	return all
}

// meant suggests the name that was probably meant.
func meant(name string, names []string) string {
	slices.Sort(names)
	if m := spelling.Meant(name, names); m != "" {
		return fmt.Sprintf(": did you mean %q?", m)
	}
	return fmt.Sprintf(": there are %s", strings.Join(names, ", "))
}
