// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Stream is a fit to more data than fit in memory. They are read in chunks, once for every
// evaluation.
type Stream struct {
	// Residual is the residual of one chunk, one element per row.
	Residual *ad.Node
	// Params are the parameters to fit.
	Params []*ad.Node
	// Columns are the data of a chunk: inputs with as many elements as Residual.
	Columns []*ad.Node
	// Next fills columns with the next rows and returns their number, which is smaller than a chunk
	// only at the end and 0 after it. Rewind goes back to the first row.
	Next   func(columns [][]float64) (rows int, err error)
	Rewind func() error
	// The start and the bounds in Start, Lower and Upper are those of the parameters.
	Start, Lower, Upper []float64
}

// FitStream fits by least squares. Of all rows read so far, each pass keeps only the triangular
// factor of their Jacobian, which is all that a step needs. It loses no digits to products J^T J,
// and sums of squares are compensated. Residuals and Jacobian of the result are nil, M is the
// number of rows, and NFev is the number of passes. A robust loss, priors and Geodesic are errors,
// because a robust loss needs the rows.
func FitStream(ctx context.Context, d Stream, s Settings) (_ *Result, err error) {
	defer given.Caught(&err)
	if err := given.Args("optim.FitStream", "ctx", ctx, "d.Residual", d.Residual); err != nil {
		return nil, err
	}
	if !s.Loss.plain() || len(s.Priors) > 0 || s.Geodesic {
		return nil, fmt.Errorf("optim: a fit of a stream cannot use Loss, Priors or Geodesic: leave them out, or read the data into memory")
	}
	if d.Next == nil || d.Rewind == nil {
		return nil, fmt.Errorf("optim: the stream lacks Next or Rewind: set both functions")
	}
	w, err := newStreaming(ctx, d)
	if err != nil {
		return nil, err
	}
	relative := s.RelativeSigma
	s.RelativeSigma = false
	r, err := LeastSquares(ctx, w.problem(), s)
	if r == nil {
		return nil, err
	}
	r.M, r.Residuals, r.Jacobian, r.sum = w.rows, nil, nil, 2*r.Cost
	if r.Absolute = !relative; relative {
		r.scaleErrors(true)
	}
	return r, err
}

// streaming reads all rows at a point.
type streaming struct {
	Stream
	ctx     context.Context
	n       int
	chunk   int
	state   *ad.State
	columns [][]float64
	// q factors n + chunk rows.
	q    *linalg.PivotedQR
	b    []float64
	rows int
	at   []float64
	// r is n x n, by columns. Its products are those of the Jacobian.
	r   []float64
	qtf []float64
	// rest is the sum of squares that no step removes.
	rest float64
}

func newStreaming(ctx context.Context, d Stream) (*streaming, error) {
	w := &streaming{Stream: d, ctx: ctx, chunk: d.Residual.Size()}
	p, err := FromGraph(d.Residual, d.Params, zeros(d.Columns)...)
	if err != nil {
		return nil, err
	}
	if w.n = p.N; w.n > writtenOut {
		return nil, fmt.Errorf("optim: the stream has %d parameters: want at most %d", w.n, writtenOut)
	}
	for _, c := range d.Columns {
		if c.Size() != w.chunk {
			return nil, fmt.Errorf("optim: column %v does not have one element for each of the %d rows of a chunk: give it as many as Residual has", c, w.chunk)
		}
	}
	prog, err := p.graph.program(jacobian)
	if err != nil {
		return nil, err
	}
	w.state = prog.NewState()
	for i := range d.Columns {
		w.columns = append(w.columns, w.state.Input(len(d.Params)+i))
	}
	w.q = linalg.NewPivotedQR(w.n+w.chunk, w.n, new(linalg.Arena))
	w.b = make([]float64, w.n+w.chunk)
	w.r, w.qtf = make([]float64, w.n*w.n), make([]float64, w.n)
	return w, nil
}

func zeros(nodes []*ad.Node) []Data {
	var out []Data
	for _, n := range nodes {
		out = append(out, Data{Node: n, Values: make([]float64, n.Size())})
	}
	return out
}

// problem has n+1 residuals whose squares and products with the Jacobian are
// those of all rows.
func (w *streaming) problem() *Problem {
	p := &Problem{M: w.n + 1, N: w.n, Start: w.Start, Lower: w.Lower, Upper: w.Upper}
	for _, x := range w.Params {
		p.Names = append(p.Names, elementNames(x)...)
	}
	p.Residual = func(r, x []float64) error {
		if err := w.pass(x); err != nil {
			return err
		}
		copy(r, w.qtf)
		r[w.n] = math.Sqrt(w.rest)
		return nil
	}
	p.Jacobian = func(j, x []float64) error {
		if !slices.Equal(w.at, x) {
			if err := w.pass(x); err != nil {
				return err
			}
		}
		for k := range w.n {
			copy(j[k*(w.n+1):], w.r[k*w.n:(k+1)*w.n])
			j[k*(w.n+1)+w.n] = 0
		}
		return nil
	}
	return p
}

// pass reads all rows at x.
func (w *streaming) pass(x []float64) error {
	if err := w.Rewind(); err != nil {
		return fmt.Errorf("optim: stream: %w", err)
	}
	clear(w.r)
	clear(w.qtf)
	w.at = append(w.at[:0], x...)
	var rest compensated
	for w.rows = 0; ; {
		if err := w.ctx.Err(); err != nil {
			w.at = w.at[:0]
			return err
		}
		rows, err := w.Next(w.columns)
		if err != nil {
			return fmt.Errorf("optim: stream: %w", err)
		}
		if rows == 0 {
			break
		}
		if rows < 0 || rows > w.chunk {
			return fmt.Errorf("optim: stream: Next returned %d rows for a chunk of %d: want 0 to the length of a chunk", rows, w.chunk)
		}
		for _, c := range w.columns { // rows that do not count must not disturb
			for i := rows; i < w.chunk; i++ {
				c[i] = c[0]
			}
		}
		put(w.state, len(w.Params), x)
		if err := w.state.Run(); err != nil {
			return err
		}
		w.rows += rows
		rest.add(w.reduce(rows))
	}
	if w.rows == 0 {
		return fmt.Errorf("optim: stream: Next returned no rows: check that Rewind goes back to the first")
	}
	w.rest = max(0, rest.sum())
	return nil
}

// reduce takes the rows of a chunk into the triangle and returns the sum of
// squares that this leaves over.
func (w *streaming) reduce(rows int) float64 {
	n, m := w.n, w.q.M
	for k := range n {
		to := w.q.A[k*m : (k+1)*m]
		copy(to, w.r[k*n:(k+1)*n])
		copy(to[n:n+rows], w.state.Output(1+k))
		clear(to[n+rows:])
	}
	copy(w.b, w.qtf)
	copy(w.b[n:n+rows], w.state.Output(0))
	clear(w.b[n+rows:])
	w.q.Factor()
	w.q.MultiplyQT(w.b)
	clear(w.r)
	for k, to := range w.q.Perm {
		copy(w.r[to*n:], w.q.A[k*m:k*m+k])
		w.r[to*n+k] = w.q.Diag[k]
	}
	copy(w.qtf, w.b)
	return linalg.Dot(w.b[n:], w.b[n:])
}

// compensated is a sum whose error does not grow with the number of terms
// (Neumaier 1974).
type compensated struct{ s, c float64 }

func (a *compensated) add(v float64) {
	t := a.s + v
	if math.Abs(a.s) >= math.Abs(v) {
		a.c += (a.s - t) + v
	} else {
		a.c += (v - t) + a.s
	}
	a.s = t
}

func (a *compensated) sum() float64 { return a.s + a.c }
