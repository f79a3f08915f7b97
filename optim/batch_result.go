// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/euryale-dev/euryale/optim/internal/batch"
)

// BatchResult holds the fits of all rows of a batch.
type BatchResult struct {
	Names []string
	// X holds the B x N parameters. For a row that Failed it holds the start.
	X []float64
	// SD holds the B x N standard deviations: +Inf where the data of the row do not determine a
	// parameter, NaN for rows that Failed. FreeSD holds them with parameters at their bounds held
	// fixed; it is nil without bounds.
	SD, FreeSD []float64
	// Cov holds the B x N x N covariances. It is nil unless BatchSettings.Covariance was set.
	Cov []float64
	// Cost is the cost of each row, scale^2/2 sum rho.
	Cost []float64
	// ChiSquared is the sum of squared weighted residuals of each row.
	ChiSquared []float64
	// Points is the number of residuals in each row whose weight is not 0.
	Points []int
	Status []Status
	NFev   []int
	// Active holds B x N values: -1 or 1 where a parameter is on its lower or upper bound.
	// It is nil without bounds.
	Active []int8
	// Devices names where the rows were fitted: cpu, or GPUs such as cuda:0.
	Devices []string
	// Left is the number of rows that GPUs left to the processor to fit.
	Left int

	b       *Batch
	s       BatchSettings
	lock    sync.Mutex
	reasons map[int]string
}

func newBatchResult(b *Batch, rows int, s BatchSettings, bounded bool) *BatchResult {
	r := &BatchResult{Names: b.model.Names, b: b, s: s, reasons: map[int]string{}}
	r.X, r.SD = make([]float64, rows*b.model.N), repeated(math.NaN(), rows*b.model.N)
	r.Cost, r.ChiSquared = repeated(math.NaN(), rows), repeated(math.NaN(), rows)
	r.Points, r.NFev = make([]int, rows), make([]int, rows)
	r.Status = make([]Status, rows)
	for i := range r.Status {
		r.Status[i] = Interrupted
	}
	if bounded {
		r.FreeSD, r.Active = repeated(math.NaN(), rows*b.model.N), make([]int8, rows*b.model.N)
	}
	if s.Covariance {
		r.Cov = repeated(math.NaN(), rows*b.model.N*b.model.N)
	}
	return r
}

// fits are the arrays that goroutines write to.
func (r *BatchResult) fits() *batch.Fits {
	return &batch.Fits{X: r.X, SD: r.SD, FreeSD: r.FreeSD, Cov: r.Cov, Cost: r.Cost, ChiSquared: r.ChiSquared, Points: r.Points, NFev: r.NFev,
		Status: r.Status, Active: r.Active, Fail: r.fail}
}

// Row returns the parameters of a row.
func (r *BatchResult) Row(i int) []float64 { n := len(r.Names); return r.X[i*n : (i+1)*n] }

// SDs returns the standard deviations of a row.
func (r *BatchResult) SDs(i int) []float64 { n := len(r.Names); return r.SD[i*n : (i+1)*n] }

// Reason says why a row Failed, or otherwise what its status means.
func (r *BatchResult) Reason(i int) string {
	if s, ok := r.reasons[i]; ok {
		return s
	}
	return r.Status[i].Message()
}

// Relative reports whether the errors were scaled by the residuals themselves.
func (r *BatchResult) Relative() bool { return r.s.RelativeSigma }

// Robust reports whether the loss reduced the weight of outliers.
func (r *BatchResult) Robust() bool { return r.s.Loss != Linear && !r.s.Loss.plain() }

// Failures returns the indices of the rows that Failed.
func (r *BatchResult) Failures() []int {
	var out []int
	for i := range r.reasons {
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

// Converged returns the number of rows that converged.
func (r *BatchResult) Converged() int {
	n := 0
	for _, s := range r.Status {
		if s.Converged() {
			n++
		}
	}
	return n
}

// String returns one line with the number of rows of each status.
func (r *BatchResult) String() string {
	count := map[string]int{}
	for _, s := range r.Status {
		count[s.String()]++
	}
	out := fmt.Sprintf("%d rows:", len(r.Status))
	for _, s := range []string{"converged", "max_evaluations", "stuck", "interrupted", "failed"} {
		if count[s] > 0 {
			out += fmt.Sprintf(" %d %s", count[s], s)
		}
	}
	return out
}

func (r *BatchResult) fail(row int, x []float64, err error) {
	n := len(r.Names)
	r.Status[row] = Failed
	copy(r.X[row*n:(row+1)*n], x)
	r.lock.Lock()
	r.reasons[row] = fmt.Sprintf("row %d: %v", row, err)
	r.lock.Unlock()
}
