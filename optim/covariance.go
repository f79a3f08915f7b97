// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// covariances fills rank, singular values and covariances: the pseudo-inverse
// of J^T J, from the singular values of J with columns scaled to length 1, so
// that units do not decide what counts as small. J is that of the residuals
// themselves, also under a robust loss: see Sandwich.
func (d *dense) covariances(r *Result) {
	if d.weights != nil {
		for k := range d.n {
			d.column[k] = linalg.Norm(r.Jacobian[k*d.m : (k+1)*d.m])
		}
	}
	r.Cov = d.pseudoInverse(r, func(int) bool { return true }, true)
	r.FreeCov = r.Cov
	for _, a := range r.Active {
		if a != 0 {
			r.FreeCov = d.pseudoInverse(r, func(i int) bool { return r.Active[i] == 0 }, false)
			break
		}
	}
	r.scaleErrors(d.s.RelativeSigma)
	d.tellRunaways(r)
	d.tellMeaninglessErrors(r)
	d.tellAbsent(r)
	d.tellOutOfRange(r)
}

// runaway is how far a parameter goes from its start, in units of that or of 1, if nothing in the data holds it.
const runaway = 1e5

// tellRunaways names parameters that are far from their start and whose error is larger than their value. The Jacobian
// need not be singular there: a decay time of 1e8 still changes the residuals a little.
func (d *dense) tellRunaways(r *Result) {
	for i, x := range r.X {
		if d.p.Start == nil || r.Active[i] != 0 || r.FreeCov == nil {
			continue
		}
		start, sd := d.p.Start[i], math.Sqrt(r.FreeCov[i*d.n+i])
		if math.Abs(x-start) > runaway*max(1, math.Abs(start)) && sd > math.Abs(x) {
			if !slices.Contains(r.Undetermined, d.p.name(i)) {
				r.Undetermined = append(r.Undetermined, d.p.name(i))
			}
			r.Warnings = append(r.Warnings, fmt.Sprintf("the data do not determine %s: it went from %.3g to %.3g with an error of %.1e: bound it, fix it or add data", d.p.name(i), start, x, sd))
		}
	}
}

// scaleErrors multiplies the covariances by what a robust loss costs and, if the errors of the data are known only up to a factor, by the
// square of that.
func (r *Result) scaleErrors(relative bool) {
	switch {
	case r.Robust() && r.Residuals != nil && (r.DoF() > 0 || !relative):
		least := 0.0
		if !relative {
			least = r.loss.normalFactor(r.lossScale)
		}
		r.Scale = r.loss.errorFactor(r.Residuals[:r.M-r.PriorResiduals], r.lossScale, r.PriorResiduals, r.DoF(), least)
	case r.DoF() > 0 && relative:
		r.Scale = max(r.ReducedChiSquared(), r.leastScale)
	case relative:
		r.Scale = math.Inf(1)
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s for %s: the scale of the errors cannot be estimated", errtext.Count(r.M, "residual"), errtext.Count(r.NFree, "parameter")))
	}
	if r.Robust() && r.DoF() > 0 && math.IsInf(r.Scale, 1) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("most of the residuals lie where the loss %s falls off, so the scale of the errors cannot be estimated: increase the scale of the loss, or use huber", r.loss))
	}
	if r.Scale == 1 {
		return
	}
	all := [][]float64{r.Cov, r.FreeCov}
	if len(r.Cov) == 0 || &r.Cov[0] == &r.FreeCov[0] {
		all = all[:1]
	}
	for _, c := range all {
		for i := range c {
			if c[i] *= r.Scale; math.IsInf(r.Scale, 1) {
				c[i] = r.Scale
			}
		}
	}
}

// pseudoInverse inverts over the parameters that pass use; describe records
// rank and undetermined directions in r.
func (d *dense) pseudoInverse(r *Result, use func(i int) bool, describe bool) []float64 {
	n := d.n
	s, v := d.directions(r.Jacobian, use)
	top := linalg.MaxAbs(s)
	cov := make([]float64, n*n)
	lost := make([]bool, n)
	rank := 0
	for k, sk := range s {
		dir := v[k*n : (k+1)*n]
		if sk <= 0x1p-52*float64(max(d.m, n))*top {
			if describe {
				r.NullVectors = append(r.NullVectors, d.nullVector(dir))
			}
			for i, c := range dir {
				lost[i] = lost[i] || use(i) && math.Abs(c) > 1e-8
			}
			continue
		}
		rank++
		for i := range dir { // the direction in parameters of one unit each
			if dir[i] /= sk; d.column[i] > 0 {
				dir[i] /= d.column[i]
			} else {
				dir[i] = 0
			}
		}
		for i, a := range dir {
			if a != 0 {
				linalg.AddScaled(cov[i*n:(i+1)*n], a, dir)
			}
		}
	}
	for i := range n {
		if lost[i] {
			cov[i*n+i] = math.Inf(1)
		}
	}
	if describe {
		r.Rank, r.SingularValues = rank, s
		d.tellUndetermined(r)
	}
	return cov
}

// directions returns singular values and right vectors of the Jacobian with
// columns of length 1, without those that do not pass use.
func (d *dense) directions(j []float64, use func(i int) bool) (s, v []float64) {
	n, rows := d.n, d.q.M
	for k, c := range d.column {
		to := d.q.A[k*rows : (k+1)*rows]
		clear(to)
		if c == 0 || !use(k) {
			continue
		}
		for i, x := range j[k*d.m : (k+1)*d.m] {
			to[i] = x / c
		}
	}
	d.q.Factor()
	r := make([]float64, n*n)
	for k, to := range d.q.Perm {
		copy(r[to*n:], d.q.A[k*rows:k*rows+k])
		r[to*n+k] = d.q.Diag[k]
	}
	s, v = make([]float64, n), make([]float64, n*n)
	linalg.SVD(r, n, n, s, v)
	return s, v
}

// nullVector returns a direction in parameters, its largest element 1.
func (d *dense) nullVector(dir []float64) []float64 {
	out := make([]float64, len(dir))
	for i, c := range dir {
		if out[i] = c; d.column[i] > 0 {
			out[i] /= d.column[i]
		}
		if math.Abs(c) <= 1e-8 {
			out[i] = 0
		}
	}
	most := linalg.MaxAbs(out)
	for _, v := range out { // of elements as large as the largest the first becomes 1
		if math.Abs(v) > (1-1e-9)*most {
			linalg.Scale(out, 1/v)
			break
		}
	}
	return out
}

// tellUndetermined names the null vectors, without parameters that move the residuals by less than 1e-4 of what the others do.
func (d *dense) tellUndetermined(r *Result) {
	for _, dir := range r.NullVectors {
		var b strings.Builder
		effect := make([]float64, len(dir))
		for i, c := range dir {
			if effect[i] = c; d.column[i] > 0 {
				effect[i] *= d.column[i]
			}
		}
		least := 1e-4 * linalg.MaxAbs(effect)
		for i, c := range dir {
			name := d.p.name(i)
			switch {
			case math.Abs(effect[i]) <= least:
				continue
			case b.Len() > 0 && c > 0:
				b.WriteString(" + ")
			case b.Len() > 0:
				b.WriteString(" - ")
				c = -c
			case c < 0:
				b.WriteString("-")
				c = -c
			}
			if math.Abs(c-1) > 5e-4 {
				fmt.Fprintf(&b, "%.3g ", c)
			}
			b.WriteString(name)
		}
		r.Undetermined = append(r.Undetermined, b.String())
	}
	if len(r.Undetermined) > 0 {
		r.Warnings = append(r.Warnings, "the data do not determine "+strings.Join(r.Undetermined, ", ")+": fix a parameter or add data")
	}
}
