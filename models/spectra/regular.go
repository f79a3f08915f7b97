// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Regular interpolates log spectra linearly in every parameter, in the cells of a regular grid some
// of whose points may be missing. Where a corner of the cell is missing, and outside the grid, it
// takes the nearest template.
type Regular struct {
	axes    [][]float64
	ids     []float64 // template at each point of the grid, -1 for none
	strides []int
	clamp   bool
	nearest *Nearest
}

// RegularSettings describe a regular grid.
type RegularSettings struct {
	Axes [][]float64 // ascending values of the mapped parameters
	// IDs are the numbers of the templates at the points of the grid, row-major, the last parameter
	// fastest; -1 for none.
	IDs     []int
	Points  []float64 // mapped parameters of the templates, a row for each
	LogFlux []float64 // logarithms of the spectra, a row for each template
	// Clamp treats a star at the upper end of an axis as inside. Without it the star is outside, as
	// in the reference, and its spectrum jumps to that of the nearest template.
	Clamp bool
}

// NewRegular checks the settings.
func NewRegular(s RegularSettings) (*Regular, error) {
	n, err := NewNearest(s.Points, len(s.Axes), s.LogFlux)
	if err != nil {
		return nil, err
	}
	r := &Regular{axes: s.Axes, clamp: s.Clamp, nearest: n, strides: make([]int, len(s.Axes))}
	size := 1
	for k, axis := range slices.Backward(s.Axes) {
		if len(axis) < 2 {
			return nil, fmt.Errorf("spectra: axis %d of a regular grid has %s: want at least 2", k, errtext.Count(len(axis), "value"))
		}
		for i := 1; i < len(axis); i++ {
			if !(axis[i] > axis[i-1]) || math.IsInf(axis[i]-axis[i-1], 1) {
				return nil, fmt.Errorf("spectra: values %d and %d of axis %d of a regular grid are %v and %v: want ascending numbers", i-1, i, k, axis[i-1], axis[i])
			}
		}
		r.strides[k] = size
		size *= len(axis)
	}
	if len(s.IDs) != size {
		return nil, fmt.Errorf("spectra: the regular grid has %s, but %s: give a template number, or -1, for each", errtext.Count(size, "point"), errtext.Count(len(s.IDs), "template"))
	}
	count := len(s.Points) / len(s.Axes)
	for i, id := range s.IDs {
		if id < -1 || id >= count {
			return nil, fmt.Errorf("spectra: point %d of the regular grid has template %d, but there are %d: want -1 for none, or a number from 0", i, id, count)
		}
		if err := r.matches(i, id, s.Points); err != nil {
			return nil, err
		}
		r.ids = append(r.ids, float64(id))
	}
	return r, nil
}

// matches reports an error unless the parameters of a template are those of its node of the grid, to a
// thousandth of the distance to the next one.
func (r *Regular) matches(node, id int, points []float64) error {
	for k, axis := range r.axes {
		if id < 0 {
			break
		}
		at := node / r.strides[k] % len(axis)
		near := min(at, len(axis)-2)
		x := points[id*len(r.axes)+k]
		if !(math.Abs(x-axis[at]) <= 1e-3*(axis[near+1]-axis[near])) {
			return fmt.Errorf("spectra: template %d of the regular grid has %v in dimension %d, but its node has %v: make the library again", id, x, k, axis[at])
		}
	}
	return nil
}

// Dim returns the number of parameters.
func (r *Regular) Dim() int { return len(r.axes) }

// Bounds returns the ends of the axes.
func (r *Regular) Bounds() (lower, upper []float64) {
	for _, axis := range r.axes {
		lower, upper = append(lower, axis[0]), append(upper, axis[len(axis)-1])
	}
	return lower, upper
}

// Pixels returns the length of a spectrum.
func (r *Regular) Pixels() int { return r.nearest.Pixels() }

// Interpolate interpolates. Outside is 0 inside, and the distance to the nearest template elsewhere. The
// gradient jumps from cell to cell.
func (r *Regular) Interpolate(x *ad.Node) (logFlux, outside *ad.Node) {
	d := r.Dim()
	inside := ad.Scalar(1)
	weights := make([][2]*ad.Node, d) // of the lower and the upper corner
	corner := ad.Scalar(0)            // place of the lower corner in the grid
	for k, axis := range r.axes {
		v, n := column(x, k), len(axis)
		// The number of values that are not above v.
		at := ad.SumAxes(ad.GreaterEqual(rows(v), ad.Const(axis)), -1)
		upper := ad.Less(at, ad.Scalar(float64(n)))
		if r.clamp {
			upper = ad.LessEqual(v, ad.Scalar(axis[n-1]))
		}
		inside = ad.Mul(inside, ad.Mul(ad.GreaterEqual(at, ad.Scalar(1)), upper))
		cell := ad.Clip(ad.Shift(at, -1), 0, float64(n-2))
		corner = ad.Add(corner, ad.Scale(float64(r.strides[k]), cell))
		id := index(cell, n-1)
		lo := ad.Gather(ad.Const(axis[:n-1]), id, 0)
		widths := make([]float64, n-1)
		for i := range widths {
			widths[i] = 1 / (axis[i+1] - axis[i])
		}
		up := ad.Mul(ad.Sub(v, lo), ad.Gather(ad.Const(widths), id, 0))
		weights[k] = [2]*ad.Node{ad.Sub(ad.Scalar(1), up), up}
	}
	offsets := make([]float64, 1<<d)
	products := make([]*ad.Node, 1<<d)
	for c := range products {
		w := ad.Scalar(1)
		for k := range d {
			up := c >> k & 1
			offsets[c] += float64(up * r.strides[k])
			w = ad.Mul(w, weights[k][up])
		}
		products[c] = w
	}
	places := ad.Add(rows(corner), ad.Const(offsets))
	ids := ad.Gather(ad.Const(r.ids), index(places, len(r.ids)), 0)
	inside = ad.Mul(inside, ad.GreaterEqual(ad.MinAxes(ids, -1), ad.Scalar(0)))
	logFlux = weighted(r.nearest.logFlux, index(ids, r.nearest.logFlux.Shape()[0]), ad.Stack(-1, products...))
	near, distance := r.nearest.Interpolate(x)
	return ad.Where(rows(inside), logFlux, near), ad.Where(inside, ad.Scalar(0), distance)
}

// weighted returns the sums of some rows of a table, with weights of the same shape as ids.
func weighted(table, ids, weights *ad.Node) *ad.Node {
	s := weights.Shape()
	lead, n := s[:len(s)-1], s[len(s)-1]
	sum := ad.MatMul(ad.Reshape(weights, append(lead.Clone(), 1, n)...), ad.Gather(table, ids, 0))
	return ad.Reshape(sum, append(lead.Clone(), table.Shape()[1])...)
}
