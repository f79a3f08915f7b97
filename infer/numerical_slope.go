// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// slope is the derivative of a function at 0, by differences, and what it may be
// off by.
type slope struct{ value, err float64 }

const (
	slopeSteps  = 16
	slopeFirst  = 0.0871 // the longest step
	slopeShrink = 0.2618 // of each step to the next: no simple ratio, so that no wave fits all
)

// stencil is the function at -2h, -h, h and 2h.
type stencil struct {
	h float64
	f [4]float64
}

func stencilOf(f func(h float64) float64, h float64) stencil {
	return stencil{h, [4]float64{f(-2 * h), f(-h), f(h), f(2 * h)}}
}

// derivative is the central difference of fourth order.
func (s *stencil) derivative() float64 {
	return (8*(s.f[2]-s.f[1]) - (s.f[3] - s.f[0])) / (12 * s.h)
}

// rounding is what the last bits of the values may make of it.
func (s *stencil) rounding() float64 {
	size := 0.0
	for _, v := range s.f {
		size = max(size, math.Abs(v))
	}
	return 0x1p-50 * size / s.h
}

// least is the smallest difference between the values that is not 0, infinite if
// there is none.
func (s *stencil) least() float64 {
	v := math.Inf(1)
	for _, d := range []float64{s.f[2] - s.f[1], s.f[3] - s.f[0], s.f[3] - s.f[2], s.f[1] - s.f[0]} {
		if d != 0 {
			v = min(v, math.Abs(d))
		}
	}
	return v
}

// differentiate takes ever shorter steps and returns the difference that is closest
// to its neighbours, for which the resolution of f, seen at the shortest steps,
// counts too. It returns false where f is finite at too few places.
func differentiate(f func(h float64) float64) (slope, bool) {
	var all []stencil
	resolution := math.Inf(1)
	for k := range slopeSteps {
		s := stencilOf(f, slopeFirst*math.Pow(slopeShrink, float64(k)))
		if linalg.Finite(s.derivative()) {
			all = append(all, s)
			resolution = min(resolution, s.least())
		}
	}
	if math.IsInf(resolution, 1) { // f is constant
		resolution = 0
	}
	best := slope{err: math.Inf(1)}
	for k := 1; k < len(all)-1; k++ {
		d := all[k].derivative()
		scatter := max(math.Abs(d-all[k-1].derivative()), math.Abs(d-all[k+1].derivative()))
		if err := scatter + all[k].rounding() + resolution/all[k].h; err < best.err {
			best = slope{d, err}
		}
	}
	return best, linalg.Finite(best.err)
}
