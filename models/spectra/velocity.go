// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"
	"slices"
)

// VelocityPosterior is the posterior of the velocity with all else held fixed.
type VelocityPosterior struct {
	Vel, SD            float64 // best velocity, and standard deviation about it, in km/s
	Skewness, Kurtosis float64 // skewness and kurtosis about Vel; those of a normal distribution are 0 and 3
	ChiSquare          float64 // smallest chi-square on the grid
}

// scanSettings are those of a velocity posterior.
type scanSettings struct {
	min, max  float64 // km/s
	step      float64 // of the first grid
	leastStep float64
}

// posteriorOf returns the posterior on a grid of chi-square. The best velocity is that of a parabola through
// the least value and its neighbours, or of the grid at its ends.
func posteriorOf(vel, chi []float64) VelocityPosterior {
	best := 0
	for i, c := range chi {
		if c < chi[best] || math.IsNaN(chi[best]) {
			best = i
		}
	}
	p := VelocityPosterior{Vel: vel[best], ChiSquare: chi[best]}
	if best > 0 && best < len(vel)-1 {
		a, b, c := chi[best-1], chi[best], chi[best+1]
		if bend := a - 2*b + c; bend > 0 && !math.IsInf(bend, 1) {
			p.Vel += 0.5 * (a - c) / bend * (vel[best+1] - vel[best])
		}
	}
	var sum, second, third, fourth float64
	for i, c := range chi {
		w := math.Exp(-(c - chi[best]) / 2)
		if math.IsNaN(w) {
			continue
		}
		d := vel[i] - p.Vel
		sum, second, third, fourth = sum+w, second+w*d*d, third+w*d*d*d, fourth+w*d*d*d*d
	}
	p.SD = math.Sqrt(second / sum)
	if p.SD > 1e-10 {
		p.Skewness, p.Kurtosis = third/sum/(p.SD*p.SD*p.SD), fourth/sum/(p.SD*p.SD*p.SD*p.SD)
	}
	return p
}

// scan finds the posterior of the velocity on grids that become finer: first of the whole range, through a
// velocity near the best one, and then about the best, until the steps are a fifth of the standard
// deviation, or small. chi returns -2 log L at velocities.
func (s scanSettings) scan(near float64, chi func(vel []float64) ([]float64, error)) (p VelocityPosterior, err error) {
	lo, hi, step := s.min, s.max, s.step
	best := near
	const mostRounds = 10
	for range mostRounds {
		if p, err = s.grid(best, lo, hi, step, chi); err != nil {
			return p, err
		}
		best = p.Vel
		if step < p.SD/5 || step < s.leastStep {
			break
		}
		half := 10 * p.SD
		if step > p.SD {
			half, step = 10*step, step/5
		} else {
			step = 0.8 * p.SD / 5
		}
		lo, hi = max(lo, best-half), min(hi, best+half)
	}
	return p, nil
}

// about finds the posterior of the velocity where the minimum and the standard deviation are known from a
// fit: on a fine grid about the minimum, and a coarse one of the whole range, which looks for a lower minimum.
// Where the fit turns out to be wrong about them, it is scan.
func (s scanSettings) about(best, sd float64, chi func(vel []float64) ([]float64, error)) (VelocityPosterior, error) {
	if !(sd > 0) || math.IsInf(sd, 1) {
		wide, err := s.grid(best, s.min, s.max, s.step, chi)
		if err != nil {
			return wide, err
		}
		return s.scan(wide.Vel, chi)
	}
	// Sums of a smooth density at half of its width are as good as integrals.
	fine := through(best, max(s.min, best-7*sd), min(s.max, best+7*sd), sd/2)
	coarse := through(best, s.min, s.max, 2*s.step)
	values, err := chi(slices.Concat(fine, coarse)) // at once: they are computed many at a time
	if err != nil {
		return VelocityPosterior{}, err
	}
	p := VelocityPosterior{Vel: best}
	if n := len(fine); n > 0 {
		p = posteriorOf(fine, values[:n])
		values = values[n:]
	}
	between := s.between(coarse, values, p.ChiSquare, best, sd)
	if len(between) > 0 {
		more, err := chi(between)
		if err != nil {
			return p, err
		}
		coarse, values = append(coarse, between...), append(values, more...)
	}
	lowest, near := p.ChiSquare, p.Vel
	for i, c := range values {
		if c < lowest && math.Abs(coarse[i]-best) > s.step {
			lowest, near = c, coarse[i]
		}
	}
	if lowest == p.ChiSquare && math.Abs(math.Log(p.SD/sd)) < 0.5 {
		return p, nil
	}
	return s.scan(near, chi)
}

// between returns the velocities between those of a coarse grid at which a minimum as low as least may hide,
// away from the best velocity.
//
// The minimum that is known has the curvature of its standard deviation and rises to the middle of all values:
// that is how wide minima are. Where the grid has several points in that width, a lower minimum is no narrower
// than to raise a point of the grid beside it by the square of their distance in standard deviations.
func (s scanSettings) between(coarse, values []float64, least, best, sd float64) (list []float64) {
	if len(coarse) == 0 {
		return nil
	}
	rise := slices.Sorted(slices.Values(values))[len(values)/2] - least
	dense := 4*s.step <= sd*math.Sqrt(max(0, rise))
	hidden := s.step / sd * s.step / sd
	last := math.Inf(-1)
	for i, v := range coarse {
		if dense && !(values[i]-hidden < least) {
			continue
		}
		for _, b := range []float64{v - s.step, v + s.step} {
			if b > last+s.step/2 && b >= s.min && b < s.max && math.Abs(b-best) > 1.5*s.step {
				list, last = append(list, b), b
			}
		}
	}
	return list
}

// grid returns the posterior on one grid, through a velocity.
func (s scanSettings) grid(centre, lo, hi, step float64, chi func(vel []float64) ([]float64, error)) (VelocityPosterior, error) {
	vel := through(centre, lo, hi, step)
	if len(vel) == 0 {
		return VelocityPosterior{Vel: centre}, nil
	}
	values, err := chi(vel)
	return posteriorOf(vel, values), err
}

// through returns a grid of velocities from lo to below hi, one of which is centre.
func through(centre, lo, hi, step float64) (vel []float64) {
	for k := math.Ceil((lo-centre)/step - 1e-9); k < (hi-centre)/step-1e-9; k++ {
		vel = append(vel, centre+k*step)
	}
	return vel
}
