// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"slices"
)

// lattice finds the counts behind means over bins of which a constant was subtracted for each pixel, and which were divided by a flux: the
// mean times the weights of a bin's pixels is then unit times (counts - dark times pixels). Bins of one pixel show the unit, the step
// between their values, and dark. It makes the frame one of counts, and reports whether nearly all bins agree.
//
// Shape: as I. Units: dark in counts of a pixel, unit in those of I.
func (c *curve) lattice(all []*curve) bool {
	unit, shift, ok := c.steps()
	if !ok {
		return false
	}
	dark := shift
	for _, o := range all { // a brighter frame does not show how many whole counts were subtracted
		if _, s, ok := o.steps(); ok && s > dark && math.Abs(s-shift-math.Round(s-shift)) < 0.05 {
			dark = s
		}
	}
	pixels := make([]float64, len(c.I))
	for i := range pixels {
		pixels[i] = float64(c.frame.Bins.From[i+1] - c.frame.Bins.From[i])
	}
	f := Frame{Noise: "poisson", Gains: make([]float64, len(c.I)), Offsets: make([]float64, len(c.I)), Counts: make([]float64, len(c.I))}
	wrong, seen := 0, 0
	for i, x := range c.I {
		f.Gains[i], f.Offsets[i], f.Counts[i] = c.weights[i]/unit, dark*pixels[i], math.NaN()
		if math.IsNaN(x) || pixels[i] == 0 {
			continue
		}
		seen++
		sum := x*f.Gains[i] + f.Offsets[i]
		whole := math.Round(sum)
		if math.Abs(sum-whole) > 0.02 || whole < 0 {
			wrong++ // the reduction counted other pixels
			continue
		}
		f.Counts[i] = whole - f.Offsets[i]
	}
	if 20*wrong > seen {
		return false
	}
	c.frame.Noise, c.frame.Gains, c.frame.Offsets, c.frame.Counts, c.frame.Errors = f.Noise, f.Gains, f.Offsets, f.Counts, nil
	return true
}

// steps returns the lattice of the bins of one pixel.
func (c *curve) steps() (unit, shift float64, ok bool) {
	var single []float64
	for i, x := range c.I {
		if c.frame.Bins.From[i+1]-c.frame.Bins.From[i] == 1 && !math.IsNaN(x) {
			single = append(single, x*c.weights[i])
		}
	}
	return step(single)
}

// step returns the distance of numbers on a lattice, and by how much of it the lowest possible number lies below 0: numbers are step times
// (k - shift) with whole k of at least 0. ok is false if they are on none.
func step(x []float64) (unit, shift float64, ok bool) {
	x = slices.Sorted(slices.Values(x))
	const fewest = 20
	if len(x) < fewest {
		return 0, 0, false
	}
	noise := 1e-5 * max(math.Abs(x[0]), math.Abs(x[len(x)/2]), 1e-300)
	for i := 1; i < len(x); i++ {
		if d := x[i] - x[i-1]; d > noise && (unit == 0 || d < unit) {
			unit = d
		}
	}
	if unit == 0 {
		return 0, 0, false
	}
	least, found := unit, false
	for part := 1.0; part <= 4 && !found; part++ { // neighbours may all be further apart than one step
		unit, found = refined(x, least/part)
	}
	if !found {
		return 0, 0, false
	}
	if shift = -x[0] / unit; shift < 0 { // the lowest number is no zero: only the part of a count is known
		shift -= math.Floor(shift)
	}
	return unit, shift, true
}

// refined returns the step of a lattice that is roughly known, and whether nearly all numbers, which rise, are on it.
func refined(x []float64, unit float64) (float64, bool) {
	for n := 40; ; n *= 4 { // the further numbers reach, the better the step must be known
		sum, square := 0.0, 0.0
		for _, v := range x[:min(len(x), n)] {
			k := math.Round((v - x[0]) / unit)
			sum, square = sum+k*(v-x[0]), square+k*k
		}
		if !(square > 0) {
			return 0, false
		}
		unit = sum / square
		if n >= len(x) {
			break
		}
	}
	wrong := 0
	for _, v := range x {
		if k := (v - x[0]) / unit; math.Abs(k-math.Round(k)) > 0.02 {
			wrong++
		}
	}
	return unit, 20*wrong < len(x)
}
