// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package interp

import "math"

// band is a square matrix with as many diagonals on each side of the main one as half says, solved by elimination with
// partial pivoting.
type band struct {
	n, half int
	a       []float64 // row i holds the columns i-half ... i+2*half; pivoting fills the last ones
}

func newBand(n, half int) *band { return &band{n, half, make([]float64, n*(3*half+1))} }

func (b *band) at(i, j int) *float64    { return &b.a[i*(3*b.half+1)+j-i+b.half] }
func (b *band) set(i, j int, v float64) { *b.at(i, j) = v }

// solve replaces each of the right sides by the solution; the matrix is lost.
func (b *band) solve(rhs [][]float64) {
	for k := range b.n {
		last := min(k+b.half, b.n-1)
		p := k
		for i := k + 1; i <= last; i++ {
			if math.Abs(*b.at(i, k)) > math.Abs(*b.at(p, k)) {
				p = i
			}
		}
		end := min(k+2*b.half, b.n-1)
		if p != k {
			for j := k; j <= end; j++ {
				u, v := b.at(k, j), b.at(p, j)
				*u, *v = *v, *u
			}
			for _, y := range rhs {
				y[k], y[p] = y[p], y[k]
			}
		}
		for i := k + 1; i <= last; i++ {
			f := *b.at(i, k) / *b.at(k, k)
			for j := k + 1; j <= end; j++ {
				*b.at(i, j) -= f * *b.at(k, j)
			}
			for _, y := range rhs {
				y[i] -= f * y[k]
			}
		}
	}
	for _, y := range rhs {
		for i := b.n - 1; i >= 0; i-- {
			for j := i + 1; j <= min(i+2*b.half, b.n-1); j++ {
				y[i] -= *b.at(i, j) * y[j]
			}
			y[i] /= *b.at(i, i)
		}
	}
}
