// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/optim/internal/batch"
)

// Batch fits one model to many rows of data. Rows are fitted side by side as the lanes of one
// compiled program; a lane whose fit has ended takes the next row. The result of a row does not
// depend, to the last bit, on the other rows, their number or the number of threads. It is safe for
// concurrent use.
//
//	t, y := autodiff.Input("t"), autodiff.Input("y", 32)
//	b, err := optim.NewBatch(autodiff.Sub(model(t), y), []*autodiff.Node{t}, y)
//	res, err := b.Fit(ctx, optim.Rows{Columns: [][]float64{data}, Start: []float64{1}}, optim.BatchSettings{})
//	fmt.Println(res.Row(17), res.SDs(17), res.Status[17])
type Batch struct {
	model    batch.Model
	residual *ad.Node

	lock     sync.Mutex
	programs map[compiled]*ad.Program
}

// batchMost is the most parameters of a row.
const batchMost = 32

// NewBatch makes a batch from a residual Node of M elements, its parameters (at most 32 elements in
// all) and the inputs that differ from row to row.
func NewBatch(residual *ad.Node, params []*ad.Node, columns ...*ad.Node) (*Batch, error) {
	b := &Batch{residual: residual, model: batch.Model{M: residual.Size(), Params: params, Columns: columns}, programs: map[compiled]*ad.Program{}}
	if err := residual.Err(); err != nil {
		return nil, fmt.Errorf("optim: %w", err)
	}
	for _, x := range params {
		b.model.N += x.Size()
		b.model.Names = append(b.model.Names, elementNames(x)...)
	}
	if b.model.N < 1 || b.model.N > batchMost || b.model.M < 1 {
		return nil, fmt.Errorf("optim: the batch has %d residuals and %d parameters: want at least 1 residual and 1 to %d parameters; use LeastSquares for more", b.model.M, b.model.N, batchMost)
	}
	b.residual = ad.Reshape(residual, b.model.M)
	_, err := b.program(variant{}, nil, batch.Lanes)
	return b, err
}

// Rows are the data of a batch of B rows. All arrays are row-major.
type Rows struct {
	// Columns holds one array for each column of NewBatch, with B times the elements of that
	// column.
	Columns [][]float64
	// Weights (B x M) multiply the residuals; they are usually 1/sigma. A weight of 0 leaves the
	// residual out, and columns of M elements may then be NaN at that place. Nil means weights of
	// 1.
	Weights []float64
	// Start holds N numbers that serve all rows, or B x N. If it is nil, Guess fills the start of
	// each row from its columns.
	Start []float64
	Guess func(start []float64, columns [][]float64) error
	// Lower and Upper hold N bounds that apply to all rows. Nil means no bounds.
	Lower, Upper []float64
	// Count is the number of rows, B. Default: the number that Columns or Start imply.
	Count int
}

// BatchSettings are the settings of Batch.Fit. The zero value is the default.
type BatchSettings struct {
	// Loss and LossScale reduce the weight of outliers, as in Settings.
	Loss      Loss
	LossScale float64
	// The tolerances FTol, XTol and GTol end a fit as in Settings. Default 1e-8; a negative value
	// switches a test off.
	FTol, XTol, GTol float64
	// MaxEvaluations limits the evaluations of each row. Default 100 times the number of
	// parameters.
	MaxEvaluations int
	// FirstStep is the radius of the first trust region, as in Settings. Default 1.
	FirstStep float64
	// NoPolish leaves out the final steps that bring the minimum to rounding error.
	NoPolish bool
	// RelativeSigma scales errors by the reduced chi-square of each row.
	RelativeSigma bool
	// Covariance keeps the covariance of each row, and not only the standard deviations.
	Covariance bool
	// Threads is the number of goroutines. Default GOMAXPROCS.
	Threads int
	// Backend runs the fits, for example ad.CUDA{}: rows are then lanes of one program on the GPU,
	// in whose memory the data and the steps stay until a row has ended. The GPUs of ad.Several
	// share the rows. Rows that need more digits than normal equations in float64 have, or more
	// than 40 evaluations, are fitted on the processor all the same. Default: the processor.
	Backend ad.Backend
	// Progress, if not nil, is called from time to time with the number of finished rows, by one
	// goroutine at a time.
	Progress func(done, rows int)
}

// Residuals returns M, the number of residuals in a row.
func (b *Batch) Residuals() int { return b.model.M }

// Fit fits every row. A row that cannot be fitted has the Status Failed and a Reason, and leaves
// the others alone. The error reports invalid arguments, or is the context's; in that case rows
// that were not finished have the Status Interrupted.
func (b *Batch) Fit(ctx context.Context, rows Rows, s BatchSettings) (_ *BatchResult, err error) {
	defer given.Caught(&err)
	if err := given.Args("optim.Batch.Fit", "b", b, "ctx", ctx); err != nil {
		return nil, err
	}
	if err := b.check(&rows, &s); err != nil {
		return nil, err
	}
	w, err := b.work(&rows, s)
	if err != nil {
		return nil, err
	}
	res := newBatchResult(b, rows.Count, s, rows.Lower != nil)
	w.res, w.fits = res, res.fits()
	parts, err := w.parts(s.Backend)
	if err != nil {
		return nil, err
	}
	var next, done atomic.Int64
	var wg sync.WaitGroup
	var telling sync.Mutex
	errs := make([]error, len(parts))
	for t := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer given.Caught(&errs[t])
			errs[t] = parts[t](ctx, &next, func(k int) {
				now := int(done.Add(int64(k)))
				if s.Progress != nil {
					telling.Lock()
					s.Progress(now, rows.Count)
					telling.Unlock()
				}
			})
		}()
	}
	wg.Wait()
	return res, errors.Join(append(errs, ctx.Err())...)
}

// work is a call of Fit.
type work struct {
	b       *Batch
	variant variant
	s       *BatchSettings
	data    batch.Rows
	limits  batch.Settings
	res     *BatchResult
	fits    *batch.Fits
	// prog is the program of the processor, and plain that without a loss, nil for least squares.
	prog, plain *ad.Program
}

// part fits rows until next has passed all of them.
type part func(ctx context.Context, next *atomic.Int64, tell func(rows int)) error

// work compiles what every call needs.
func (b *Batch) work(rows *Rows, s BatchSettings) (*work, error) {
	w := &work{b: b, s: &s, data: batch.Rows(*rows), limits: s.limits(), variant: variant{weighted: rows.Weights != nil, loss: s.Loss, scale: s.LossScale}}
	var err error
	if w.prog, err = b.program(w.variant, nil, batch.Lanes); err != nil {
		return nil, err
	}
	if !s.Loss.plain() { // for covariances
		w.plain, err = b.program(variant{weighted: rows.Weights != nil}, nil, batch.Lanes)
	}
	return w, err
}

// parts returns what fits the rows at the same time: a goroutine for each GPU, or for each thread of the processor.
func (w *work) parts(b ad.Backend) (parts []part, err error) {
	if parts, err = w.devices(b); err != nil || parts != nil {
		return parts, err
	}
	w.res.Devices = []string{"cpu"}
	for range min(w.s.Threads, (w.data.Count+batch.Claim-1)/batch.Claim) {
		parts = append(parts, func(ctx context.Context, next *atomic.Int64, tell func(int)) error {
			return batch.NewWorker(&w.b.model, w.prog, w.plain, &w.data, &w.limits, w.fits).Work(ctx, next, tell)
		})
	}
	return parts, nil
}

// check completes rows and settings and lists what is wrong.
func (b *Batch) check(r *Rows, s *BatchSettings) error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf("optim: batch: "+format, a...)) }
	if len(r.Columns) != len(b.model.Columns) {
		bad("there are %d columns: want %d, as in NewBatch", len(r.Columns), len(b.model.Columns))
	} else {
		for i, c := range r.Columns {
			size := max(1, b.model.Columns[i].Size())
			if r.Count == 0 {
				r.Count = len(c) / size
			}
			if len(c) != r.Count*size {
				bad("column %v has %s: want %d rows of %d", b.model.Columns[i], errtext.Count(len(c), "value"), r.Count, size)
			}
		}
	}
	if r.Count == 0 && len(b.model.Columns) == 0 {
		r.Count = len(r.Start) / b.model.N
	}
	if r.Weights != nil && len(r.Weights) != r.Count*b.model.M {
		bad("there are %d weights: want %d rows of %d", len(r.Weights), r.Count, b.model.M)
	}
	if r.Start == nil && r.Guess == nil {
		bad("there is no start: set Start or Guess")
	}
	if r.Start != nil && len(r.Start) != b.model.N && len(r.Start) != r.Count*b.model.N {
		bad("Start has %s: want %d, or that many for each of %d rows", errtext.Count(len(r.Start), "value"), b.model.N, r.Count)
	}
	if (r.Lower == nil) != (r.Upper == nil) {
		if r.Lower == nil {
			r.Lower = repeated(math.Inf(-1), b.model.N)
		} else {
			r.Upper = repeated(math.Inf(1), b.model.N)
		}
	}
	if r.Lower != nil && (len(r.Lower) != b.model.N || len(r.Upper) != b.model.N) {
		bad("there are %d lower and %d upper bounds: want %d of each", len(r.Lower), len(r.Upper), b.model.N)
	} else {
		for i := range r.Lower {
			if !(r.Lower[i] < r.Upper[i]) {
				bad("the bounds of %s are %g..%g: want lower < upper", b.model.Names[i], r.Lower[i], r.Upper[i])
			}
		}
	}
	errs = append(errs, s.complete(b.model.N))
	return errors.Join(errs...)
}

func (s *BatchSettings) complete(n int) error {
	tol := func(v *float64) { *v = max(orDefault(*v, 1e-8), 0) }
	tol(&s.FTol)
	tol(&s.XTol)
	tol(&s.GTol)
	s.LossScale, s.FirstStep = orDefault(s.LossScale, 1), orDefault(s.FirstStep, 1)
	if s.MaxEvaluations <= 0 {
		s.MaxEvaluations = 100 * n
	}
	if s.Threads <= 0 {
		s.Threads = runtime.GOMAXPROCS(0)
	}
	if s.Loss.plain() {
		s.Loss = Linear
	}
	if !(s.LossScale > 0) || !(s.FirstStep > 0) {
		return fmt.Errorf("optim: batch: LossScale is %g and FirstStep is %g: want both above 0", s.LossScale, s.FirstStep)
	}
	return s.Loss.check()
}

// limits are the settings that goroutines see.
func (s *BatchSettings) limits() batch.Settings {
	l := batch.Settings{LossScale: s.LossScale, FTol: s.FTol, XTol: s.XTol, GTol: s.GTol, MaxEvaluations: s.MaxEvaluations,
		FirstStep: s.FirstStep, NoPolish: s.NoPolish, RelativeSigma: s.RelativeSigma}
	if loss, scale, least := s.Loss, s.LossScale, 0.0; !loss.plain() {
		if !s.RelativeSigma {
			least = loss.normalFactor(scale)
		}
		l.Factor = func(residuals []float64, dof int) float64 { return loss.errorFactor(residuals, scale, 0, dof, least) }
	}
	return l
}

func repeated(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}
