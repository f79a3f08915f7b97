// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// hubShare is the part of the draws that the neighbours of a parameter may number for its row to be fitted by itself.
const hubShare = 4

// Metric returns the metric of the precision P with the pattern by which the gradients of draws, centred, are most nearly -P times the draws, row by row. It is
// exact for a normal distribution once there are more draws than neighbours. Parameters with many neighbours, such as the scales of
// a hierarchy, take the entries that they share with others from these. It returns false where P is not positive definite.
//
//	minimise over P_i:  sum over draws of (g_i + sum_j P_ij x_j)^2 + ridge |P_i - e_i|^2,  j in {i} and its neighbours
//
// The rows are those of score matching (doi:10.1214/16-EJS1126 has the form for sparse precisions).
func (p *Pattern) Metric(z, g [][]float64) (hamiltonian.Metric, bool) {
	f, ok := fitScales(z, g)
	if !ok {
		return hamiltonian.Metric{}, false
	}
	x, a := centred(z), centred(g)
	columns := func(rows [][]float64, divide bool) [][]float64 { // in units of the scales, a row for each parameter
		out := make([][]float64, len(f.scale))
		for i, s := range f.scale {
			if divide {
				s = 1 / s
			}
			out[i] = make([]float64, len(rows))
			for k, row := range rows {
				out[i][k] = row[i] * s
			}
		}
		return out
	}
	precision, ok := p.precision(columns(x, true), columns(a, false))
	if !ok {
		return hamiltonian.Metric{}, false
	}
	for range 6 {
		if l, ok := p.factor(precision, f.scale); ok {
			return hamiltonian.Metric{Sparse: l}, true
		}
		for i := range precision { // towards what the diagonal says
			precision[i][i] += 0.1 * math.Abs(precision[i][i])
		}
	}
	return hamiltonian.Metric{}, false
}

// precision fits the rows of P, in units of the scales.
func (p *Pattern) precision(x, g [][]float64) ([]map[int]float64, bool) {
	rows := make([]map[int]float64, len(x))
	hub := func(i int) bool { return hubShare*(1+len(p.neighbours[i])) > len(x[0]) }
	var hubs []int
	for i := range x {
		if hub(i) {
			hubs = append(hubs, i)
			continue
		}
		at := append([]int{i}, p.neighbours[i]...)
		var ok bool
		if rows[i], ok = fitRow(i, at, x, g[i]); !ok {
			return nil, false
		}
	}
	for _, i := range hubs {
		rest, at, known := slices.Clone(g[i]), []int{i}, map[int]float64{}
		for _, j := range p.neighbours[i] {
			if hub(j) {
				at = append(at, j)
				continue
			}
			known[j] = rows[j][i]
			linalg.AddScaled(rest, rows[j][i], x[j])
		}
		if hubShare*len(at) > len(rest) {
			return nil, false
		}
		row, ok := fitRow(i, at, x, rest)
		if !ok {
			return nil, false
		}
		for j, v := range known {
			row[j] = v
		}
		rows[i] = row
	}
	for i := range rows {
		for _, j := range p.neighbours[i] {
			if j > i {
				v := (rows[i][j] + rows[j][i]) / 2
				rows[i][j], rows[j][i] = v, v
			}
		}
	}
	return rows, true
}

// fitRow fits the entries at of row i.
func fitRow(i int, at []int, x [][]float64, g []float64) (map[int]float64, bool) {
	n := len(at)
	normal, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for a, j := range at {
		for b := a; b < n; b++ {
			normal.SetSym(a, b, linalg.FastDot(x[j], x[at[b]]))
		}
		normal.SetSym(a, a, normal.At(a, a)+fisherGamma)
		right.SetVec(a, -linalg.FastDot(x[j], g))
		if j == i {
			right.SetVec(a, right.AtVec(a)+fisherGamma)
		}
	}
	var c mat.Cholesky
	var v mat.VecDense
	if !c.Factorize(normal) || c.SolveVecTo(&v, right) != nil {
		return nil, false
	}
	row := make(map[int]float64, n)
	for a, j := range at {
		row[j] = v.AtVec(a)
	}
	return row, true
}

// factor returns the Cholesky factor of P in the units of the parameters, false where P is not positive definite. Each column is that of P less what
// the columns before it with an entry in its row explain.
func (p *Pattern) factor(precision []map[int]float64, scale []float64) (*hamiltonian.SparseFactor, bool) {
	d := len(p.order)
	s := hamiltonian.SparseFactor{Order: slices.Clone(p.order), Start: make([]int, 1, d+1)}
	work := make([]float64, d)
	waiting := make([][][2]int, d) // for each row, the columns whose next entry lies there, and where
	for k, c := range p.order {
		for _, r := range p.columns[k] {
			work[r] = precision[c][r]
		}
		pivot := precision[c][c]
		for _, w := range waiting[k] {
			from, to := w[1], s.Start[w[0]+1]
			l := s.L[from]
			pivot -= l * l
			for e := from + 1; e < to; e++ {
				work[s.Row[e]] -= l * s.L[e]
			}
			if from+1 < to {
				next := p.place[s.Row[from+1]]
				waiting[next] = append(waiting[next], [2]int{w[0], from + 1})
			}
		}
		waiting[k] = nil
		if !(pivot > 1e-12*math.Abs(precision[c][c])) || math.IsInf(pivot, 0) {
			return nil, false
		}
		pivot = math.Sqrt(pivot)
		s.Row, s.L = append(s.Row, c), append(s.L, pivot)
		for _, r := range p.columns[k] {
			s.Row, s.L = append(s.Row, r), append(s.L, work[r]/pivot)
			work[r] = 0
		}
		if first := s.Start[k] + 1; first < len(s.L) {
			next := p.place[s.Row[first]]
			waiting[next] = append(waiting[next], [2]int{k, first})
		}
		s.Start = append(s.Start, len(s.L))
	}
	for e, r := range s.Row {
		s.L[e] /= scale[r]
	}
	return hamiltonian.NewSparseFactor(s.Order, s.Start, s.Row, s.L), true
}
