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

// BatchResult holds the fits of a batch, row after row.
type BatchResult struct {
	Names []string
	// X holds B x N parameters. For rows that Failed it is the start.
	X []float64
	// SD holds the standard deviations (B x N): +Inf for what the data of the row do
	// not determine, NaN for rows that Failed. FreeSD holds parameters on their
	// bounds fixed; it is nil without bounds.
	SD, FreeSD []float64
	// Cov holds B x N x N covariances, with BatchSettings.Covariance.
	Cov []float64
	// Cost is scale^2/2 sum rho of each row.
	Cost []float64
	// ChiSquared is the sum of squared weighted residuals of each row.
	ChiSquared []float64
	// Points is the number of residuals of each row whose weight is not 0.
	Points []int
	Status []Status
	NFev   []int
	// Active holds B x N values: -1 or 1 where a parameter is on its lower or upper bound.
	// It is nil without bounds.
	Active []int8
	// Devices are where the rows were fitted: cpu, or GPUs such as cuda:0.
	Devices []string
	// Left is the number of rows that GPUs left to the processor.
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

// Reason says why a row Failed, or what its status means.
func (r *BatchResult) Reason(i int) string {
	if s, ok := r.reasons[i]; ok {
		return s
	}
	return r.Status[i].Message()
}

// Relative reports whether the errors were scaled by the residuals themselves.
func (r *BatchResult) Relative() bool { return r.s.RelativeSigma }

// Robust reports whether the loss forgave outliers.
func (r *BatchResult) Robust() bool { return r.s.Loss != Linear && !r.s.Loss.plain() }

// Failures lists the rows that Failed.
func (r *BatchResult) Failures() []int {
	var out []int
	for i := range r.reasons {
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

// Converged counts the rows that converged.
func (r *BatchResult) Converged() int {
	n := 0
	for _, s := range r.Status {
		if s.Converged() {
			n++
		}
	}
	return n
}

// String is a line of counts by status.
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
