// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/optim/internal/batch"
)

// Linearised holds the residuals and the Jacobian of one row of a batch at its result.
type Linearised struct {
	Row int
	// Points are the indices of the residuals whose weight is not 0, in ascending order.
	Points []int
	// Residuals are the weighted residuals of these points.
	Residuals []float64
	// Jacobian is the Jacobian of the weighted residuals, column by column.
	Jacobian []float64
}

// Linearise computes residuals and Jacobians of all rows of a result that did not fail, without the
// loss. It calls visit from several goroutines at a time, with slices that are reused after visit
// returns.
func (b *Batch) Linearise(ctx context.Context, rows Rows, r *BatchResult, visit func(Linearised)) (err error) {
	defer given.Caught(&err)
	if err := given.Args("optim.Batch.Linearise", "b", b, "ctx", ctx, "r", r, "visit", visit); err != nil {
		return err
	}
	if len(r.X) != rows.Count*b.model.N && rows.Count != 0 {
		return fmt.Errorf("optim: batch: the result has %d parameters, but there are %d rows of %d: pass the rows that were fitted", len(r.X), rows.Count, b.model.N)
	}
	rows.Start, rows.Guess = r.X, nil
	s := r.s
	if err := b.check(&rows, &s); err != nil {
		return err
	}
	prog, err := b.program(variant{weighted: rows.Weights != nil}, nil, batch.Lanes)
	if err != nil {
		return err
	}
	data, limits := batch.Rows(rows), s.limits()
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, s.Threads)
	for t := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer given.Caught(&errs[t])
			c := batch.NewWorker(&b.model, prog, nil, &data, &limits, nil)
			for ctx.Err() == nil {
				from := int(next.Add(batch.Lanes)) - batch.Lanes
				if from >= rows.Count {
					return
				}
				if errs[t] = c.Linearise(from, min(from+batch.Lanes, rows.Count), r.fitted, func(l batch.Linearised) { visit(Linearised(l)) }); errs[t] != nil {
					return
				}
			}
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// fitted returns the parameters of a row, and whether it was fitted.
func (r *BatchResult) fitted(row int) ([]float64, bool) {
	return r.Row(row), r.Status[row] != Failed
}
