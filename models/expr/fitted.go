// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/optim"
)

// Fitted is a problem with its fit.
type Fitted struct {
	Problem  *Problem
	Result   *optim.Result
	Verdict  check.Verdict
	Contours []optim.Contour // regions of pairs of parameters, those of a pair one after another
}

// Bands are a fitted curve with its standard deviation, the limits between which it lies with 95 % at each place, and those of new data.
type Bands struct {
	Mean, SD, Low, High, NewLow, NewHigh []float64
}

// Bands returns the bands at rows of other columns, or at those of the data for nil. They are nil if the fit leaves no degrees of freedom does not
// determine the curve, or the formula is implicit. Errors of new data are those of the data, interpolated along the column of X.
func (f *Fitted) Bands(rows map[string]Column) (*Bands, error) {
	r := f.Result
	if f.Problem.Implicit || r.Cov == nil || r.DoF() <= 0 || math.IsInf(r.Scale, 0) {
		return nil, nil
	}
	curve, err := f.Problem.Band(r, rows, optim.BandSettings{})
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(curve.SD, func(s float64) bool { return math.IsNaN(s) || math.IsInf(s, 0) }) {
		return nil, nil
	}
	data, err := f.Problem.Band(r, rows, optim.BandSettings{Sigma: f.Problem.sigmaAt(rows)})
	if err != nil {
		return nil, err
	}
	return &Bands{curve.Mean, curve.SD, curve.Lower, curve.Upper, data.Lower, data.Upper}, nil
}

// Part is the curve of a component of the formula.
type Part struct {
	Name string // prefix with the function in brackets, such as "p1 (gaussian)"
	Y    []float64
}

// Parts returns the curves of the components of one column at rows, where the formula has more than one.
func (f *Fitted) Parts(column string, rows map[string]Column) ([]Part, error) {
	model, err := f.Problem.formula()
	if err != nil {
		return nil, err
	}
	var out []Part
	for _, part := range model.Parts() {
		if part.Variable != column || part.Before > 1 {
			continue
		}
		own := *f.Problem
		own.Expr = part.Name + "(" + column + ", " + part.Prefix + ")"
		if part.Prefix == "" {
			own.Expr = part.Name + "(" + column + ")"
		}
		own.Data = rows
		y, err := own.meanOf(f.Result)
		if err != nil {
			return nil, err
		}
		name := part.Name
		if part.Prefix != "" {
			name = strings.TrimSuffix(part.Prefix, "_") + " (" + part.Name + ")"
		}
		out = append(out, Part{name, y})
	}
	if len(out) < 2 {
		return nil, nil
	}
	return out, nil
}

// sigmaAt is the error of a new datum at rows; 1, in units of the estimated one, without errors.
func (p *Problem) sigmaAt(rows map[string]Column) []float64 {
	if p.Sigma == "" {
		return []float64{1}
	}
	sigma := p.Data[p.Sigma].Values
	name, x, ok := p.X()
	if rows == nil || !ok {
		return sigma
	}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	out := make([]float64, len(rows[name].Values))
	for i, v := range rows[name].Values {
		k, found := slices.BinarySearchFunc(order, v, func(j int, v float64) int { return cmp.Compare(x[j], v) })
		switch {
		case found || k == 0:
			out[i] = sigma[order[k]]
		case k == len(x):
			out[i] = sigma[order[k-1]]
		default:
			a, b := order[k-1], order[k]
			u := (v - x[a]) / (x[b] - x[a])
			out[i] = (1-u)*sigma[a] + u*sigma[b]
		}
	}
	return out
}
