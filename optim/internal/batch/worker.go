// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"fmt"
	"sync/atomic"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Worker fits rows in the lanes of one goroutine.
type Worker struct {
	model    *Model
	rows     *Rows
	settings *Settings
	fits     *Fits
	lanes    [Lanes]lane
	solver   *solver

	state *ad.State
	// params, columns and weights are inputs of state, and outputs its outputs: element i
	// of lane l is at i*Lanes + l.
	params           []float64
	columns, outputs [][]float64
	weights          []float64

	// plain is the program without the loss, nil for least squares. It computes the errors
	// of the pending rows in pendingLanes.
	plain        *ad.State
	pending      []int
	pendingLanes []lane
	// order are the rows that Work takes, nil for all of them.
	order []int
	// rowColumns holds the columns of one row, for Rows.Guess.
	rowColumns [][]float64
}

// NewWorker returns a worker that runs prog, which computes the weighted residuals, the
// columns of their Jacobian and, with a robust loss, rho and the plain residuals. plain is
// the program without the loss, or nil. res is nil where the worker is to Linearise only.
func NewWorker(b *Model, prog, plain *ad.Program, rows *Rows, s *Settings, res *Fits) *Worker {
	c := &Worker{model: b, rows: rows, settings: s, fits: res, state: prog.NewState(), solver: newSolver(b.M, b.N, s, rows)}
	c.params, c.columns, c.weights = b.inputs(c.state, rows)
	for i := range prog.Outputs() {
		c.outputs = append(c.outputs, c.state.Output(i))
	}
	if plain != nil {
		c.plain = plain.NewState()
	}
	c.rowColumns = make([][]float64, len(c.columns))
	mem := linalg.NewArena(2 * Lanes * laneFloats(b.N))
	for l := range c.lanes {
		c.lanes[l] = newLane(b.N, mem)
		c.pendingLanes = append(c.pendingLanes, newLane(b.N, mem))
	}
	return c
}

// inputs returns the inputs of a state: parameters, columns and weights.
func (b *Model) inputs(s *ad.State, rows *Rows) (params []float64, columns [][]float64, weights []float64) {
	k := len(b.Params)
	params = s.InputSpan(0, k)
	for i := range b.Columns {
		columns = append(columns, s.Input(k+i))
	}
	if rows.Weights != nil {
		weights = s.Input(k + len(b.Columns))
	}
	return params, columns, weights
}

// row is the number of the k-th row that Work takes.
func (c *Worker) row(k int) int {
	if c.order != nil {
		return c.order[k]
	}
	return k
}

// count is the number of rows that Work takes.
func (c *Worker) count() int {
	if c.order != nil {
		return len(c.order)
	}
	return c.rows.Count
}

// Only makes Work take some of the rows.
func (c *Worker) Only(rows []int) { c.order = rows }

// Work fits rows until next, which counts the rows taken, has passed all of them. From time
// to time it calls tell with the number of rows finished since the last call. It returns
// early, without an error, where ctx ends it.
func (c *Worker) Work(ctx context.Context, next *atomic.Int64, tell func(rows int)) error {
	from, to, finished := 0, 0, 0
	defer func() { tell(finished) }()
	for {
		busy := false
		for l := range c.lanes {
			for !c.lanes[l].busy {
				if from == to {
					tell(finished)
					finished = 0
					from = int(next.Add(Claim)) - Claim
					to = min(from+Claim, c.count())
					if from >= to {
						from, to = c.count(), c.count()
						break
					}
				}
				if !c.load(l, c.row(from)) {
					finished++ // failed before it began
				}
				from++
			}
			busy = busy || c.lanes[l].busy
		}
		if !busy {
			c.finishPending()
			return nil
		}
		if ctx.Err() != nil {
			c.finishPending()
			return nil
		}
		if err := c.state.Run(); err != nil {
			return fmt.Errorf("optim: batch: %w", err)
		}
		for l := range c.lanes {
			if v := &c.lanes[l]; v.busy {
				if c.solver.advance(c, l, v); v.busy {
					continue
				}
				finished++
			}
		}
	}
}

// Claim is the number of rows that a worker takes at a time.
const Claim = 256
