// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// within sets y, the undamped step, to a step of length at most radius and returns its
// multiplier, of which par is a guess (Moré 1978, algorithm 5.5, on normal equations).
func (t *solver) within(v *lane, radius, par float64) float64 {
	length := linalg.Norm(v.y)
	if !linalg.Finite(length) {
		length = math.MaxFloat64
	}
	excess := length - radius
	if excess <= 0.1*radius {
		return 0
	}
	lower := 0.0
	if c := t.inverseQuadratic(v, length); c > 0 && linalg.Finite(c) {
		lower = excess / radius / c
	}
	gnorm := 0.0
	for k, g := range v.g {
		if v.free[k] {
			gnorm += g * g
		}
	}
	gnorm = math.Sqrt(gnorm)
	upper := gnorm / radius
	if par = min(max(par, lower), upper); par == 0 {
		par = gnorm / length
	}
	for range 10 {
		if par == 0 {
			par = max(1e-300, 0.001*upper)
		}
		t.solve(v, par)
		length = linalg.Norm(v.y)
		last := excess
		excess = length - radius
		if math.Abs(excess) <= 0.1*radius || lower == 0 && excess <= last && last < 0 {
			break
		}
		if excess > 0 {
			lower = max(lower, par)
		} else {
			upper = min(upper, par)
		}
		par = max(lower, par+excess/radius/t.inverseQuadratic(v, length))
	}
	return par
}

// inverseQuadratic is u^T (h + par)^-1 u for the direction u of y and the last factor.
func (t *solver) inverseQuadratic(v *lane, length float64) float64 {
	if v.orthogonal {
		return t.inverseQuadraticOrthogonal(v, length)
	}
	k := 0
	for i, is := range v.free {
		if is {
			t.w[k] = v.y[i] / length
			k++
		}
	}
	forwardInverse(t.a, t.w[:k], k)
	return linalg.Dot(t.w[:k], t.w[:k])
}

// keepInBounds moves elements of a step that leave the bounds onto them and solves for the
// others again, until none leaves them.
func (t *solver) keepInBounds(v *lane) {
	if t.lower == nil {
		return
	}
	changed := false
	for range t.n {
		hit := false
		for k, is := range v.free {
			if !is {
				continue
			}
			lo, hi := (t.lower[k]-v.x[k])/v.scale[k], (t.upper[k]-v.x[k])/v.scale[k]
			if v.y[k] < lo || v.y[k] > hi {
				v.y[k] = min(max(v.y[k], lo), hi)
				v.free[k], hit, changed = false, true, true
			}
		}
		if !hit {
			break
		}
		t.solve(v, v.par)
	}
	if !changed {
		return
	}
	for k := range v.y { // the last solve may have left the bounds
		lo, hi := (t.lower[k]-v.x[k])/v.scale[k], (t.upper[k]-v.x[k])/v.scale[k]
		v.y[k] = min(max(v.y[k], lo), hi)
	}
	y := t.q
	copy(y, v.y)
	t.findFree(v)
	copy(v.y, y)
}

// gaussNewton sets y to the undamped step of the free parameters, or to 0 where no digits
// of it are right.
func (t *solver) gaussNewton(v *lane) {
	t.solve(v, 0)
	if !v.orthogonal && t.smallestPivot < leastPivot {
		clear(v.y)
	}
}
