// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"math"
	"slices"
)

// pixelCounts holds sums of the counts of each pixel over the frames that photons looks at. Counts N of a pixel in all frames and M of all pixels
// of a bin in a frame are given; where pixels count independently in all frames, and a frame changes all pixels of a bin by the same factor,
// the products of the counts of a pixel in two frames are then
//
//	<n(t) n(u)> = (N^2 - sum of n^2) M(t) M(u) / (sum of M(t) M(u) over all t, u that differ)
//
// on average, whatever the sensitivity of pixels, the flicker of the beam and the speckles that forget themselves within a frame. Speckles that
// move slower raise the products of neighbouring frames over that; a detector that is blind after a count lowers them.
type pixelCounts struct {
	sum, squares, products []float64 // of each pixel: of n, n^2, and n(t) n(t+1)
	bins                   []frameCounts
}

// frameCounts holds sums of the counts M of a bin in a frame.
type frameCounts struct {
	now, before           float64 // of the latest frame and of the one before
	sum, squares          float64 // over frames
	pairs, both, products float64 // over neighbouring frames: their number, and sums of M(t) + M(t+1) and M(t) M(t+1)
}

func newPixelCounts(pixels, bins int) *pixelCounts {
	return &pixelCounts{sum: make([]float64, pixels), squares: make([]float64, pixels), products: make([]float64, pixels), bins: make([]frameCounts, bins)}
}

// begin begins a frame.
func (c *pixelCounts) begin() {
	for b := range c.bins {
		c.bins[b].before, c.bins[b].now = c.bins[b].now, 0
	}
}

func (c *pixelCounts) add(bin, pixel int32, n float64) {
	c.sum[pixel] += n
	c.squares[pixel] += n * n
	c.bins[bin].now += n
}

// end ends a frame.
func (c *pixelCounts) end() {
	for b := range c.bins {
		f := &c.bins[b]
		f.sum += f.now
		f.squares += f.now * f.now
	}
}

// pair takes the latest two frames as neighbours.
func (c *pixelCounts) pair() {
	for b := range c.bins {
		f := &c.bins[b]
		f.pairs++
		f.both += f.before + f.now
		f.products += f.before * f.now
	}
}

const (
	stuckScatter = 0.1  // variance over Poisson's below which a pixel may be stuck
	stuckErrors  = 6    // standard errors by which its scatter has to be below that of photons
	mostStuck    = 0.05 // share of the pixels of a bin above which the detector, and not pixels, counts that way
)

// isStuck reports whether a pixel scatters far less than photons, beyond chance.
//
// Reference: Wilson and Hilferty 1931, PNAS 17, 684 (the cube root of chi-square is nearly normal).
func (c *pixelCounts) isStuck(pixel, frames int) bool {
	free, mean := float64(frames-1), c.sum[pixel]/float64(frames)
	if free < 1 || mean == 0 {
		return false
	}
	ratio := max(0, c.squares[pixel]-mean*c.sum[pixel]) / free / mean
	width := 2 / (9 * free)
	return ratio < stuckScatter && math.Cbrt(ratio) < 1-width-stuckErrors*math.Sqrt(width)
}

// stuck returns the pixels of each bin that are stuck, nil for a bin in which too many seem to be.
func (v *photons) stuck() [][]int {
	all := make([][]int, v.bins)
	for p, code := range v.code {
		if code >= 0 && v.each.isStuck(p, v.looked) {
			b := code / photonGroups
			all[b] = append(all[b], p)
		}
	}
	for b, of := range all {
		if float64(len(of)) > max(1, mostStuck*float64(v.pixels[b])) {
			all[b] = nil
		}
	}
	return all
}

// adjacent returns the products of the counts of pixels in neighbouring frames over those of all frames, for each bin, without pixels that are
// stuck. No pixel has much more weight than the others.
func (v *photons) adjacent(stuck [][]int) []score {
	c := v.each
	sums := make([][][3]float64, v.bins)
	usual, expected := make([]float64, v.bins), make([]float64, v.bins)
	for b := range sums {
		f, constant := c.bins[b], 0.0
		for _, p := range stuck[b] {
			constant += c.sum[p] / float64(v.looked)
		}
		n := float64(v.looked)
		sum := f.sum - n*constant
		squares := f.squares - 2*constant*f.sum + n*constant*constant
		sums[b] = make([][3]float64, photonGroups)
		expected[b] = (f.products - constant*f.both + f.pairs*constant*constant) / (sum*sum - squares)
	}
	of := make([][]float64, v.bins)
	for p, code := range v.code {
		if code >= 0 && c.sum[p] > 0 {
			of[code/photonGroups] = append(of[code/photonGroups], c.sum[p])
		}
	}
	for b, all := range of {
		if len(all) > 0 {
			slices.Sort(all)
			usual[b] = all[len(all)/2]
		}
	}
	out := setOf(stuck)
	for p, code := range v.code {
		if code < 0 || c.sum[p] == 0 || out[p] {
			continue
		}
		b := code / photonGroups
		weight := 1 / ((c.sum[p] + usual[b]) * (c.sum[p] + usual[b]))
		want := (c.sum[p]*c.sum[p] - c.squares[p]) * expected[b]
		s := &sums[b][code%photonGroups]
		s[0], s[1], s[2] = s[0]+weight*c.products[p], s[1]+weight*want, s[2]+weight*weight*want
	}
	all := make([]score, v.bins)
	for b := range all {
		var r grouped
		for _, s := range sums[b] {
			r.add(s)
		}
		all[b] = r.ratio()
	}
	return all
}

// setOf returns the pixels of all bins as a set.
func setOf(pixels [][]int) map[int]bool {
	set := map[int]bool{}
	for _, of := range pixels {
		for _, p := range of {
			set[p] = true
		}
	}
	return set
}
