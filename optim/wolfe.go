// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import "math"

// wolfe finds a step that satisfies the strong Wolfe conditions
//
//	f(t) <= f(0) + decrease t f'(0),  |f'(t)| <= curvature |f'(0)|
//
// by the bracketing of Moré & Thuente, doi:10.1145/192115.192132.
type wolfe struct {
	// decrease and curvature are the constants of the conditions. width is the relative
	// width of a bracket that is not worth narrowing.
	decrease, curvature, width float64
	// most is the longest step.
	most float64
}

// rounding is how much two values near v may differ by chance.
func rounding(v float64) float64 { return 0x1p-50 * math.Abs(v) }

// bracket is an interval that holds a good step: x is its better end.
type bracket struct {
	x, fx, dx float64
	y, fy, dy float64
	closed    bool
}

// search calls phi, which returns value and slope at a step, from step t on. It
// returns the best step that it tried, and whether that is lower than f0.
func (w wolfe) search(phi func(t float64) (f, d float64, err error), f0, d0, t float64) (step float64, ok bool, err error) {
	b := bracket{fx: f0, dx: d0, fy: f0, dy: d0}
	test := w.decrease * d0
	lo, hi := 0.0, 5*t
	most := w.most
	width, width2 := most, 2*most
	first := true
	t = min(t, most)
	for range 40 {
		f, d, err := phi(t)
		if err != nil {
			return 0, false, err
		}
		if math.IsInf(f, -1) {
			return t, true, nil
		}
		if math.IsInf(f, 1) || math.IsNaN(d) { // outside where the function is: come back
			most = t
			t = b.x + 0.1*(t-b.x)
			hi = min(hi, most)
			width, width2 = min(width, most), min(width2, 2*most)
			continue
		}
		target := f0 + t*test
		flat := f <= f0+rounding(f0) // values no longer tell: slopes do (Hager & Zhang, doi:10.1137/030601880)
		if first && f <= target && d >= 0 {
			first = false
		}
		switch {
		case (f <= target || flat) && math.Abs(d) <= -w.curvature*d0:
			return t, true, nil
		case b.closed && (t <= lo || t >= hi || hi-lo <= w.width*hi),
			t == most && f <= target && d <= test:
			if f <= b.fx {
				return t, f < f0, nil
			}
			return b.x, b.fx < f0, nil
		}
		if first && f <= b.fx && f > target { // on the function less its allowed decrease
			m := bracket{x: b.x, fx: b.fx - b.x*test, dx: b.dx - test, y: b.y, fy: b.fy - b.y*test, dy: b.dy - test, closed: b.closed}
			t = m.next(t, f-t*test, d-test, lo, hi)
			b = bracket{x: m.x, fx: m.fx + m.x*test, dx: m.dx + test, y: m.y, fy: m.fy + m.y*test, dy: m.dy + test, closed: m.closed}
		} else {
			t = b.next(t, f, d, lo, hi)
		}
		if b.closed {
			if math.Abs(b.y-b.x) >= 0.66*width2 {
				t = b.x + 0.5*(b.y-b.x)
			}
			width2, width = width, math.Abs(b.y-b.x)
			lo, hi = min(b.x, b.y), max(b.x, b.y)
		} else {
			lo, hi = t+1.1*(t-b.x), t+4*(t-b.x)
		}
		t = min(max(t, 0), most)
		if b.closed && (t <= lo || t >= hi || hi-lo <= w.width*hi) {
			t = b.x
			if t == 0 {
				return 0, false, nil
			}
		}
	}
	return b.x, b.fx < f0, nil
}

// next takes in a trial and returns the next: by cubic and quadratic
// interpolation, within lo..hi while the bracket is open (section 4 of the paper).
func (b *bracket) next(t, f, d, lo, hi float64) float64 {
	sign := d * (b.dx / math.Abs(b.dx))
	cubic := func(away float64) (r, gamma float64) {
		theta := 3*(b.fx-f)/(t-b.x) + b.dx + d
		s := max(math.Abs(theta), math.Abs(b.dx), math.Abs(d))
		gamma = s * math.Sqrt(max(0, theta/s*(theta/s)-b.dx/s*(d/s)))
		if away < 0 {
			gamma = -gamma
		}
		return theta, gamma
	}
	var next float64
	switch {
	case f > b.fx: // the minimum is bracketed: nearer to x than t
		theta, gamma := cubic(t - b.x)
		p, q := gamma-b.dx+theta, gamma-b.dx+gamma+d
		c := b.x + p/q*(t-b.x)
		quad := b.x + b.dx/((b.fx-f)/(t-b.x)+b.dx)/2*(t-b.x)
		if next = c; math.Abs(c-b.x) >= math.Abs(quad-b.x) {
			next = c + (quad-c)/2
		}
		b.closed = true
	case sign < 0: // the slope changed: bracketed
		theta, gamma := cubic(b.x - t)
		p, q := gamma-d+theta, gamma-d+gamma+b.dx
		c := t + p/q*(b.x-t)
		quad := t + d/(d-b.dx)*(b.x-t)
		if next = c; math.Abs(c-t) <= math.Abs(quad-t) {
			next = quad
		}
		b.closed = true
	case math.Abs(d) < math.Abs(b.dx): // the slope shrinks
		theta, gamma := cubic(b.x - t)
		p, q := gamma-d+theta, gamma+(b.dx-d)+gamma
		c := hi
		if r := p / q; r < 0 && gamma != 0 {
			c = t + r*(b.x-t)
		} else if t <= b.x {
			c = lo
		}
		quad := t + d/(d-b.dx)*(b.x-t)
		if b.closed {
			if next = c; math.Abs(c-t) >= math.Abs(quad-t) {
				next = quad
			}
			if limit := t + 0.66*(b.y-t); t > b.x {
				next = min(limit, next)
			} else {
				next = max(limit, next)
			}
		} else {
			if next = c; math.Abs(c-t) <= math.Abs(quad-t) {
				next = quad
			}
			next = max(lo, min(hi, next))
		}
	case b.closed: // the slope does not shrink: towards y
		theta := 3*(f-b.fy)/(b.y-t) + b.dy + d
		s := max(math.Abs(theta), math.Abs(b.dy), math.Abs(d))
		gamma := s * math.Sqrt(max(0, theta/s*(theta/s)-b.dy/s*(d/s)))
		if t > b.y {
			gamma = -gamma
		}
		p, q := gamma-d+theta, gamma-d+gamma+b.dy
		next = t + p/q*(b.y-t)
	case t > b.x:
		next = hi
	default:
		next = lo
	}
	if f > b.fx {
		b.y, b.fy, b.dy = t, f, d
	} else {
		if sign < 0 {
			b.y, b.fy, b.dy = b.x, b.fx, b.dx
		}
		b.x, b.fx, b.dx = t, f, d
	}
	return next
}
