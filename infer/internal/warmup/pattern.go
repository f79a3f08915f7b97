// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/internal/elimination"
	"github.com/euryale-dev/euryale/internal/checkpoint"
)

const (
	// sparseEntries is how many entries of a Cholesky factor for each parameter a sparse metric may have.
	sparseEntries = 16
	// weakest is the least correlation that an interaction gives two parameters, all others held.
	weakest = 1e-3
)

// Pattern says which parameters interact: which entries of the Hessian of the log density, and of its Cholesky factor, are not 0.
type Pattern struct {
	// neighbours of each parameter, in ascending order.
	neighbours [][]int
	// order of elimination, and the parameters below the diagonal of each column of the factor, those that are eliminated first standing first.
	order   []int
	columns [][]int
	place   []int // of each parameter in the order
}

// Interactions finds the pattern of a log density from the change of its gradient along each parameter by a small part of its scale. It returns nil where
// too many parameters interact for a sparse metric, or where gradients are not finite. The cost is a gradient for each parameter.
//
//	H_ij = (g_j(z + h e_i) - g_j(z))/h,  i and j interact where |H_ij| > 1e-3 sqrt(H_ii H_jj)
func Interactions(gradient func(z, g []float64) error, z, scale []float64) *Pattern {
	const part = 1e-4
	d := len(z)
	before, after, at := make([]float64, d), make([]float64, d), slices.Clone(z)
	if gradient(z, before) != nil {
		return nil
	}
	rows := make([]map[int]float64, d) // of entries that may count, in units of the scales
	own := make([]float64, d)
	kept := 0
	for i := range d {
		h := part * scale[i]
		at[i] = z[i] + h
		err := gradient(at, after)
		at[i] = z[i]
		if err != nil {
			return nil
		}
		rows[i] = map[int]float64{}
		for j := range d {
			switch v := (after[j] - before[j]) / part * scale[j]; {
			case math.IsNaN(v) || math.IsInf(v, 0):
				return nil
			case i == j:
				own[i] = max(math.Abs(v), 1)
			case math.Abs(v) > weakest: // own is 1 at least
				rows[i][j] = math.Abs(v)
				kept++
			}
		}
		if kept > 4*sparseEntries*d { // both of a pair count, and some are weak beside a large diagonal
			return nil
		}
	}
	neighbours := make([][]int, d)
	entries := 0
	for i, row := range rows {
		for j, v := range row {
			if v > weakest*math.Sqrt(own[i]*own[j]) {
				neighbours[i] = append(neighbours[i], j)
				neighbours[j] = append(neighbours[j], i)
				entries++
			}
		}
		if entries > 2*sparseEntries*d {
			return nil
		}
	}
	return newPattern(neighbours)
}

// newPattern orders parameters so that the factor has few entries. It returns nil where it has too many.
func newPattern(neighbours [][]int) *Pattern {
	d := len(neighbours)
	for i := range neighbours {
		slices.Sort(neighbours[i])
		neighbours[i] = slices.Compact(neighbours[i])
	}
	p := &Pattern{neighbours: neighbours, place: make([]int, d)}
	if p.order, p.columns = elimination.Order(neighbours, sparseEntries*d, math.MaxInt); len(p.order) < d {
		return nil
	}
	for k, i := range p.order {
		p.place[i] = k
	}
	return p
}

// Entries is the number of entries of the factor.
func (p *Pattern) Entries() int {
	n := len(p.order)
	for _, c := range p.columns {
		n += len(c)
	}
	return n
}

// Save writes a pattern, nil as well.
func (p *Pattern) Save(w *checkpoint.Encoder) {
	if p == nil {
		w.Int(0)
		return
	}
	w.Int(len(p.neighbours))
	for _, n := range p.neighbours {
		w.Int(len(n))
		for _, j := range n {
			w.Int(j)
		}
	}
}

// LoadPattern reads what Save wrote, for dim parameters.
func LoadPattern(r *checkpoint.Decoder, dim int) *Pattern {
	neighbours := make([][]int, r.Count(8))
	for i := range neighbours {
		for range r.Count(8) {
			j := r.Int()
			if j < 0 || j >= dim || j == i {
				r.Fail("holds a pattern in which parameter %d has the neighbour %d", i, j)
				return nil
			}
			neighbours[i] = append(neighbours[i], j)
		}
	}
	switch {
	case r.Err() != nil || len(neighbours) == 0:
		return nil
	case len(neighbours) != dim:
		r.Fail("holds a pattern of %d parameters, not %d", len(neighbours), dim)
		return nil
	}
	return newPattern(neighbours)
}
