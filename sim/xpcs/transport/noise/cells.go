// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package noise

import (
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// Cell holds the pairs of frames (i, i+lag) with lags Shortest..Longest and first frames
// From..To-1.
type Cell struct{ Shortest, Longest, From, To int }

// Pairs calls f for each used pair of the cell, of n frames.
func (c Cell) Pairs(n int, used func(i, j int) bool, f func(i, j int)) {
	for i := c.From; i < c.To; i++ {
		for j := i + c.Shortest; j <= min(n-1, i+c.Longest); j++ {
			if used(i, j) {
				f(i, j)
			}
		}
	}
}

// cellScatter is the covariance of the means of cells at an angle, by simulated pixels. The mean over a cell a is a mean over pixels of
//
//	sum_ij A_ij (d_i d_j - C_ij (d_i + d_j)) / pairs, d = count/mean - 1, C = c2 - 1
//
// to first order in the fluctuations of the frames' means, which c2 is divided by. Its covariance over pixels has what entries that share
// frames have in common, and the higher moments of speckles and photons.
type cellScatter struct {
	source   *Speckles
	cells    []Cell
	linear   []float64 // (cells, frames): rows of A C
	count    []int
	used     func(i, j int) bool // nil: all pairs of all cells
	ws       kernels.Workspace
	d, sum   []float64
	products []float64
}

// CellCovariance returns the covariance (cells, cells) of one pixel, estimated from simulated
// pixels: c is C (frames, frames), and used says which pairs of frames count.
func (s *Speckles) CellCovariance(cells []Cell, c []float64, used func(i, j int) bool, pixels int, z tensor.Stream) []float64 {
	n := s.frames
	of := &cellScatter{source: s, cells: cells, count: make([]int, len(cells)), linear: make([]float64, len(cells)*n)}
	for k, cell := range cells {
		row := of.linear[k*n : (k+1)*n]
		cell.Pairs(n, used, func(i, j int) {
			of.count[k]++
			row[i] += c[i*n+j]
			row[j] += c[i*n+j]
		})
		if of.count[k] < cell.size(n) {
			of.used = used
		}
	}
	return of.covariance(pixels, z)
}

// size is the number of pairs of a cell of n frames if none is left out.
func (c Cell) size(n int) (count int) {
	for i := c.From; i < c.To; i++ {
		count += max(0, min(n-1, i+c.Longest)-(i+c.Shortest)+1)
	}
	return count
}

func (s *cellScatter) covariance(pixels int, z tensor.Stream) []float64 {
	n, k := s.source.frames, len(s.cells)
	s.d, s.sum, s.products = make([]float64, n*batch), make([]float64, (n+1)*batch), make([]float64, k*batch)
	cov, mean := make([]float64, k*k), make([]float64, k)
	batches := (pixels + batch - 1) / batch
	for range batches {
		s.source.Draw(&z, batch, s.d)
		s.influence()
		for c := range k {
			for _, v := range s.products[c*batch : (c+1)*batch] {
				mean[c] += v
			}
		}
		kernels.Gemm64(kernels.Best(), &s.ws, false, true, k, k, batch, 1, s.products, batch, s.products, batch, 1, cov, k)
	}
	all := float64(batches * batch)
	for a := range k {
		for b := range k {
			cov[a*k+b] = (cov[a*k+b] - mean[a]*mean[b]/all) / (all - 1)
		}
	}
	return cov
}

// influence computes what each pixel adds to the means of the cells.
func (s *cellScatter) influence() {
	n := s.source.frames
	for i := range s.d {
		s.d[i]--
	}
	frame := func(v []float64, i int) []float64 { return v[i*batch : (i+1)*batch] }
	for i := range n {
		above, next := frame(s.sum, i), frame(s.sum, i+1)
		for p, v := range frame(s.d, i) {
			next[p] = above[p] + v
		}
	}
	// minus the linear part
	kernels.Gemm64(kernels.Best(), &s.ws, false, false, len(s.cells), batch, n, -1, s.linear, n, s.d, batch, 0, s.products, batch)
	for k, c := range s.cells {
		out := frame(s.products, k)
		if s.used != nil {
			c.Pairs(n, s.used, func(i, j int) {
				a, b := frame(s.d, i), frame(s.d, j)
				for p := range out {
					out[p] += a[p] * b[p]
				}
			})
		} else {
			for i := c.From; i < c.To; i++ {
				last := min(n-1, i+c.Longest)
				if i+c.Shortest > last {
					break
				}
				a, low, high := frame(s.d, i), frame(s.sum, i+c.Shortest), frame(s.sum, last+1)
				for p := range out {
					out[p] += a[p] * (high[p] - low[p])
				}
			}
		}
		scale := 1 / float64(max(1, s.count[k]))
		for p := range out {
			out[p] *= scale
		}
	}
}
