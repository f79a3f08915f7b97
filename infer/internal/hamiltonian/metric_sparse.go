// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import (
	"slices"

	"github.com/euryale-dev/euryale/kernels"
)

// SparseFactor is the Cholesky factor L of a precision matrix P = L L^T with few entries, in an order of the parameters that keeps
// them few. Its metric has F = L^-T.
type SparseFactor struct {
	// Order is the parameter of each column.
	Order []int
	// Start says where each column begins in Row and L, and where the last one ends. The first entry of a column is that of its diagonal.
	Start []int
	// Row is the parameter in whose row an entry lies.
	Row []int
	L   []float64

	// These follow from the fields above, for solutions without divisions.

	// inverse is 1 over the entry on the diagonal, for each parameter.
	inverse []float64
	// below are the entries below the diagonal, divided by that of the diagonal of their column, at the places of L.
	below []float64
	// chain makes leapfrog steps where a factor has entries on the diagonal and beside it alone, in the order of the parameters. nil for another.
	chain *kernels.Chain
}

// NewSparseFactor returns the factor of the fields of these names.
func NewSparseFactor(order, start, row []int, l []float64) *SparseFactor {
	s := &SparseFactor{Order: order, Start: start, Row: row, L: l}
	s.prepare()
	return s
}

// column returns the diagonal of column k, and the rows and entries below.
func (s *SparseFactor) column(k int) (diagonal float64, rows []int, l []float64) {
	from, to := s.Start[k], s.Start[k+1]
	return s.L[from], s.Row[from+1 : to], s.L[from+1 : to]
}

// prepare computes what the solutions take, of a factor that fits.
func (s *SparseFactor) prepare() {
	d, chain := len(s.Order), len(s.Order) > 0
	s.inverse, s.below = make([]float64, d), make([]float64, len(s.L))
	on, beside := make([]float64, d), make([]float64, d)
	for k, c := range s.Order {
		diagonal, rows, l := s.column(k)
		s.inverse[c] = 1 / diagonal
		for i, v := range l {
			s.below[s.Start[k]+1+i] = v / diagonal
		}
		on[k] = diagonal
		if len(rows) == 1 {
			beside[k] = l[0]
		}
		chain = chain && c == k && (len(rows) == 0 || len(rows) == 1 && rows[0] == k+1)
	}
	if chain {
		s.chain = kernels.NewChain(on, beside)
	}
}

// unit returns the rows below the diagonal of column k, and their entries divided by that of the diagonal.
func (s *SparseFactor) unit(k int) (rows []int, below []float64) {
	from, to := s.Start[k]+1, s.Start[k+1]
	return s.Row[from:to], s.below[from:to]
}

// solveTransposed writes L^-T z.
func (s *SparseFactor) solveTransposed(dst, z []float64) {
	dst, z = dst[:len(s.inverse)], z[:len(s.inverse)]
	for i, v := range s.inverse {
		dst[i] = z[i] * v
	}
	for k := len(s.Order) - 1; k >= 0; k-- {
		rows, below := s.unit(k)
		c := s.Order[k]
		v := dst[c]
		for i, r := range rows {
			v -= below[i] * dst[r]
		}
		dst[c] = v
	}
}

// solve writes L^-1 v.
func (s *SparseFactor) solve(dst, v []float64) {
	dst, v = dst[:len(s.inverse)], v[:len(s.inverse)]
	copy(dst, v)
	for k, c := range s.Order {
		rows, below := s.unit(k)
		x := dst[c]
		for i, r := range rows {
			dst[r] -= below[i] * x
		}
		dst[c] = x * s.inverse[c]
	}
}

// times replaces v by L v.
func (s *SparseFactor) times(v []float64) {
	for k := len(s.Order) - 1; k >= 0; k-- {
		diagonal, rows, l := s.column(k)
		x := v[s.Order[k]]
		for i, r := range rows {
			v[r] += l[i] * x
		}
		v[s.Order[k]] = diagonal * x
	}
}

// transposed replaces v by L^T v.
func (s *SparseFactor) transposed(v []float64) {
	for k, c := range s.Order {
		diagonal, rows, l := s.column(k)
		x := diagonal * v[c]
		for i, r := range rows {
			x += l[i] * v[r]
		}
		v[c] = x
	}
}

// fits reports whether s can be the factor for dim parameters.
func (s *SparseFactor) fits(dim int) bool {
	if len(s.Order) != dim || len(s.Start) != dim+1 || s.Start[0] != 0 || s.Start[dim] != len(s.L) || len(s.Row) != len(s.L) {
		return false
	}
	place := make([]int, dim) // of each parameter in the order
	for i := range place {
		place[i] = -1
	}
	for k, c := range s.Order {
		if c < 0 || c >= dim || place[c] >= 0 {
			return false
		}
		place[c] = k
	}
	for k, c := range s.Order {
		from, to := s.Start[k], s.Start[k+1]
		if from >= to || to > len(s.L) || s.Row[from] != c || !(s.L[from] > 0) {
			return false
		}
		for _, r := range s.Row[from+1 : to] {
			if r < 0 || r >= dim || place[r] <= k {
				return false
			}
		}
	}
	return true
}

// asBlock writes s as a block of which no parameter has the number: checkpoints of earlier versions have blocks only.
func (s *SparseFactor) asBlock() BlockFactor {
	return BlockFactor{slices.Concat([]int{-1, len(s.Order)}, s.Order, s.Start, s.Row), s.L}
}

// sparseOf reads what asBlock wrote, nil for another block.
func sparseOf(b BlockFactor) *SparseFactor {
	if len(b.At) < 2 || b.At[0] != -1 {
		return nil
	}
	n, at := b.At[1], b.At[2:]
	if n < 0 || n > len(at) || len(at) < 2*n+1 {
		return nil
	}
	return &SparseFactor{Order: at[:n], Start: at[n : 2*n+1], Row: at[2*n+1:], L: b.Chol}
}
