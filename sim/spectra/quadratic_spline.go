// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"
)

// QuadraticSpline is the interpolating quadratic spline of a continuum, whose knots lie halfway between its nodes but
// for the first and the last pair. It is linear in the values at the nodes.
type QuadraticSpline struct {
	nodes, knots []float64
	fit          *mat.LU // of the B-splines at the nodes
}

// NewQuadraticSpline makes the spline through at least three ascending nodes.
func NewQuadraticSpline(nodes []float64) (*QuadraticSpline, error) {
	n := len(nodes)
	if n < 3 {
		return nil, fmt.Errorf("spectra: the quadratic spline has %d nodes: want at least 3", n)
	}
	for i := 1; i < n; i++ {
		if !(nodes[i] > nodes[i-1]) {
			return nil, &GridError{Index: i}
		}
	}
	q := &QuadraticSpline{nodes: nodes}
	first, last := nodes[0], nodes[n-1]
	q.knots = append(q.knots, first, first, first)
	for i := 1; i < n-2; i++ {
		q.knots = append(q.knots, (nodes[i]+nodes[i+1])/2)
	}
	q.knots = append(q.knots, last, last, last)
	b := mat.NewDense(n, n, nil)
	for i, x := range nodes {
		q.row(b.RawRowView(i), x)
	}
	q.fit = &mat.LU{}
	q.fit.Factorize(b)
	return q, nil
}

// BSplines returns the values at x of the three quadratic B-splines on the spline's knots that are
// not 0 there, and the number of the first: there are as many B-splines as nodes, and they sum to
// 1. The outermost parabolas continue beyond the ends.
func (q *QuadraticSpline) BSplines(x float64) (first int, values [3]float64) {
	n := len(q.nodes)
	j := min(max(sort.Search(len(q.knots), func(i int) bool { return q.knots[i] > x })-1, 2), n-1)
	t := q.knots
	a := (t[j+1] - x) / (t[j+1] - t[j])
	l0 := a * (t[j+1] - x) / (t[j+1] - t[j-1])
	l2 := (1 - a) * (x - t[j]) / (t[j+2] - t[j])
	return j - 2, [3]float64{l0, 1 - l0 - l2, l2}
}

// row writes the values at x of all B-splines to dst.
func (q *QuadraticSpline) row(dst []float64, x float64) {
	clear(dst)
	first, v := q.BSplines(x)
	copy(dst[first:], v[:])
}

// Matrix returns, row by row for each x, the weights of the values at the nodes in the spline at x.
func (q *QuadraticSpline) Matrix(x []float64) ([]float64, error) {
	n := len(q.nodes)
	b := mat.NewDense(n, max(len(x), 1), nil)
	row := make([]float64, n)
	for k, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("spectra: the spline is asked for at point %d, %g: want a finite wavelength", k, v)
		}
		q.row(row, v)
		b.SetCol(k, row)
	}
	var w mat.Dense
	var ill mat.Condition
	if err := q.fit.SolveTo(&w, true, b); err != nil && (!errors.As(err, &ill) || math.IsInf(float64(ill), 1)) {
		return nil, fmt.Errorf("spectra: the spline through %d nodes: %w", n, err)
	}
	out := make([]float64, 0, n*len(x))
	for k := range x {
		for i := range n {
			out = append(out, w.At(i, k))
		}
	}
	return out, nil
}
