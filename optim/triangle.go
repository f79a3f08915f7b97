// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// On a device, a fit of many residuals does not need them on the processor: the triangular factor of the Jacobian with the
// residual beside it,
//
//	[J f] = Q R,  R of n+1 rows,
//
// has all that a step and the cost depend on, as Q changes no inner product. A fit then works on R in place of [J f],
// with the same methods and no loss of digits, and n+1 squared numbers cross the bus for each evaluation in place of m.

// blockRows is the number of rows that are factored together; the factors of blocks are joined and factored again.
const blockRows = 256

// fewestBlocks is the number of blocks from which it pays.
const fewestBlocks = 4

// triangular returns R of the columns and the residual.
func triangular(residual *ad.Node, columns []*ad.Node) *ad.Node {
	k, m := len(columns)+1, residual.Size()
	all := ad.Stack(1, append(slices.Clone(columns), residual)...)
	for m > blockRows {
		blocks := (m + blockRows - 1) / blockRows
		if rest := blocks*blockRows - m; rest > 0 {
			all = ad.Pad(all, []int{0, 0}, []int{rest, 0}, 0)
		}
		_, r := ad.QR(ad.Reshape(all, blocks, blockRows, k))
		m = blocks * k
		all = ad.Reshape(r, m, k)
	}
	_, r := ad.QR(all)
	return r
}

// descendTriangular is descend on the triangular factor, for a problem on a device that gains by it; else it
// returns nothing.
func descendTriangular(ctx context.Context, p *Problem, s Settings) (*iterate, Status, error) {
	g := p.graph
	if g == nil || p.extra > 0 || !s.Loss.plain() || s.Solver != Exact || s.Geodesic || g.n < 1 || g.n > writtenOut || p.M < fewestBlocks*blockRows || p.M != g.m || p.N != g.n {
		return nil, Stuck, nil
	}
	if prog, err := g.program(jacobian); err != nil || prog.Device() == "cpu" {
		return nil, Stuck, err
	}
	n := g.n
	at, r := make([]float64, n), []float64(nil)
	run := &run{g: g, k: triangle, data: p.data}
	evaluate := func(x []float64) error {
		if r != nil && slices.Equal(x, at) {
			return nil
		}
		r = nil
		if err := run.start(x); err != nil {
			return err
		}
		if err := run.state.Run(); err != nil {
			return err
		}
		copy(at, x)
		r = run.state.Output(0)
		return nil
	}
	q := *p
	q.M, q.graph, q.data = n+1, nil, nil
	q.JVP, q.VJP, q.Second = nil, nil, nil
	q.Residual = func(out, x []float64) error {
		if err := evaluate(x); err != nil {
			return err
		}
		for i := range out {
			out[i] = r[i*(n+1)+n]
		}
		return nil
	}
	q.Jacobian = func(out, x []float64) error {
		if err := evaluate(x); err != nil {
			return err
		}
		for k := range n {
			for i := range n + 1 {
				out[k*(n+1)+i] = r[i*(n+1)+k]
			}
		}
		return nil
	}
	w, status, err := descend(ctx, &q, s)
	if err != nil {
		return nil, status, err // descend on all residuals says which of them is to blame
	}
	w.rows = p.M
	return w, status, nil
}

// whole replaces the rows of a triangular factor in a result by those of the problem.
func (p *Problem) whole(w *iterate, r *Result) error {
	if w.rows == w.m {
		return nil
	}
	r.Residuals, r.Jacobian = make([]float64, p.M), make([]float64, p.M*p.N)
	if err := p.Residual(r.Residuals, r.X); err != nil {
		return err
	}
	return p.Jacobian(r.Jacobian, r.X)
}
