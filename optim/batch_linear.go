package optim

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Linearised is a row of a batch at its result.
type Linearised struct {
	Row       int
	Points    []int     // of the residuals that count, ascending
	Residuals []float64 // weighed, of these points
	Jacobian  []float64 // of the weighed residuals, column by column
}

// Linearise computes residuals and Jacobians of all rows of a result that did not
// fail, without the loss. It calls visit from several goroutines at a time, with
// slices that are used again after it returns.
func (b *Batch) Linearise(ctx context.Context, rows Rows, r *BatchResult, visit func(Linearised)) (err error) {
	defer given.Caught(&err)
	if err := given.Args("optim.Batch.Linearise", "b", b, "ctx", ctx, "r", r, "visit", visit); err != nil {
		return err
	}
	if len(r.X) != rows.Count*b.n && rows.Count != 0 {
		return fmt.Errorf("optim: batch: a result of %d parameters for %d rows of %d: want the rows that were fitted", len(r.X), rows.Count, b.n)
	}
	rows.Start, rows.Guess = r.X, nil
	s := r.s
	if err := b.check(&rows, &s); err != nil {
		return err
	}
	prog, err := b.program(variant{weighted: rows.Weights != nil})
	if err != nil {
		return err
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, s.Threads)
	for t := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer given.Caught(&errs[t])
			c := newBatchWorker(b, prog, nil, &rows, &s, nil)
			for ctx.Err() == nil {
				from := int(next.Add(lanes)) - lanes
				if from >= rows.Count {
					return
				}
				if errs[t] = c.linearise(r, from, min(from+lanes, rows.Count), visit); errs[t] != nil {
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

// linearise visits the rows of one filling of the lanes.
func (c *batchWorker) linearise(r *BatchResult, from, to int, visit func(Linearised)) error {
	m, n := c.b.m, c.b.n
	good := make([]bool, to-from)
	for l := range good {
		if r.Status[from+l] != Failed {
			_, err := c.fill(l, from+l, c.columns, c.weights)
			good[l] = err == nil
		}
		c.put(l, r.Row(from+l))
	}
	if err := c.state.Run(); err != nil {
		return fmt.Errorf("optim: batch: %w", err)
	}
	one := Linearised{Points: make([]int, 0, m), Residuals: make([]float64, 0, m), Jacobian: make([]float64, 0, m*n)}
	for l, ok := range good {
		if !ok {
			continue
		}
		one.Row, one.Points, one.Residuals, one.Jacobian = from+l, one.Points[:0], one.Residuals[:0], one.Jacobian[:0]
		for i := range m {
			if c.rows.Weights != nil && c.rows.Weights[one.Row*m+i] == 0 {
				continue
			}
			one.Points, one.Residuals = append(one.Points, i), append(one.Residuals, c.out[0][i*lanes+l])
		}
		for k := range n {
			for _, i := range one.Points {
				one.Jacobian = append(one.Jacobian, c.out[1+k][i*lanes+l])
			}
		}
		bad := func(v float64) bool { return !linalg.Finite(v) }
		if !slices.ContainsFunc(one.Residuals, bad) && !slices.ContainsFunc(one.Jacobian, bad) {
			visit(one)
		}
	}
	return nil
}
