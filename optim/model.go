// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Observed holds data with their errors: Sigma holds standard deviations, or Cov holds the whole
// covariance, row-major. If both are nil, the standard deviations are 1.
type Observed struct {
	Y, Sigma, Cov []float64
}

// FromModel makes the problem of fitting model, a Node with as many elements as there are data, by
// its inputs params. The residuals are (model - y)/sigma, or L^-1 (model - y) with the Cholesky
// factor L of the covariance.
func FromModel(model *ad.Node, params []*ad.Node, d Observed) (*Problem, error) {
	if err := givenNodes("optim.FromModel", "model", model, params); err != nil {
		return nil, err
	}
	m := len(d.Y)
	if model.Err() == nil && model.Size() != m && model.Size() != 1 {
		return nil, fmt.Errorf("optim: the model has %d elements, but there are %d data: want one element for each datum", model.Size(), m)
	}
	if !linalg.AllFinite(d.Y) {
		return nil, fmt.Errorf("optim: the data contain NaN or infinity: leave those points out")
	}
	r := ad.Sub(ad.Broadcast(ad.Reshape(model, model.Size()), m), ad.Const(d.Y))
	switch {
	case d.Sigma != nil && d.Cov != nil:
		return nil, fmt.Errorf("optim: both Sigma and Cov are given: set only one of them")
	case d.Sigma != nil:
		if err := positive("sigma", d.Sigma, m); err != nil {
			return nil, err
		}
		r = ad.Div(r, ad.Const(d.Sigma))
	case d.Cov != nil:
		l, err := choleskyOf(d.Cov, m)
		if err != nil {
			return nil, err
		}
		r = ad.Reshape(ad.SolveTriangular(ad.Const(l, m, m), r, true, false), m)
	}
	return FromGraph(r, params)
}

// positive checks errors of m data.
func positive(what string, s []float64, m int) error {
	if len(s) != m {
		return fmt.Errorf("optim: %s has %s: want %d", what, errtext.Count(len(s), "value"), m)
	}
	for i, v := range s {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("optim: %s[%d] is %g: want a finite number above 0", what, i, v)
		}
	}
	return nil
}

// choleskyOf returns the lower Cholesky factor of a covariance, row-major.
func choleskyOf(cov []float64, n int) ([]float64, error) {
	if len(cov) != n*n {
		return nil, fmt.Errorf("optim: the covariance has %d elements, but there are %d values: want %d elements", len(cov), n, n*n)
	}
	l := make([]float64, n*n)
	for i := range n {
		copy(l[i*n:i*n+i+1], cov[i*n:])
	}
	if row, _ := linalg.Cholesky(l, n); row >= 0 {
		return nil, fmt.Errorf("optim: the covariance is not positive definite at row %d: add a small number to its diagonal", row)
	}
	return l, nil
}
