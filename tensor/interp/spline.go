// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package interp

import (
	"fmt"
	"math"
	"slices"
)

// Condition says how a [CubicSpline] behaves at an end of its table.
type Condition string

// Conditions at the ends of a cubic spline.
const (
	// NotAKnot makes the two outer pieces one polynomial.
	NotAKnot Condition = "not-a-knot"
	// Natural fixes the second derivative, which is 0 unless a value is given.
	Natural Condition = "natural"
	// Clamped fixes the first derivative, which is 0 unless a value is given.
	Clamped Condition = "clamped"
	// Repeated makes the value and two derivatives equal at both ends, for periodic functions.
	Repeated Condition = "periodic"
)

// CubicSettings say how a [CubicSpline] behaves at its ends.
type CubicSettings struct {
	// Start and End are the conditions at the two ends. Repeated must be set at both. Default
	// NotAKnot.
	Start, End Condition
	// StartValue and EndValue are the derivatives that Natural and Clamped fix; default 0.
	StartValue, EndValue float64
}

// CubicSpline interpolates the values y at ascending points x, at least two, by pieces of order 3
// whose first and second derivatives agree where they meet. Each row of len(x) values of y is a
// function of its own. With NotAKnot, two points give a line and three a parabola. Outside the
// table the outer pieces continue; a periodic spline repeats.
func CubicSpline(x, y []float64, s CubicSettings) (*Function, error) {
	rows, err := table("cubic spline", 2, x, y)
	if err != nil {
		return nil, err
	}
	for _, c := range []*Condition{&s.Start, &s.End} {
		if *c == "" {
			*c = NotAKnot
		}
		if !slices.Contains([]Condition{NotAKnot, Natural, Clamped, Repeated}, *c) {
			return nil, fmt.Errorf("interp: cubic spline: there is no condition %q: use not-a-knot, natural, clamped or periodic", string(*c))
		}
	}
	out := Extrapolate
	if s.Start == Repeated || s.End == Repeated {
		if s.Start != s.End {
			return nil, fmt.Errorf("interp: cubic spline: the condition is %s at the start and %s at the end: set periodic at both ends or at neither", s.Start, s.End)
		}
		for r, v := range rows {
			if a, b := v[0], v[len(v)-1]; !(math.Abs(a-b) <= 1e-15+1e-15*math.Abs(b)) {
				return nil, fmt.Errorf("interp: cubic spline: row %d begins with %g and ends with %g: a periodic spline needs equal values at both ends", r, a, b)
			}
		}
		out = Periodic
	}
	x = slices.Clone(x)
	return hermite(x, rows, cubicSlopes(x, rows, s)).fill(out, 0, 0), nil
}

// PCHIP interpolates the values y at ascending points x by pieces of order 3 that are monotone where the values are:
// there is no overshoot, but the second derivative jumps. Rows and ends are those of [CubicSpline].
//
// Reference: Fritsch and Butland, SIAM J. Sci. Stat. Comput. 5 (1984) 300, doi 10.1137/0905021.
func PCHIP(x, y []float64) (*Function, error) {
	rows, err := table("pchip", 2, x, y)
	if err != nil {
		return nil, err
	}
	x = slices.Clone(x)
	slopes := make([][]float64, len(rows))
	for r, v := range rows {
		slopes[r] = monotoneSlopes(x, v)
	}
	return hermite(x, rows, slopes).fill(Extrapolate, 0, 0), nil
}

// Akima interpolates the values y at ascending points x by pieces of order 3 whose slopes depend on the two intervals on
// either side, so that an outlier disturbs only its neighbours. Rows are those of [CubicSpline]; outside, it is NaN.
//
// Reference: Akima, J. ACM 17 (1970) 589, doi 10.1145/321607.321609.
func Akima(x, y []float64) (*Function, error) {
	rows, err := table("akima", 2, x, y)
	if err != nil {
		return nil, err
	}
	x = slices.Clone(x)
	return hermite(x, rows, akimaSlopes(x, rows)).fill(Fill, math.NaN(), math.NaN()), nil
}

// hermite returns the cubic pieces with given values and slopes at the points.
func hermite(x []float64, rows, slopes [][]float64) *Function {
	f := pieces(x, 3, len(rows))
	for r, y := range rows {
		s := slopes[r]
		for i := range len(x) - 1 {
			h := x[i+1] - x[i]
			m := (y[i+1] - y[i]) / h
			t := (s[i] + s[i+1] - 2*m) / h
			copy(f.piece(r, i), []float64{t / h, (m-s[i])/h - t, s[i], y[i]})
		}
	}
	return f
}

// differences returns the lengths of the intervals and the slopes of the lines through the points.
func differences(x, y []float64) (h, m []float64) {
	h, m = make([]float64, len(x)-1), make([]float64, len(x)-1)
	for i := range h {
		h[i] = x[i+1] - x[i]
		m[i] = (y[i+1] - y[i]) / h[i]
	}
	return h, m
}

// cubicSlopes returns the slopes at the points for which the second derivative is continuous.
func cubicSlopes(x []float64, rows [][]float64, s CubicSettings) [][]float64 {
	n := len(x)
	if s.Start == Repeated {
		return periodicSlopes(x, rows)
	}
	notAKnot := func(c Condition) bool { return c == NotAKnot || c == "" }
	// Three points determine a parabola, two a line: one condition that a knot is none says nothing more.
	if n == 3 && notAKnot(s.Start) && notAKnot(s.End) {
		return parabolaSlopes(x, rows)
	}
	a := newBand(n, 1)
	out := make([][]float64, len(rows))
	for r, y := range rows {
		h, m := differences(x, y)
		b := make([]float64, n)
		for i := 1; i < n-1; i++ {
			b[i] = 3 * (h[i]*m[i-1] + h[i-1]*m[i])
			if r == 0 {
				a.set(i, i-1, h[i])
				a.set(i, i, 2*(h[i-1]+h[i]))
				a.set(i, i+1, h[i-1])
			}
		}
		end := func(c Condition, value float64, row, next int, h0, h1, m0, m1, sign float64) {
			p, q := 0.0, 0.0
			switch {
			case c == Clamped:
				p, b[row] = 1, value
			case c == Natural:
				p, q, b[row] = 2*h0, h0, 3*m0*h0-sign*0.5*value*h0*h0
			case n == 2:
				p, b[row] = 1, m0
			default:
				p, q, b[row] = h1, h0+h1, ((3*h0+2*h1)*h1*m0+h0*h0*m1)/(h0+h1)
			}
			if r == 0 {
				a.set(row, row, p)
				a.set(row, next, q)
			}
		}
		k := len(h) - 1
		end(s.Start, s.StartValue, 0, 1, h[0], h[min(1, k)], m[0], m[min(1, k)], 1)
		end(s.End, s.EndValue, n-1, n-2, h[k], h[max(0, k-1)], m[k], m[max(0, k-1)], -1)
		out[r] = b
	}
	a.solve(out)
	return out
}

// parabolaSlopes returns the slopes of the parabolas through three points.
func parabolaSlopes(x []float64, rows [][]float64) (out [][]float64) {
	for _, y := range rows {
		h, m := differences(x, y)
		c := (m[1] - m[0]) / (h[0] + h[1])
		out = append(out, []float64{m[0] - c*h[0], m[0] + c*h[0], m[1] + c*h[1]})
	}
	return out
}

// periodicSlopes solves the cyclic system: its corners are taken out as a product of two vectors (Sherman and Morrison).
func periodicSlopes(x []float64, rows [][]float64) (out [][]float64) {
	n := len(x) - 1 // slopes that differ
	for _, y := range rows {
		h, m := differences(x, y)
		s := make([]float64, n+1)
		switch {
		case n == 1:
		case n == 2:
			s[0] = (h[0]*m[1] + h[1]*m[0]) / (h[0] + h[1])
			s[1] = s[0]
		default:
			a := newBand(n, 1)
			u := make([]float64, n)
			for i := range n {
				j := (i + n - 1) % n
				a.set(i, i, 2*(h[j]+h[i]))
				s[i] = 3 * (h[i]*m[j] + h[j]*m[i])
				if i > 0 {
					a.set(i, i-1, h[i])
				}
				if i < n-1 {
					a.set(i, i+1, h[j])
				}
			}
			upper, lower := h[0], h[n-2] // elements (0, n-1) and (n-1, 0)
			g := -*a.at(0, 0)
			*a.at(0, 0) -= g
			*a.at(n-1, n-1) -= upper * lower / g
			u[0], u[n-1] = g, lower
			a.solve([][]float64{s[:n], u})
			f := (s[0] + upper/g*s[n-1]) / (1 + u[0] + upper/g*u[n-1])
			for i := range u {
				s[i] -= f * u[i]
			}
		}
		s[n] = s[0]
		out = append(out, s)
	}
	return out
}

// monotoneSlopes returns weighted harmonic means of the slopes on both sides, 0 at extrema.
func monotoneSlopes(x, y []float64) []float64 {
	n := len(x)
	h, m := differences(x, y)
	s := make([]float64, n)
	if n == 2 {
		s[0], s[1] = m[0], m[0]
		return s
	}
	for i := 1; i < n-1; i++ {
		if sign(m[i-1])*sign(m[i]) > 0 {
			a, b := 2*h[i]+h[i-1], h[i]+2*h[i-1]
			s[i] = (a + b) / (a/m[i-1] + b/m[i])
		} else if math.IsNaN(m[i-1]) || math.IsNaN(m[i]) {
			s[i] = math.NaN()
		}
	}
	s[0], s[n-1] = monotoneEnd(h[0], h[1], m[0], m[1]), monotoneEnd(h[n-2], h[n-3], m[n-2], m[n-3])
	return s
}

// monotoneEnd returns the slope of the parabola through three points at the outer one, bounded so that the piece stays
// monotone.
func monotoneEnd(h0, h1, m0, m1 float64) float64 {
	d := ((2*h0+h1)*m0 - h0*m1) / (h0 + h1)
	switch {
	case math.IsNaN(d):
		return d
	case sign(d) != sign(m0):
		return 0
	case sign(m0) != sign(m1) && math.Abs(d) > 3*math.Abs(m0):
		return 3 * m0
	}
	return d
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// akimaSlopes returns means of the slopes on both sides, weighted by how much the slopes change on the other one.
func akimaSlopes(x []float64, rows [][]float64) (out [][]float64) {
	n := len(x)
	var all [][]float64 // slopes, with two more at each end
	most := 0.0
	for _, y := range rows {
		_, d := differences(x, y)
		m := make([]float64, n+3)
		copy(m[2:], d)
		if n == 2 {
			m[3] = m[2]
		}
		m[1] = 2*m[2] - m[3]
		m[0] = 2*m[1] - m[2]
		m[n+1] = 2*m[n] - m[n-1]
		m[n+2] = 2*m[n+1] - m[n]
		all = append(all, m)
		for i := range n {
			most = max(most, math.Abs(m[i+3]-m[i+2])+math.Abs(m[i+1]-m[i]))
		}
	}
	for _, m := range all {
		s := make([]float64, n)
		for i := range s {
			f, g := math.Abs(m[i+3]-m[i+2]), math.Abs(m[i+1]-m[i])
			s[i] = (m[i+3] + m[i]) / 2
			if f+g > 1e-9*most {
				s[i] = (f*m[i+1] + g*m[i+2]) / (f + g)
			}
		}
		out = append(out, s)
	}
	return out
}
