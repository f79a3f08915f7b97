// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

// Model is what the rows of a batch have in common.
type Model struct {
	// M and N are the numbers of residuals and of parameters of a row.
	M, N int
	// Params are the inputs that are fitted, and Columns those that differ from row to row.
	Params, Columns []*ad.Node
	// Names are the names of the N parameters.
	Names []string
}

// Rows are the data of all rows. It has the fields of optim.Rows.
type Rows struct {
	Columns      [][]float64
	Weights      []float64
	Start        []float64
	Guess        func(start []float64, columns [][]float64) error
	Lower, Upper []float64
	Count        int
}

// Settings are those of optim.BatchSettings that a fit depends on, with defaults filled in.
type Settings struct {
	LossScale        float64
	FTol, XTol, GTol float64
	MaxEvaluations   int
	FirstStep        float64
	NoPolish         bool
	RelativeSigma    bool
	// Factor returns the factor of the covariance under a robust loss from the residuals of a row. It is nil for least squares.
	Factor func(residuals []float64, dof int) float64
}

// Fits are the arrays of optim.BatchResult, into which fits are written row after row.
// FreeSD, Cov and Active may be nil.
type Fits struct {
	X, SD, FreeSD, Cov []float64
	Cost, ChiSquared   []float64
	Points, NFev       []int
	Status             []marquardt.Status
	Active             []int8
	// Fail notes why a row could not be fitted from x. It is called from several
	// goroutines at once.
	Fail func(row int, x []float64, err error)
}

// Lanes is the number of rows that run side by side, two vectors of AVX-512. Results depend
// on it to the last bit, so that it is the same for every batch.
const Lanes = 16
