// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Limit is a one-sided statement about a parameter whose best value is at a bound, such as a rotation too slow to
// be seen, or a star at the edge of the library.
//
// It follows from a normal distribution cut off at the bound, with the slope and the curvature that
// the posterior has there; other parameters are integrated out unless they are at a bound, where
// they stay. That of a star that does not rotate follows from its RotationProfile, unless the kernel of the reference
// gives the posterior a slope at 0.
type Limit struct {
	Name  string
	Bound float64 // value of the bound, which is the best value
	// Limit95 is the value such that the parameter lies between it and Bound with a probability of
	// 95 %. It is NaN if slope and curvature do not determine it, because the posterior does not
	// fall away from the bound as a normal distribution.
	Limit95 float64
}

// String says in words where the parameter lies.
func (l Limit) String() string {
	switch {
	case l.Limit95 > l.Bound:
		return fmt.Sprintf("%s is below %.4g with a probability of 95 %%", l.Name, l.Limit95)
	case l.Limit95 < l.Bound:
		return fmt.Sprintf("%s is above %.4g with a probability of 95 %%", l.Name, l.Limit95)
	}
	return fmt.Sprintf("%s is at its bound %.4g", l.Name, l.Bound)
}

// limits makes the statements, given the Hessian of -2 log posterior.
func (fit *Fit) limits(h []float64, d *descent) {
	n := len(fit.X)
	for _, name := range fit.AtBound {
		k := slices.Index(fit.Names, name)
		others := slices.DeleteFunc(d.free(), func(i int) bool { return i == k })
		slope, width := d.slope(k), d.upper[k]-d.lower[k]
		inward := 1.0
		if fit.X[k] >= d.upper[k] {
			inward = -1
		}
		distance := truncated95(inward*slope, curvature(h, n, k, others), width)
		fit.Limits = append(fit.Limits, Limit{Name: name, Bound: fit.X[k], Limit95: fit.X[k] + inward*distance})
	}
}

// curvature returns that of -2 log posterior along parameter k after others are integrated out; NaN if they
// have no minimum.
func curvature(h []float64, n, k int, others []int) float64 {
	m := len(others)
	own := h[k*n+k]
	if m == 0 {
		return own
	}
	part, cross := mat.NewSymDense(m, nil), mat.NewVecDense(m, nil)
	for a, i := range others {
		cross.SetVec(a, (h[k*n+i]+h[i*n+k])/2)
		for b, j := range others[:a+1] {
			part.SetSym(a, b, (h[i*n+j]+h[j*n+i])/2)
		}
	}
	var factor mat.Cholesky
	var solved mat.VecDense
	if !factor.Factorize(part) || factor.SolveVecTo(&solved, cross) != nil && solved.IsEmpty() {
		return math.NaN()
	}
	return own - mat.Dot(cross, &solved)
}

// truncated95 returns the distance t from 0 below which there is 95 % of the density exp(-(g t + h t^2/2)/2)
// between 0 and a width; NaN if slope or curvature are not those of the flank of a normal distribution.
func truncated95(g, h, width float64) float64 {
	const level = 0.95
	// Of the exponential density of the slope alone, cut off at the width.
	exponential := -2 / g * math.Log1p(level*math.Expm1(-g*width/2))
	sd := math.Sqrt(2 / h)
	from := g / h / sd // the bound, in standard deviations from the minimum of the parabola
	switch {
	case g > 0 && math.Abs(h)*exponential < 1e-3*g || from > 37: // where the curvature changes it by 0.1 %, and tails would be 0
		return exponential
	case !(h > 0) || !(from > -30):
		return math.NaN()
	}
	all, beyond := upperTail(from), upperTail(from+width/sd)
	// The tail beyond the limit is what is looked for, which keeps its digits however far out the bound is.
	lo, hi := from, from+width/sd
	if math.IsInf(hi, 1) {
		hi = max(from, 0) + 10
	}
	want := (1-level)*all + level*beyond
	for range 200 {
		middle := (lo + hi) / 2
		if upperTail(middle) > want {
			lo = middle
		} else {
			hi = middle
		}
	}
	return (lo - from) * sd
}

// upperTail returns the probability that a standard normal number is above x. distuv's Survival is 0 beyond 8.
func upperTail(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
