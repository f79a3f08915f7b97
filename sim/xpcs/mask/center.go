// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"fmt"
	"math"
	"slices"
)

// CenterSettings say where and how to look for the direct beam. The zero value is the default.
type CenterSettings struct {
	Guess *Point // rough position of the centre (pixels); nil for the middle of the detector
	// Search is how far from Guess the centre may be (pixels). Default: a quarter of the longer
	// side with a Guess, half of it without one.
	Search float64
	// Radius leaves out the pixels that are farther from Guess than this (pixels). Default 0, for
	// none.
	Radius float64
	// Harmonics is the number of even angular harmonics of the pattern, besides the part that depends on the
	// radius alone: 1 serves stretched patterns and those of aligned samples. Default 0.
	Harmonics int
}

// Center is where the direct beam hits the detector, found as the centre of symmetry of a pattern.
type Center struct {
	Row, Col     float64 // position of the centre (pixels)
	SDRow, SDCol float64 // standard errors from the scatter about the pattern (pixels)
	Pixels       int     // number of pixels (or blocks of them, in large images) that were used
	Iterations   int
	Converged    bool
}

// Bounds of the work.
const (
	searchSamples = 6_000   // of the first search
	fitSamples    = 200_000 // of the fit
	mostKnots     = 120     // of a radial profile
	centerSteps   = 60
	settling      = 12   // steps after which weights stay as they are
	centerTol     = 1e-4 // pixels
)

// FindCenter finds the centre of a pattern of rings or of smooth scattering. The image is row-major, of the mask's shape.
//
// It fits a smooth radial profile and the centre together to the pixels that the mask keeps, by
// Gauss-Newton steps with weights from the scatter in each ring, in which hot pixels count little.
// Beam stops, gaps between modules and centres beside the detector only take pixels away; nothing
// is mirrored or correlated. Average frames until a pixel of the pattern has several counts,
// because errors come out too small where most pixels have none. The fit starts where the ranks of
// intensities vary least along rings.
//
// FindCenter returns an error if the input is wrong, or if the pattern does not determine a centre.
func FindCenter(image []float64, m *Mask, s CenterSettings) (Center, error) {
	if len(image) != len(m.Keep) || len(m.Keep) != m.Height*m.Width {
		return Center{}, fmt.Errorf("mask: the image has %d pixels, but the mask has %d x %d: use a mask of this detector", len(image), m.Height, m.Width)
	}
	guess := Point{float64(m.Height-1) / 2, float64(m.Width-1) / 2}
	side := float64(max(m.Height, m.Width))
	search := side / 2
	if s.Guess != nil {
		guess, search = *s.Guess, side/4
	}
	if s.Search != 0 {
		search = s.Search
	}
	switch {
	case !(search > 0) || math.IsInf(search, 0):
		return Center{}, fmt.Errorf("mask: the search extends over %g pixels: want a positive number", search)
	case !(s.Radius >= 0):
		return Center{}, fmt.Errorf("mask: the radius is %g pixels: want a positive number, or 0 for all pixels", s.Radius)
	case s.Harmonics < 0 || s.Harmonics > 4:
		return Center{}, fmt.Errorf("mask: there are %d angular harmonics: want 0 to 4", s.Harmonics)
	case math.IsNaN(guess[0]+guess[1]) || math.IsInf(guess[0]+guess[1], 0):
		return Center{}, fmt.Errorf("mask: the guess of the centre is (%g, %g): want finite numbers", guess[0], guess[1])
	}
	pixels, edge := samples(image, m, guess, s.Radius, fitSamples)
	if len(pixels) < 30 {
		return Center{}, fmt.Errorf("mask: only %d pixels are left to find a centre in: want at least 30; mask fewer, or search within a larger radius", len(pixels))
	}
	few, _ := samples(image, m, guess, s.Radius, searchSamples)
	return refine(pixels, coarse(few, guess, search), s.Harmonics, math.Sqrt(quantum(image, m))/2/edge)
}

// sample is a pixel, or a block of pixels.
type sample struct{ row, col, value float64 }

// samples returns the square roots of intensities, which scatter alike for counts, of the kept pixels. Where there are
// more than most, square blocks of pixels are averaged, whose edge is returned.
func samples(image []float64, m *Mask, guess Point, radius float64, most int) ([]sample, float64) {
	inside := func(r, c int) bool {
		v := image[r*m.Width+c]
		return m.Keep[r*m.Width+c] && !math.IsNaN(v) && !math.IsInf(v, 0) &&
			(radius == 0 || math.Hypot(float64(r)-guess[0], float64(c)-guess[1]) <= radius)
	}
	n := 0
	for r := range m.Height {
		for c := range m.Width {
			if inside(r, c) {
				n++
			}
		}
	}
	base := lowest(image, m)
	edge := int(math.Ceil(math.Sqrt(float64(n) / float64(most))))
	edge = max(edge, 1)
	var out []sample
	for r0 := 0; r0 < m.Height; r0 += edge {
		for c0 := 0; c0 < m.Width; c0 += edge {
			s, k := sample{}, 0.0
			for r := r0; r < min(r0+edge, m.Height); r++ {
				for c := c0; c < min(c0+edge, m.Width); c++ {
					if inside(r, c) {
						s.row, s.col, s.value = s.row+float64(r), s.col+float64(c), s.value+image[r*m.Width+c]
						k++
					}
				}
			}
			if k > 0 {
				out = append(out, sample{s.row / k, s.col / k, math.Sqrt(math.Max(s.value/k-base, 0))})
			}
		}
	}
	return out, float64(edge)
}

// lowest returns 0, or a low percentile of the values where a background was taken off.
func lowest(image []float64, m *Mask) float64 {
	var below []float64
	n := 0
	for i, v := range image {
		if m.Keep[i] && !math.IsNaN(v) {
			if n++; v < 0 {
				below = append(below, v)
			}
		}
	}
	if k := n / 100; k < len(below) {
		slices.Sort(below)
		return below[k]
	}
	return 0
}

// quantum returns the value of one count if all kept pixels hold whole numbers of counts, and 0 if they do not. The
// square root of a number of counts scatters by up to half the root of the value of one, however many pixels of a ring have none at all.
func quantum(image []float64, m *Mask) float64 {
	least := math.Inf(1)
	for i, v := range image {
		if m.Keep[i] && v > 0 {
			least = math.Min(least, v)
		}
	}
	for i, v := range image {
		if n := v / least; m.Keep[i] && !math.IsNaN(v) && !(n >= 0 && math.Abs(n-math.Round(n)) <= 1e-6*math.Max(n, 1)) {
			return 0
		}
	}
	if math.IsInf(least, 0) {
		return 0
	}
	return least
}

// median returns the median of x, which it sorts.
func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
