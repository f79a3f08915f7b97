// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/infer/check"
)

// A verdict removes what the free parameters can take up from the differences between data and model, and so says of a point near the minimum
// what it would say of the minimum. That the point is one is tested here.

// farOff is how many of its standard deviations a parameter may be away from the minimum of the squares of cells. A fit to all pairs ends
// within a fraction of one.
const farOff = 1.5

// offMinimum returns the finding that a point is not where least squares of entries would put it: the step to the minimum of the cells, weighted
// by their numbers of pairs, in units of the errors of this minimum.
func (b *byCells) offMinimum(l *linearised) (check.Flag, bool) {
	p := len(l.jacobian)
	if p == 0 || len(l.z) < p+leastFreedom || b.priored {
		return check.Flag{}, false
	}
	var jacobian, scatter []span
	for k, column := range b.ofPairs(l.jacobian) {
		jacobian, scatter = append(jacobian, spanOf(l.jacobian[k])), append(scatter, spanOf(column))
	}
	// J'N J, J'N r and the covariance of the latter
	h, q, gradient := mat.NewSymDense(p, nil), mat.NewSymDense(p, nil), make([]float64, p)
	for a, s := range scatter {
		gradient[a] = s.times(span{0, l.z})
		for c := range a + 1 {
			h.SetSym(c, a, s.times(jacobian[c]))
			q.SetSym(c, a, s.times(scatter[c]))
		}
	}
	inverse, ok := inverted(h, p)
	if !ok {
		return check.Flag{}, false
	}
	var left, cov mat.Dense
	left.Mul(inverse, q)
	cov.Mul(&left, inverse)
	worst, name := 0.0, ""
	for a := range p {
		step := 0.0
		for c, v := range gradient {
			step += inverse.At(a, c) * v
		}
		if away := math.Abs(step) / math.Sqrt(cov.At(a, a)); away > worst {
			worst, name = away, l.names[a]
		}
	}
	if !(worst > farOff) {
		return check.Flag{}, false
	}
	return check.Flag{Kind: check.KindUnconverged, Text: fmt.Sprintf("the point is not at a minimum of the squares: %s would move by about %.2g standard deviations to get there", name, worst),
		Remedy: "start the fit nearer to the solution or from more points, or judge the point at which a fit ended"}, true
}

// ofPairs returns W^-T N W^-1 c of whitened columns c, with the whitening W and the numbers N of pairs in the cells. A product with a whitened
// column is then that in a least-squares fit of pairs, where each has the same weight.
func (b *byCells) ofPairs(columns [][]float64) [][]float64 {
	out, from := make([][]float64, len(columns)), 0
	for k := range b.white {
		used, w := b.triangle(k)
		for a, c := range columns {
			v := mat.NewVecDense(len(used), slices.Clone(c[from:from+len(used)]))
			if slices.ContainsFunc(v.RawVector().Data, func(v float64) bool { return v != 0 }) { // else it is of another angle
				if v.SolveVec(w, v) != nil {
					v.Zero()
				}
				for i, cell := range used {
					v.SetVec(i, v.AtVec(i)*float64(b.blocks.count[k][cell]))
				}
				if v.SolveVec(w.TTri(), v) != nil {
					v.Zero()
				}
			}
			out[a] = append(out[a], v.RawVector().Data...)
		}
		from += len(used)
	}
	return out
}

// triangle returns the cells of an angle that have pairs, and their whitening.
func (b *byCells) triangle(angle int) (used []int, w *mat.TriDense) {
	for c, pairs := range b.blocks.count[angle] {
		if pairs > 0 {
			used = append(used, c)
		}
	}
	k := len(b.blocks.cells)
	w = mat.NewTriDense(len(used), mat.Lower, nil)
	for i, u := range used {
		for j := range i + 1 {
			w.SetTri(i, j, b.white[angle].inverse[u*k+used[j]])
		}
	}
	return used, w
}
