// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Penalty is a Gaussian prior on a parameter of the motion, or on its logarithm, that a fit of least squares adds to the sum of squares.
type Penalty struct {
	Name     string
	Mean, SD float64
	Log      bool // true if Mean and SD are those of the natural logarithm of the parameter
}

// at returns the residual of a penalty at a value, in standard deviations, and its derivative.
func (p Penalty) at(v float64) (residual, slope float64) {
	if p.Log {
		return (math.Log(v) - p.Mean) / p.SD, 1 / (p.SD * v)
	}
	return (v - p.Mean) / p.SD, 1 / p.SD
}

// PenaltyWeight returns by how much a square of a penalty counts as much as the sum of squares of a fit without penalties: the sum of squares
// for each entry that would be independent. Entries share frames, so that there are fewer of these than entries.
func (f *Fit) PenaltyWeight(ctx context.Context, d Data, s Settings) (float64, error) {
	effective, err := f.effective(ctx, d, s)
	if err != nil {
		return 0, err
	}
	if w := f.SSQ / effective; w > 0 && !math.IsInf(w, 0) {
		return w, nil
	}
	return 0, fmt.Errorf("twotime: how much priors weigh against the data is not known, as the entries leave a sum of squares of %.3g at %.3g independent entries: give the number of speckles, or sample the posterior", f.SSQ, effective)
}

// penalise adds the penalties to the products of derivatives and residuals at parameters of the motion, whose first columns are those of n
// coefficients.
func (f *fitter) penalise(products *mat.SymDense, n int) {
	last := products.SymmetricDim() - 1
	for _, p := range f.s.Penalties {
		k := slices.Index(f.names, p.Name)
		i := slices.Index(f.free, k)
		if k < 0 || i < 0 {
			continue
		}
		r, slope := p.at(f.at[k])
		w := f.s.PenaltyWeight
		products.SetSym(n+i, n+i, products.At(n+i, n+i)+w*slope*slope)
		products.SetSym(n+i, last, products.At(n+i, last)+w*slope*r)
		products.SetSym(last, last, products.At(last, last)+w*r*r)
	}
}

// penalty returns the part of the penalties in the sum of squares at parameters of the motion.
func (f *fitter) penalty(theta []float64) (part float64) {
	for _, p := range f.s.Penalties {
		if k := slices.Index(f.names, p.Name); slices.Contains(f.free, k) {
			r, _ := p.at(theta[k])
			part += f.s.PenaltyWeight * r * r
		}
	}
	return part
}

// WithPenalties returns the errors of a fit to the same data with penalties, by the precision that they add to the covariance of the
// fit without:
//
//	C' = (C^-1 + P)^-1,  P_kk = 1 / sd_k^2
//
// The fit is that with the penalties, about whose values the intervals lie.
func (e *SharedErrors) WithPenalties(f *Fit, penalties []Penalty) (*SharedErrors, error) {
	n := len(f.X)
	var factor mat.Cholesky
	if !factor.Factorize(mat.NewSymDense(n, slices.Clone(e.Cov))) {
		return nil, fmt.Errorf("twotime: the data alone cannot tell all %d parameters apart, so that the errors with priors are not known: sample the posterior", n)
	}
	var precision mat.SymDense
	if err := factor.InverseTo(&precision); err != nil {
		return nil, err
	}
	for _, p := range penalties {
		if k := slices.Index(f.Names, p.Name); k >= 0 {
			_, slope := p.at(f.X[k])
			precision.SetSym(k, k, precision.At(k, k)+slope*slope)
		}
	}
	var cov mat.SymDense
	if !factor.Factorize(&precision) {
		return nil, fmt.Errorf("twotime: the errors with priors cannot be computed, as their precision is lost to rounding: sample the posterior")
	}
	if err := factor.InverseTo(&cov); err != nil {
		return nil, err
	}
	out := &SharedErrors{Effective: e.Effective, Noise: e.Noise, sides: e.sides, Cov: make([]float64, n*n)}
	for i, x := range f.X {
		sd := math.Sqrt(cov.At(i, i))
		out.SD = append(out.SD, sd)
		shrunk := sd / e.SD[i]
		half := shrunk * (e.Intervals[i][1] - e.Intervals[i][0]) / 2
		out.Intervals = append(out.Intervals, [2]float64{x - half, x + half})
		for j := range n {
			out.Cov[i*n+j] = cov.At(i, j)
		}
	}
	return out, nil
}
