// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package interp

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Grid interpolates values on a regular grid of any number of axes.
type Grid struct {
	axes   [][]float64 // ascending
	values []float64   // the last axis is the fastest
	stride []int
	s      GridSettings
}

// GridSettings say how a [Grid] interpolates and what lies outside.
type GridSettings struct {
	// Nearest returns the value of the nearest point instead of interpolating linearly along each
	// axis. Halfway between two points it takes the one before.
	Nearest bool
	// Outside says how the grid continues outside its points. Periodic is not supported. Default
	// Refuse.
	Outside Outside
	// Fill is the value outside the grid if Outside is Fill.
	Fill float64
}

// NewGrid makes a grid from the values at the points of the axes, which ascend or descend; the last
// axis of the values is the fastest. It returns an error if the number of values does not match the
// axes, or if points are equal or not finite.
func NewGrid(axes [][]float64, values []float64, s GridSettings) (*Grid, error) {
	if len(axes) == 0 || s.Outside < Refuse || s.Outside > Extrapolate {
		return nil, fmt.Errorf("interp: the grid has %d axes and Outside is %d: want at least one axis, and Refuse, Fill or Extrapolate", len(axes), s.Outside)
	}
	g := &Grid{values: values, stride: make([]int, len(axes)), s: s}
	n := 1
	for d := len(axes) - 1; d >= 0; d-- {
		g.stride[d] = n
		n *= len(axes[d])
	}
	if n != len(values) || n == 0 {
		return nil, fmt.Errorf("interp: there are %d values for a grid of %d points: give one for each point", len(values), n)
	}
	for d, x := range axes {
		x = slices.Clone(x)
		if len(x) > 1 && x[0] > x[len(x)-1] {
			slices.Reverse(x)
			g.values = flipped(g.values, g.stride[d], len(x))
		}
		if _, err := table(fmt.Sprintf("axis %d", d), 1, x, x); err != nil {
			return nil, err
		}
		g.axes = append(g.axes, x)
	}
	return g, nil
}

// flipped returns the values with one axis, of n elements, reversed.
func flipped(v []float64, stride, n int) []float64 {
	out := make([]float64, len(v))
	for i := range out {
		k := i / stride % n
		out[i] = v[i+(n-1-2*k)*stride]
	}
	return out
}

// At returns the values at points: one slice of coordinates for each axis, all of one length.
func (g *Grid) At(coordinates ...[]float64) ([]float64, error) {
	if len(coordinates) != len(g.axes) {
		panic(fmt.Sprintf("interp: there are %d slices of coordinates for a grid of %d axes: give one for each axis", len(coordinates), len(g.axes)))
	}
	out := make([]float64, len(coordinates[0]))
	for _, c := range coordinates {
		if len(c) != len(out) {
			panic("interp: the slices of coordinates have different lengths: give one coordinate of each axis for each point")
		}
	}
	t := make([]float64, len(g.axes))
	for i := range out {
		at, inside, err := g.locate(coordinates, i, t)
		switch {
		case slices.ContainsFunc(coordinates, func(c []float64) bool { return math.IsNaN(c[i]) }):
			out[i] = math.NaN()
		case err != nil:
			return nil, err
		case !inside:
			out[i] = g.s.Fill
		default:
			out[i] = g.blend(at, t)
		}
	}
	return out, nil
}

// locate returns the first element of the cell of point i, with the fractions of the cell in t, and whether the cell
// counts for it.
func (g *Grid) locate(coordinates [][]float64, i int, t []float64) (at int, inside bool, err error) {
	for d, c := range coordinates {
		x, v := g.axes[d], c[i]
		if v < x[0] || v > x[len(x)-1] {
			switch g.s.Outside {
			case Refuse:
				return 0, false, &RangeError{At: v, Lo: x[0], Hi: x[len(x)-1], Axis: d}
			case Fill:
				return 0, false, nil
			}
		}
		k := min(max(sort.SearchFloat64s(x, v)-1, 0), max(len(x)-2, 0))
		t[d] = 0
		if len(x) > 1 {
			t[d] = (v - x[k]) / (x[k+1] - x[k])
		}
		at += k * g.stride[d]
	}
	return at, true, nil
}

// blend returns the value at the fractions t of the cell that begins at an element.
func (g *Grid) blend(at int, t []float64) float64 {
	if g.s.Nearest {
		for d, f := range t {
			if f > 0.5 {
				at += g.stride[d]
			}
		}
		return g.values[at]
	}
	sum := 0.0
corners:
	for corner := range 1 << len(t) {
		w, k := 1.0, at
		for d, f := range t {
			if corner>>d&1 == 0 {
				w *= 1 - f
				continue
			}
			if len(g.axes[d]) == 1 {
				continue corners
			}
			w *= f
			k += g.stride[d]
		}
		sum += w * g.values[k]
	}
	return sum
}
