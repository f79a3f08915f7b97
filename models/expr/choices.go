// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"fmt"
	"maps"
	"math"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// purposeFolds is the random stream of CrossValidate.
const purposeFolds uint32 = 134

// Minima fits from n starts spread over the bounds or, where there are none, over two decades about the start of the problem, and returns the minima that were found, the lowest
// first, with the number of starts that led to each.
func (p *Problem) Minima(ctx context.Context, problem *optim.Problem, s optim.Settings, n int, seed uint64) ([]optim.Found, error) {
	lower, upper := box(problem)
	return optim.MultiStart(ctx, problem, optim.MultiSettings{Settings: s, Starts: n, Seed: seed, Lower: lower, Upper: upper})
}

// box is where starts are spread.
func box(p *optim.Problem) (lower, upper []float64) {
	lower, upper = make([]float64, p.N), make([]float64, p.N)
	for i := range lower {
		lower[i], upper[i] = around(p.Start[i])
		if p.Lower != nil {
			if lo := p.Lower[i]; !math.IsInf(lo, 0) {
				lower[i] = lo
			}
			if hi := p.Upper[i]; !math.IsInf(hi, 0) {
				upper[i] = hi
			}
		}
		if !(lower[i] < upper[i]) {
			upper[i] = lower[i] + 1
		}
	}
	return lower, upper
}

// CrossValidate leaves out each of some folds of the rows in turn, fits the others from the fit r, and returns the root of the mean squared difference between what was left out and its
// prediction: in standard deviations where there are errors, and else in units of Y. Folds are drawn at random. It is NaN where the rows cannot be told apart: with errors in
// x, and correlated errors.
func (p *Problem) CrossValidate(ctx context.Context, r *optim.Result, folds int, seed uint64) (float64, error) {
	y, err := p.Observed()
	if err != nil {
		return math.NaN(), err
	}
	n := len(y)
	folds = min(folds, n)
	if folds < 2 {
		return math.NaN(), fmt.Errorf("expr: %s of %s: want 2 or more", errtext.Count(folds, "fold"), errtext.Count(n, "row"))
	}
	if !p.plainFit() {
		return math.NaN(), nil
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	random := tensor.NewStream(seed, purposeFolds, 0)
	for i := n - 1; i > 0; i-- {
		k := int(random.Float64() * float64(i+1))
		order[i], order[k] = order[k], order[i]
	}
	sum := 0.0
	for fold := range folds {
		var kept, left []int
		for i, row := range order {
			if i%folds == fold {
				left = append(left, row)
			} else {
				kept = append(kept, row)
			}
		}
		s, err := p.predictLeft(ctx, r, kept, left)
		if err != nil {
			return math.NaN(), err
		}
		sum += s
	}
	return math.Sqrt(sum / float64(n)), nil
}

// predictLeft returns the sum of squared differences of rows that were left out of a fit.
func (p *Problem) predictLeft(ctx context.Context, r *optim.Result, kept, left []int) (float64, error) {
	few, rest := p.Rows(kept), p.Rows(left)
	model, err := p.formula()
	if err != nil {
		return math.NaN(), err
	}
	vectors, err := few.vectors(model)
	if err != nil {
		return math.NaN(), err
	}
	few.Start = map[string]Values{}
	for _, name := range sortedKeys(p.Start) {
		for _, e := range vectors[name].elements(name) {
			few.Start[name] = append(few.Start[name], r.Value(e))
		}
	}
	least, s, err := few.LeastSquares()
	if err != nil {
		return math.NaN(), err
	}
	own, err := optim.LeastSquares(ctx, least, s)
	if err != nil {
		return math.NaN(), err
	}
	band, err := few.Band(own, rest.Data, optim.BandSettings{})
	if err != nil {
		return math.NaN(), err
	}
	y, err := rest.Observed()
	if err != nil {
		return math.NaN(), err
	}
	sum := 0.0
	for i, v := range y {
		d := v - band.Mean[i]
		if p.Sigma != "" {
			d /= rest.Data[p.Sigma].Values[i]
		}
		sum += d * d
	}
	return sum, nil
}

// With returns the problem with a parameter held at a value, or with another formula for "". Starts, bounds and derived quantities of components follow the formula.
func (p *Problem) With(formula, name string, value float64) *Problem {
	own := *p
	own.Fixed, own.Start, own.Bounds, own.Derived = maps.Clone(p.Fixed), maps.Clone(p.Start), maps.Clone(p.Bounds), maps.Clone(p.Derived)
	if formula != "" {
		own.Expr = formula
		own.Complete()
		return &own
	}
	if own.Fixed == nil {
		own.Fixed = map[string]float64{}
	}
	own.Fixed[name] = value
	delete(own.Start, name)
	delete(own.Bounds, name)
	return &own
}

// Relevant drops starts, bounds, fixed and tied values, priors and derived quantities of names that the formula does not have, so that one set of them serves several formulas.
func (p *Problem) Relevant() {
	f, err := p.formula()
	if err != nil {
		return
	}
	used := map[string]bool{}
	for _, n := range f.Names() {
		used[n] = true
	}
	drop := func(name string) bool { return !used[name] }
	maps.DeleteFunc(p.Start, func(n string, _ Values) bool { return drop(n) })
	maps.DeleteFunc(p.Bounds, func(n string, _ Bounds) bool { return drop(n) })
	maps.DeleteFunc(p.Fixed, func(n string, _ float64) bool { return drop(n) })
	p.Tied, p.Priors = maps.Clone(p.Tied), maps.Clone(p.Priors)
	maps.DeleteFunc(p.Tied, func(n, _ string) bool { return drop(n) })
	maps.DeleteFunc(p.Priors, func(n, _ string) bool { return drop(n) })
	for _, name := range sortedKeys(p.Derived) {
		few := *p
		few.Derived = map[string]string{name: p.Derived[name]}
		if few.Start == nil {
			few.Start = map[string]Values{}
		} else {
			few.Start = maps.Clone(few.Start)
		}
		for n := range used {
			_, column := p.Data[n]
			_, fixed := p.Fixed[n]
			if !column && !fixed && p.Tied[n] == "" && few.Start[n] == nil {
				few.Start[n] = Values{1}
			}
		}
		if _, err := few.Quantities(); err != nil {
			delete(p.Derived, name)
		}
	}
}
