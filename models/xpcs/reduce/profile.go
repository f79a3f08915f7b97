// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package reduce

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// Profile is intensity against q: lines, such as one for each azimuth, at common abscissas.
type Profile struct {
	Q     []float64   // momentum transfer in 1/angstrom
	Lines [][]float64 // intensities by [line][q]; NaN where there is none
}

func (p Profile) each(f func(line, i int, v float64) float64) Profile {
	out := Profile{Q: p.Q, Lines: make([][]float64, len(p.Lines))}
	for l, line := range p.Lines {
		out.Lines[l] = make([]float64, len(line))
		for i, v := range line {
			out.Lines[l][i] = f(l, i, v)
		}
	}
	return out
}

// Subtract subtracts weight times a background, where weight may be the ratio of transmissions
// times that of exposures. Both need the same q. Intensities that become negative are NaN.
func (p Profile) Subtract(background Profile, weight float64) (Profile, error) {
	if len(background.Q) != len(p.Q) || len(background.Lines) != len(p.Lines) {
		return Profile{}, fmt.Errorf("reduce: the background has %s of %s, but the data have %d of %d: correlate both with one q map", errtext.Count(len(background.Lines), "line"), errtext.Count(len(background.Q), "point"), len(p.Lines), len(p.Q))
	}
	for i, q := range p.Q {
		if math.Abs(q-background.Q[i]) > 1e-8+1e-5*math.Abs(background.Q[i]) {
			return Profile{}, fmt.Errorf("reduce: point %d of the background is at q = %g, but that of the data at %g 1/angstrom: correlate both with one q map", i+1, background.Q[i], q)
		}
	}
	return p.each(func(l, i int, v float64) float64 {
		if d := v - weight*background.Lines[l][i]; d >= 0 {
			return d
		}
		return math.NaN()
	}), nil
}

// Scale multiplies all intensities by a factor, such as that to an absolute cross-section.
func (p Profile) Scale(factor float64) Profile {
	return p.each(func(_, _ int, v float64) float64 { return v * factor })
}

// Times multiplies by a power of q: 2 for Kratky's plot, 4 for Porod's.
func (p Profile) Times(power float64) Profile {
	return p.each(func(_, i int, v float64) float64 { return v * math.Pow(p.Q[i], power) })
}

// OverFirst divides each line by its own first point.
func (p Profile) OverFirst() Profile {
	return p.each(func(l, _ int, v float64) float64 { return v / p.Lines[l][0] })
}

// Between keeps every step-th of the points with q in [low, high].
func (p Profile) Between(low, high float64, step int) Profile {
	out := Profile{Lines: make([][]float64, len(p.Lines))}
	n := 0
	for i, q := range p.Q {
		if q < low || q > high {
			continue
		}
		if n++; (n-1)%max(step, 1) != 0 {
			continue
		}
		out.Q = append(out.Q, q)
		for l := range p.Lines {
			out.Lines[l] = append(out.Lines[l], p.Lines[l][i])
		}
	}
	return out
}

// Onto returns factors that bring the lines onto the first one, by the mean of the logarithm of their ratios where both are
// positive, so that measurements with different exposures make one curve. A line without such points has NaN.
func (p Profile) Onto() []float64 {
	factors := make([]float64, len(p.Lines))
	for l, line := range p.Lines {
		sum, n := 0.0, 0.0
		for i, v := range line {
			if r := p.Lines[0][i] / v; r > 0 && !math.IsInf(r, 0) {
				sum, n = sum+math.Log(r), n+1
			}
		}
		factors[l] = math.Exp(sum / n)
	}
	return factors
}

// Log10 returns the decadic logarithm of an image, in which pixels that are not positive have the
// logarithm of the smallest positive one. If no pixel is positive, all are 0.
func Log10(image []float64) []float64 {
	least := math.Inf(1)
	for _, v := range image {
		if v > 0 && v < least {
			least = v
		}
	}
	out := slices.Clone(image)
	for i, v := range out {
		if !(v > 0) {
			v = least
		}
		if out[i] = math.Log10(v); math.IsInf(least, 1) {
			out[i] = 0
		}
	}
	return out
}
