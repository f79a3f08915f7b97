// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// A standard deviation says how far a parameter may move, with the others following it, until chi-square has risen by 1. It comes
// from derivatives at the minimum. Where an error is about as large as its parameter, that can be checked by going there.

const (
	// looseError is the error relative to the parameter from which the covariance is checked.
	looseError = 0.5
	// farFromLinear is the factor by which the rise of chi-square may differ from what the covariance promises.
	farFromLinear = 25
)

// tellMeaninglessErrors names parameters whose standard deviations promise what the model does not keep: chi-square one
// standard deviation away, on either side, is many times larger or smaller than the covariance says, the error covers all that
// the bounds allow, or the parameter is lost among the others and not even the residuals change by it as the derivatives say.
func (d *dense) tellMeaninglessErrors(r *Result) {
	if d.m-d.p.extra < 1 || r.FreeCov == nil || !(r.Cost > 0) || r.DoF() < 1 {
		return
	}
	for i, x := range r.X {
		sd := math.Sqrt(r.FreeCov[i*d.n+i])
		quoted := math.Sqrt(r.Cov[i*d.n+i])
		whole := x-quoted < d.p.Lower[i] && x+quoted > d.p.Upper[i]
		if whole {
			sd = quoted
		}
		if r.Active[i] != 0 || !whole && !(sd > looseError*math.Abs(x)) || math.IsInf(sd, 1) || slices.Contains(r.Undetermined, d.p.name(i)) {
			continue
		}
		why := ""
		if whole {
			why = fmt.Sprintf("it may only lie between %.3g and %.3g", d.p.Lower[i], d.p.Upper[i])
		} else {
			why = d.unkept(r, i, sd)
		}
		if why == "" && sd > math.Abs(x) && d.column[i]*sd > lost*math.Sqrt(r.Scale) && d.saturates(r, i, sd) {
			why = "no curve looks different one standard deviation away if the other parameters follow"
		}
		if why != "" {
			r.Undetermined = append(r.Undetermined, d.p.name(i))
			r.Warnings = append(r.Warnings, fmt.Sprintf("the data do not determine %s: it is %.3g +- %.2g, but %s: fix it, add data or use a simpler model", d.p.name(i), x, sd, why))
		}
	}
}

// unkept says by how much chi-square rises one standard deviation from parameter i, or returns "" if that is as the
// covariance says on one side.
func (d *dense) unkept(r *Result, i int, sd float64) (why string) {
	at := make([]float64, d.n)
	for _, side := range []float64{-1, 1} {
		t := d.towards(at, r, i, side*sd)
		if t < 0.3 {
			continue // a bound is nearer
		}
		rise := 2 * (d.costAt(at) - r.Cost) / r.Scale
		if by := rise / (t * t); by <= farFromLinear && by >= 1.0/farFromLinear {
			return ""
		}
		why = fmt.Sprintf("at %.3g chi-square rises by %.2g instead of by 1", at[i], rise)
	}
	return why
}

// lost is the factor by which the other parameters enlarge an error from which a parameter may be lost among them.
const lost = 1e3

// saturates reports whether the residuals change far less, or far more, by a standard deviation of parameter i alone than
// their derivative says.
func (d *dense) saturates(r *Result, i int, sd float64) bool {
	at, f := slices.Clone(r.X), make([]float64, d.m)
	for _, side := range []float64{1, -1} {
		at[i] = r.X[i] + side*sd
		if at[i] > d.p.Upper[i] || at[i] < d.p.Lower[i] {
			continue
		}
		if d.p.Residual(f, at) != nil {
			return true
		}
		for k, v := range r.Residuals {
			f[k] -= v
		}
		by := linalg.Norm(f) / (d.column[i] * sd)
		return !(by > 0.1 && by < 10)
	}
	return false
}

// costAt returns the cost at a point, +Inf where there is none.
func (d *dense) costAt(x []float64) float64 {
	f := make([]float64, d.m)
	if d.p.Residual(f, x) != nil {
		return math.Inf(1)
	}
	return d.costOf(f)
}

// towards sets at to the point at which parameter i has moved by step and the others have followed it, as far as the bounds allow,
// and returns the fraction of the step that was taken.
func (d *dense) towards(at []float64, r *Result, i int, step float64) float64 {
	t := 1.0
	for k, x := range r.X {
		move := step * r.FreeCov[k*d.n+i] / r.FreeCov[i*d.n+i]
		if math.IsNaN(move) || math.IsInf(move, 0) {
			return 0
		}
		at[k] = move
		switch {
		case move > 0:
			t = min(t, (d.p.Upper[k]-x)/move)
		case move < 0:
			t = min(t, (d.p.Lower[k]-x)/move)
		}
	}
	for k, x := range r.X {
		at[k] = min(max(x+t*at[k], d.p.Lower[k]), d.p.Upper[k])
	}
	return t
}

// tellOutOfRange names parameters whose variance is no 64-bit number, and makes it NaN. A variance is 0 where the model meets all
// data exactly.
func (d *dense) tellOutOfRange(r *Result) {
	for k := range d.n {
		at := k*d.n + k
		if r.Scale == 0 || r.Cov[at] != 0 || !(d.column[k] > 0) {
			continue
		}
		r.Cov[at], r.FreeCov[at] = math.NaN(), math.NaN()
		r.Warnings = append(r.Warnings, fmt.Sprintf("the error of %s, whose value is %.3g, cannot be given: its square is below the smallest 64-bit number; give the data in other units", d.p.name(k), r.X[k]))
	}
}
