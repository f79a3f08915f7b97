// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// inside moves x strictly between its bounds: by part of the width, or to the
// next number for part 0.
func (w *iterate) inside(x []float64, part float64) {
	for i := range x {
		lo, hi := w.p.Lower[i], w.p.Upper[i]
		if part == 0 {
			if x[i] <= lo {
				x[i] = math.Nextafter(lo, hi)
			} else if x[i] >= hi {
				x[i] = math.Nextafter(hi, lo)
			}
		} else {
			if x[i] <= lo {
				x[i] = lo + part*max(1, math.Abs(lo))
			} else if x[i] >= hi {
				x[i] = hi - part*max(1, math.Abs(hi))
			}
		}
		if x[i] <= lo || x[i] >= hi {
			x[i] = lo + (hi-lo)/2
		}
	}
}

// choose turns the region's step into one that stays inside the bounds: the
// step itself cut short, its reflection, or a step along the gradient, whichever
// the model likes best. It returns the decrease that the model predicts.
func (w *iterate) choose(radius, theta float64, bounded bool) float64 {
	for i := range w.step {
		w.step[i] = w.d[i] * w.stepH[i]
	}
	if !bounded || w.fits(w.x, w.step) {
		return -w.predict(w.stepH)
	}
	best := math.Inf(1)
	bestH := w.scratch[2]
	take := func(h []float64, value float64) {
		if value < best {
			best = value
			copy(bestH, h)
		}
	}
	stride, hit := w.toBound(w.x, w.step)
	r, at, onBound := w.scratch[0], w.stepH, w.scratch[1]
	for i := range r {
		if r[i] = w.stepH[i]; hit(i) {
			r[i] = -r[i]
		}
	}
	for i := range at {
		at[i] *= stride
		onBound[i] = w.x[i] + w.step[i]*stride
	}
	if lo, hi := w.reflection(at, r, onBound, radius, theta, stride); lo <= hi {
		a, b := w.quadratic(r, at)
		t, v := lowest(a, b, lo, hi)
		base := w.predict(at)
		for i := range r {
			r[i] = r[i]*t + at[i]
		}
		take(r, v+base)
	}
	linalg.Scale(at, theta)
	take(at, w.predict(at))
	down := w.scratch[0]
	for i, g := range w.gh {
		down[i] = -g
		w.step[i] = -g * w.d[i]
	}
	limit := radius / linalg.Norm(down)
	if s, _ := w.toBound(w.x, w.step); s < limit {
		limit = theta * s
	}
	a, b := w.quadratic(down, nil)
	t, v := lowest(a, b, 0, limit)
	linalg.Scale(down, t)
	take(down, v)
	copy(w.stepH, bestH)
	for i := range w.step {
		w.step[i] = w.d[i] * w.stepH[i]
	}
	return -best
}

// reflection returns the range of lengths along r, from the point at on the
// bound, that stays in the region and inside the bounds.
func (w *iterate) reflection(at, r, onBound []float64, radius, theta, stride float64) (lo, hi float64) {
	// |at + t r| = radius
	a, b, c := linalg.Dot(r, r), linalg.Dot(at, r), linalg.Dot(at, at)-radius*radius
	toRegion := (-b + math.Sqrt(max(b*b-a*c, 0))) / a
	for i := range w.step {
		w.step[i] = w.d[i] * r[i]
	}
	toBound, _ := w.toBound(onBound, w.step)
	length := min(toBound, toRegion)
	if !(length > 0) {
		return 0, -1
	}
	hi = toRegion
	if length == toBound {
		hi = theta * toBound
	}
	return (1 - theta) * stride / length, hi
}

func (w *iterate) fits(x, step []float64) bool {
	for i, s := range step {
		if v := x[i] + s; v < w.p.Lower[i] || v > w.p.Upper[i] {
			return false
		}
	}
	return true
}

// toBound returns the length along step at which the first bound is met, and
// which bounds those are.
func (w *iterate) toBound(x, step []float64) (float64, func(i int) bool) {
	at := func(i int) float64 {
		switch s := step[i]; {
		case s > 0:
			return (w.p.Upper[i] - x[i]) / s
		case s < 0:
			return (w.p.Lower[i] - x[i]) / s
		}
		return math.Inf(1)
	}
	first := math.Inf(1)
	for i := range step {
		first = min(first, at(i))
	}
	return first, func(i int) bool { return at(i) == first }
}

// lowest minimises a t^2 + b t on lo..hi.
func lowest(a, b, lo, hi float64) (t, v float64) {
	f := func(t float64) float64 { return t * (a*t + b) }
	t, v = lo, f(lo)
	if w := f(hi); w < v {
		t, v = hi, w
	}
	if a != 0 {
		if u := -b / (2 * a); u > lo && u < hi && f(u) < v {
			t, v = u, f(u)
		}
	}
	return t, v
}
