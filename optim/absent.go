// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

const (
	// absent is the number of standard deviations from 0 below which noise can make an amplitude, where a free place or time
	// lets it pick the largest of many.
	absent = 4
	// idle is the length of a column of the Jacobian, relative to that at the result, below which a parameter changes nothing.
	idle = 1e-10
)

// tellAbsent names parameters that would change nothing if another one, which noise alone could have made, were 0: the decay time
// of a decay that is not there, or the place of a peak. Their errors come from that amplitude. An amplitude on a bound, or near
// one that excludes 0, is tried by what the data lose without it.
func (d *dense) tellAbsent(r *Result) {
	if r.FreeCov == nil || r.DoF() < 1 {
		return
	}
	here := slices.Clone(d.x)
	defer copy(d.x, here)
	var at []float64
	for i, x := range here {
		if sd := math.Sqrt(r.Cov[i*d.n+i]); x == 0 || math.IsInf(sd, 1) || !(math.Abs(x) < absent*sd) {
			continue
		}
		if at == nil {
			at = make([]float64, d.m*d.n)
		}
		copy(d.x, here)
		d.x[i] = 0
		if d.jacobian(at) != nil {
			continue
		}
		if own := linalg.Norm(at[i*d.m:(i+1)*d.m]) / d.column[i]; !(own > 0.5 && own < 2) {
			continue // no amplitude: a width or a time of 0 leaves no model to speak of
		}
		small := r.Active[i] == 0 && math.Abs(x) < absent*math.Sqrt(r.FreeCov[i*d.n+i]) && (!d.p.bounded() || d.p.Lower[i] <= 0 && d.p.Upper[i] >= 0)
		if !small && !d.dispensable(r, at, i) {
			continue
		}
		d.tellWithout(r, at, i, x, small)
	}
}

// tellWithout names the parameters whose columns of the Jacobian, in at, are 0 without amplitude i, which is x at the result. small says whether its own
// error covers 0.
func (d *dense) tellWithout(r *Result, at []float64, i int, x float64, small bool) {
	why := fmt.Sprintf("is %.3g +- %.2g, which noise alone could produce", x, math.Sqrt(r.Cov[i*d.n+i]))
	if !small {
		why = fmt.Sprintf("is %.3g, but the data are described as well, within noise, if it is 0", x)
	}
	for k := range d.n {
		name := d.p.name(k)
		if k == i || r.Active[k] != 0 && small || slices.Contains(r.Undetermined, name) || !(d.column[k] > 0) || !(linalg.Norm(at[k*d.m:(k+1)*d.m]) <= idle*d.column[k]) {
			continue
		}
		r.Undetermined = append(r.Undetermined, name)
		r.Warnings = append(r.Warnings, fmt.Sprintf("the data do not determine %s: %s %s, and without it %s has no effect: add data, or leave out the term that %s multiplies",
			name, d.p.name(i), why, name, d.p.name(i)))
	}
}

// dispensable reports whether chi-square rises by less than noise can make it if amplitude i is 0, as it is at d.x, and the other
// free parameters follow as their columns in at say.
func (d *dense) dispensable(r *Result, at []float64, i int) bool {
	f := make([]float64, max(d.m, d.n))
	if d.p.Residual(f[:d.m], d.x) != nil {
		return false
	}
	q := linalg.NewPivotedQR(max(d.m, d.n), d.n, linalg.NewArena(denseFloats(d.m, d.n)))
	q.N = 0
	for k := range d.n {
		column := at[k*d.m : (k+1)*d.m]
		if k == i || r.Active[k] != 0 || !(linalg.Norm(column) > idle*d.column[k]) {
			continue
		}
		to := q.A[q.N*q.M : (q.N+1)*q.M]
		clear(to)
		copy(to, column)
		q.N++
	}
	q.Factor()
	q.ProjectOut(f)
	return 2*(d.costOf(f[:d.m])-r.Cost)/r.Scale < absent*absent
}
