package optim

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// within sets y to a step of at most radius and returns its multiplier; par is a
// guess, y the undamped step (Moré 1978, algorithm 5.5, on normal equations).
func (t *stepper) within(v *lane, radius, par float64) float64 {
	length := linalg.Norm(v.y)
	if !linalg.Finite(length) {
		length = math.MaxFloat64
	}
	excess := length - radius
	if excess <= 0.1*radius {
		return 0
	}
	lower := 0.0
	if c := t.bend(v, length); c > 0 && linalg.Finite(c) {
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
		par = max(lower, par+excess/radius/t.bend(v, length))
	}
	return par
}

// bend is q (H + par)^-1 q for the direction q of y, with the last factor.
func (t *stepper) bend(v *lane, length float64) float64 {
	if v.orthogonal {
		return t.bendSharp(v, length)
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

// box puts a step that leaves the bounds onto them and solves for the others
// again, until it stays.
func (t *stepper) box(v *lane) {
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
			lo, hi := (t.lower[k]-v.x[k])/v.d[k], (t.upper[k]-v.x[k])/v.d[k]
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
	for k := range v.y { // solve may have left the box in the last pass
		lo, hi := (t.lower[k]-v.x[k])/v.d[k], (t.upper[k]-v.x[k])/v.d[k]
		v.y[k] = min(max(v.y[k], lo), hi)
	}
	y := t.q
	copy(y, v.y)
	t.bind(v)
	copy(v.y, y)
}

// gaussNewton sets y to the undamped step of the free parameters.
func (t *stepper) gaussNewton(v *lane) {
	t.solve(v, 0)
	if !v.orthogonal && t.minute < dull {
		clear(v.y) // no digits: do not polish
	}
}
