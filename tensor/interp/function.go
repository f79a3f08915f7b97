// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package interp

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Function is a piecewise polynomial in one variable, or several such functions on the same pieces.
// Where a function jumps between two pieces, its kind determines to which of them the point
// belongs.
type Function struct {
	lo, hi       float64   // ends of the table
	edges        []float64 // where one piece gives way to the next
	strict       bool      // whether a point on an edge belongs to the piece before it
	origin       []float64 // from where each piece counts
	degree       int
	coef         [][]float64 // for each row the coefficients of its pieces, highest power first
	out          Outside
	under, above []float64 // what the rows are outside, for Fill
}

// Outside says how a function continues outside its table.
type Outside int

// The ways in which a function can continue outside its table.
const (
	// Refuse makes a point outside the table an error.
	Refuse Outside = iota
	// Fill returns fixed numbers outside the table.
	Fill
	// Extrapolate continues the first and the last piece.
	Extrapolate
	// Periodic repeats the table: a point outside has the value of the point a whole number of
	// periods away that lies inside.
	Periodic
)

// RangeError says that a point lies outside the table.
type RangeError struct {
	At, Lo, Hi float64
	Axis       int // index of the axis in a Grid; 0 for a Function
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("interp: point %g is outside the table, %g..%g on axis %d: choose Fill or Extrapolate for what lies outside", e.At, e.Lo, e.Hi, e.Axis)
}

// Rows returns the number of functions that share the pieces.
func (f *Function) Rows() int { return len(f.coef) }

// At returns the values at the points x: len(x) of them for each row of the table.
func (f *Function) At(x []float64) ([]float64, error) { return f.Derivative(x, 0) }

// Derivative returns the derivatives of the given order, 0 or more, at the points x: len(x) numbers
// for each row of the table. Outside the table, the values set by Fill are returned for order 0 and
// their derivatives are 0.
func (f *Function) Derivative(x []float64, order int) ([]float64, error) {
	if order < 0 {
		panic("interp: the order of the derivative is negative: want at least 0")
	}
	out := make([]float64, len(f.coef)*len(x))
	for i, at := range x {
		inside := at >= f.lo && at <= f.hi
		switch {
		case math.IsNaN(at):
			for r := range f.coef {
				out[r*len(x)+i] = at
			}
			continue
		case inside || f.out == Extrapolate:
		case f.out == Periodic:
			at = f.lo + modulo(at-f.lo, f.hi-f.lo)
		case f.out == Refuse:
			return nil, &RangeError{At: at, Lo: f.lo, Hi: f.hi}
		default:
			fill := f.under
			if at > f.hi {
				fill = f.above
			}
			for r := range f.coef {
				if out[r*len(x)+i] = fill[r]; order > 0 {
					out[r*len(x)+i] *= 0 // NaN stays
				}
			}
			continue
		}
		cell := f.cell(at)
		for r := range f.coef {
			out[r*len(x)+i] = derivative(f.piece(r, cell), at-f.origin[cell], order)
		}
	}
	return out, nil
}

// Integral returns the integral from a to b for each row; b may be smaller than a. Parts of the
// interval outside the table follow Outside; where nothing is defined, the error is a *RangeError.
func (f *Function) Integral(a, b float64) ([]float64, error) {
	from, err := f.primitive(a)
	if err != nil {
		return nil, err
	}
	to, err := f.primitive(b)
	for r := range to {
		to[r] -= from[r]
	}
	return to, err
}

// primitive returns the integral from the beginning of the table to x.
func (f *Function) primitive(x float64) ([]float64, error) {
	sum := make([]float64, len(f.coef))
	periods := 0.0
	switch {
	case x >= f.lo && x <= f.hi || math.IsNaN(x) || f.out == Extrapolate:
	case f.out == Refuse:
		return nil, &RangeError{At: x, Lo: f.lo, Hi: f.hi}
	case f.out == Periodic:
		periods = math.Floor((x - f.lo) / (f.hi - f.lo))
		x -= periods * (f.hi - f.lo)
	default:
		fill, d := f.under, x-f.lo
		if x > f.hi {
			fill, d, x = f.above, x-f.hi, f.hi
		} else {
			x = f.lo
		}
		for r := range sum {
			sum[r] = fill[r] * d
		}
	}
	for r := range sum {
		sum[r] += f.area(r, x)
		if periods != 0 {
			sum[r] += periods * f.area(r, f.hi)
		}
	}
	return sum, nil
}

// area returns the integral of a row from the beginning of the table to x.
func (f *Function) area(r int, x float64) float64 {
	last, from, sum := f.cell(x), f.lo, 0.0
	for cell := 0; cell <= last; cell++ {
		to := x
		if cell < last {
			to = f.edges[cell]
		}
		p, o := f.piece(r, cell), f.origin[cell]
		sum += integral(p, to-o) - integral(p, from-o)
		from = to
	}
	return sum
}

func (f *Function) piece(row, cell int) []float64 {
	k := f.degree + 1
	return f.coef[row][cell*k : (cell+1)*k]
}

// cell returns the piece of a point.
func (f *Function) cell(x float64) int {
	if f.strict {
		return sort.SearchFloat64s(f.edges, x)
	}
	return sort.Search(len(f.edges), func(i int) bool { return f.edges[i] > x })
}

// derivative evaluates a derivative of the polynomial with the coefficients c, highest power first.
func derivative(c []float64, x float64, order int) float64 {
	y := 0.0
	for i := range max(0, len(c)-order) {
		power, v := len(c)-1-i, c[i]
		for k := range order {
			v *= float64(power - k)
		}
		y = y*x + v
	}
	return y
}

// integral evaluates the integral from 0 to x.
func integral(c []float64, x float64) float64 {
	y := 0.0
	for i, v := range c {
		y = y*x + v/float64(len(c)-i)
	}
	return y * x
}

// modulo returns the remainder with the sign of the divisor.
func modulo(x, y float64) float64 {
	m := math.Mod(x, y)
	if m != 0 && (m < 0) != (y < 0) {
		m += y
	}
	return m
}

// table checks x, which must ascend, and splits y into rows.
func table(what string, least int, x, y []float64) ([][]float64, error) {
	n := len(x)
	if n < least {
		return nil, fmt.Errorf("interp: %s: there are %d points: want at least %d", what, n, least)
	}
	if len(y)%n != 0 || len(y) == 0 {
		return nil, fmt.Errorf("interp: %s: there are %d values for %d points: give one or more rows with one value for each point", what, len(y), n)
	}
	for i := range x {
		if math.IsNaN(x[i]) || math.IsInf(x[i], 0) || i > 0 && x[i] <= x[i-1] {
			return nil, fmt.Errorf("interp: %s: point %d is %g: want finite points in ascending order", what, i, x[i])
		}
	}
	var rows [][]float64
	for r := range slices.Chunk(y, n) {
		rows = append(rows, r)
	}
	return rows, nil
}

// fill sets what all rows are outside.
func (f *Function) fill(out Outside, below, above float64) *Function {
	f.out = out
	f.under, f.above = slices.Repeat([]float64{below}, len(f.coef)), slices.Repeat([]float64{above}, len(f.coef))
	return f
}
