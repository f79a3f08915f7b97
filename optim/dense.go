// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import "github.com/euryale-dev/euryale/internal/linalg"

// dense is a Jacobian that is stored in full.
type dense struct {
	*iterate
	// j is the weighted Jacobian by columns.
	j []float64
	// q factors J D, with rows of zeros under it where M < N.
	q *linalg.PivotedQR
	// b is Q^T times the weighted residuals.
	b []float64
	// work is scratch of M numbers.
	work []float64
	// svd is the singular value decomposition that region needs.
	svd *secular
	mem *linalg.Arena
}

// denseFloats is what the pivoted factorisation takes.
func denseFloats(m, n int) int { return max(m, n)*(n+2) + 3*n }

func newDense(w *iterate, j []float64, mem *linalg.Arena) *dense {
	rows := max(w.m, w.n)
	return &dense{iterate: w, j: j, q: linalg.NewPivotedQR(rows, w.n, mem), b: mem.Floats(rows), work: mem.Floats(rows), mem: mem}
}

func (d *dense) update() error {
	if err := d.jacobian(d.j); err != nil {
		return err
	}
	for k := range d.n {
		col := d.j[k*d.m : (k+1)*d.m]
		if d.weights != nil {
			for i, v := range d.weights {
				col[i] *= v
			}
		}
		d.grad[k] = linalg.Dot(col, d.fw)
		d.column[k] = linalg.Norm(col)
	}
	return nil
}

// scaled decomposes J d and applies Q^T to the residuals.
func (d *dense) scaled() {
	rows := d.q.M
	for k, s := range d.iterate.d {
		to := d.q.A[k*rows : (k+1)*rows]
		for i, v := range d.j[k*d.m : (k+1)*d.m] {
			to[i] = v * s
		}
		clear(to[d.m:])
	}
	copy(d.b, d.fw)
	clear(d.b[d.m:])
	d.q.Factor()
	d.q.MultiplyQT(d.b)
}

func (d *dense) imageSize() int { return d.n }

// image is R P^T h.
func (d *dense) image(dst, h []float64) {
	clear(dst)
	for k, to := range d.q.Perm {
		c := h[to]
		linalg.AddScaled(dst[:k], c, d.q.A[k*d.q.M:k*d.q.M+k])
		dst[k] += c * d.q.Diag[k]
	}
}
