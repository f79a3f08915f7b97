// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ndimage

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// ZoomSettings say how [Zoom] resamples.
type ZoomSettings struct {
	Factor []float64 // new length divided by the old one: one for all axes or one for each; lengths are rounded half to even
	Order  int       // degree of the spline, from 0 (nearest) to 5
	Mode   Mode      // continuation of the spline beyond the ends; default Constant, which acts like Mirror here
	// NoPrefilter uses the elements as the coefficients of the spline, which then smooths instead
	// of interpolating.
	NoPrefilter bool
}

// Zoom resamples x on a grid whose first and last points are those of x: along an axis of n
// elements, element i of m lies at i*(n-1)/(m-1), or at 0 if m is 1. Splines of order 2 to 5 go
// through the elements of x, with the ends continued as Mode says. Gradient: the transposed
// resampling.
//
// Every point lies within the grid, so that the constant of mode Constant never appears; in SciPy
// it does if rounding puts the last point beyond the end. A NaN spreads over about 80 elements,
// whereas in SciPy it spreads over the whole axis.
func Zoom(x *ad.Node, s ZoomSettings) *ad.Node {
	if x.Err() != nil {
		return x
	}
	mode, err := s.Mode.resolve(Constant)
	if err != nil {
		return fail("zoom: %v", err)
	}
	factor, ok := perAxis(s.Factor, len(x.Shape()))
	if !ok || s.Order < 0 || s.Order > 5 {
		return fail("zoom: there are %d factors for shape %v, and the order is %d: give one factor, or one for each axis, and an order from 0 to 5", len(s.Factor), x.Shape(), s.Order)
	}
	for axis, f := range factor {
		n := x.Shape()[axis]
		m := math.RoundToEven(float64(n) * f)
		if !(m >= 1) || n == 0 || m > 1<<31 {
			return fail("zoom: axis %d has %d elements, and its factor is %g: want a new length of at least 1", axis, n, f)
		}
		if int(m) != n || s.NoPrefilter {
			x = spline{s.Order, mode, !s.NoPrefilter}.resampling(n, int(m)).Along(x, axis)
		}
	}
	return x
}

// spline says how an axis continues under a spline of some order, and whether it interpolates.
type spline struct {
	order     int
	mode      Mode
	prefilter bool
}

// negligible is the weight, of weights that add up to about 1, below which an element is left out.
const negligible = 1e-19

// margin is the number of elements by which an axis is continued in mode Nearest before it is interpolated, as in SciPy.
const margin = 12

// resampling returns the matrix that makes m elements of n.
func (s spline) resampling(n, m int) *ad.SparseMatrix {
	pad, length, edge := 0, n, Mirror
	interpolates := s.prefilter && s.order > 1
	switch {
	case s.mode == Nearest && interpolates:
		pad, length, edge = margin, n+2*margin, Reflect
	case s.mode == Nearest || s.mode == Reflect:
		edge = s.mode
	}
	var c *collocation
	if interpolates {
		c = newCollocation(s.order, length, edge)
	}
	out := newRows(n)
	w := make([]float64, length)
	for i := range m {
		at := 0.0
		if m > 1 {
			at = min(float64(n-1)/float64(m-1)*float64(i), float64(n-1))
		}
		clear(w)
		first, weights := basis(s.order, at+float64(pad))
		for k, v := range weights {
			w[edge.index(first+k, length)] += v
		}
		if c != nil {
			c.solveTransposed(w)
		}
		for j, v := range w {
			if math.Abs(v) > negligible {
				out.add(min(max(j-pad, 0), n-1), v)
			}
		}
		out.end()
	}
	return out.matrix()
}

// basis returns the weights of the order+1 basis splines that do not vanish at a point, and which is the first of them.
func basis(order int, at float64) (first int, w []float64) {
	if order == 0 {
		return int(math.Floor(at + 0.5)), []float64{1}
	}
	first = int(math.Floor(at+0.5*float64(1-order%2))) - order/2
	for k := range order + 1 {
		w = append(w, bSpline(order, at-float64(first+k)))
	}
	return first, w
}

// bSpline returns the centred cardinal B-spline of an order, by de Boor's recurrence.
func bSpline(order int, x float64) float64 {
	if order == 0 {
		if x >= -0.5 && x < 0.5 {
			return 1
		}
		return 0
	}
	h := float64(order+1) / 2
	if math.Abs(x) >= h {
		return 0
	}
	if order == 1 {
		return 1 - math.Abs(x)
	}
	return ((h+x)*bSpline(order-1, x+0.5) + (h-x)*bSpline(order-1, x-0.5)) / float64(order)
}

// collocation is the factored banded matrix of the basis splines at the elements of an axis. Its diagonal dominates, so
// there is no pivoting.
type collocation struct {
	n, half int
	lu      []float64 // row i holds the columns i-half ... i+half
}

func newCollocation(order, n int, edge Mode) *collocation {
	c := &collocation{n: n, half: order / 2}
	wide := 2*c.half + 1
	c.lu = make([]float64, n*wide)
	for i := range n {
		for d := -c.half; d <= c.half; d++ {
			j := edge.index(i+d, n)
			*c.at(i, j) += bSpline(order, float64(d))
		}
	}
	for k := range n {
		for i := k + 1; i <= min(k+c.half, n-1); i++ {
			f := *c.at(i, k) / *c.at(k, k)
			*c.at(i, k) = f
			for j := k + 1; j <= min(k+c.half, n-1); j++ {
				*c.at(i, j) -= f * *c.at(k, j)
			}
		}
	}
	return c
}

func (c *collocation) at(i, j int) *float64 { return &c.lu[i*(2*c.half+1)+j-i+c.half] }

// solveTransposed replaces w by the solution of the system with the transposed matrix.
func (c *collocation) solveTransposed(w []float64) {
	for i := range c.n {
		for k := max(0, i-c.half); k < i; k++ {
			w[i] -= *c.at(k, i) * w[k]
		}
		w[i] /= *c.at(i, i)
	}
	for i := c.n - 1; i >= 0; i-- {
		for k := i + 1; k <= min(i+c.half, c.n-1); k++ {
			w[i] -= *c.at(k, i) * w[k]
		}
	}
}
