package twotime

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// cellScatter is the covariance of the means of cells at an angle, by simulated pixels. The mean over a cell a is a mean over pixels of
//
//	sum_ij A_ij (d_i d_j - C_ij (d_i + d_j)) / pairs, d = count/mean - 1, C = c2 - 1
//
// to first order in the fluctuations of the frames' means, which c2 is divided by. Its covariance over pixels has what entries that share
// frames have in common, and the higher moments of speckles and photons.
type cellScatter struct {
	source   *speckles
	cells    []cell
	linear   []float64 // (cells, frames): rows of A C
	count    []int
	pairs    func(c cell, f func(i, j int)) // nil: all pairs of a cell are used
	ws       kernels.Workspace
	d, sum   []float64
	products []float64
}

// newScatter takes g of all pairs of the angle.
func newScatter(source *speckles, data *Data, angle int, cells []cell, count []int, g []float64, contrast, offset float64) *cellScatter {
	n := source.frames
	s := &cellScatter{source: source, cells: cells, count: count, linear: make([]float64, len(cells)*n)}
	for k, c := range cells {
		full := 0
		row := s.linear[k*n : (k+1)*n]
		c.pairs(data, angle, func(i, j int) {
			full++
			v := contrast*g[i*n+j] + offset - 1
			row[i] += v
			row[j] += v
		})
		if full < c.size(n) && s.pairs == nil {
			s.pairs = func(c cell, f func(i, j int)) { c.pairs(data, angle, f) }
		}
	}
	return s
}

// size is the number of pairs of a cell of n frames if none is left out.
func (c cell) size(n int) (count int) {
	for i := c.from; i < c.to; i++ {
		count += max(0, min(n-1, i+c.longest)-(i+c.shortest)+1)
	}
	return count
}

// covariance draws pixels and returns the covariance (cells, cells) of one pixel.
func (s *cellScatter) covariance(pixels int, seed uint64, angle int) []float64 {
	n, k := s.source.frames, len(s.cells)
	z := tensor.NewStream(seed, drawCovariance, uint32(angle))
	s.d, s.sum, s.products = make([]float64, n*batch), make([]float64, (n+1)*batch), make([]float64, k*batch)
	cov, mean := make([]float64, k*k), make([]float64, k)
	batches := (pixels + batch - 1) / batch
	for range batches {
		s.source.draw(&z, batch, s.d)
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
		if s.pairs != nil {
			s.pairs(c, func(i, j int) {
				a, b := frame(s.d, i), frame(s.d, j)
				for p := range out {
					out[p] += a[p] * b[p]
				}
			})
		} else {
			for i := c.from; i < c.to; i++ {
				last := min(n-1, i+c.longest)
				if i+c.shortest > last {
					break
				}
				a, low, high := frame(s.d, i), frame(s.sum, i+c.shortest), frame(s.sum, last+1)
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

// whitener returns the inverse of the triangle of the covariance of the cells (row-major, zeros for cells without pairs) of the mean over so many
// speckles, and the logarithm of the triangle's determinant. The inverse of a covariance that is known from few pixels only is too large by
// (pixels-1)/(pixels-cells-2), which is taken out (Hartlap et al., doi:10.1051/0004-6361:20066170).
func whitener(cov []float64, count []int, speckles float64, pixels int) (inverse []float64, logDet float64, err error) {
	k := len(count)
	var used []int
	for c, pairs := range count {
		if pairs > 0 {
			used = append(used, c)
		}
	}
	if len(used) == 0 {
		return nil, 0, errors.New("twotime: no pair of frames of an angle is used")
	}
	m := len(used)
	if pixels < 2*m+2 {
		return nil, 0, fmt.Errorf("twotime: the covariance of %d cells from %d simulated pixels: want more than twice as many", m, pixels)
	}
	scale := float64(pixels-1) / float64(pixels-m-2) / speckles
	a := mat.NewSymDense(m, nil)
	for i, u := range used {
		for j := i; j < m; j++ {
			a.SetSym(i, j, scale*(cov[u*k+used[j]]+cov[used[j]*k+u])/2)
		}
	}
	var c mat.Cholesky
	if !c.Factorize(a) {
		return nil, 0, errors.New("twotime: the covariance of the cells is not positive definite: take fewer bins")
	}
	var l, inv mat.TriDense
	c.LTo(&l)
	if err := inv.InverseTri(&l); err != nil {
		return nil, 0, err
	}
	inverse = make([]float64, k*k)
	for i, u := range used {
		logDet += math.Log(l.At(i, i))
		for j := range i + 1 {
			inverse[u*k+used[j]] = inv.At(i, j)
		}
	}
	return inverse, logDet, nil
}
