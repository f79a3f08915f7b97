// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/nexus"
)

// Hot says which pixels are so bright that they spoil g2 of their static bins.
type Hot struct {
	Pixels   []int   // places of the pixels, as row * width + column, the brightest first
	Mean     float64 // mean counts of the first one
	Of       float64 // mean counts of the other pixels of its static bin
	Bin      int     // dynamic bin whose g2 they raise most
	Baseline float64 // g2 of that bin if intensities were constant
}

const (
	hotFactor   = 30   // times the mean of the others: static speckles with full contrast get there once in 1e13 pixels
	hotCounts   = 30   // counts over that, against chance
	hotBaseline = 0.05 // what hot pixels add to g2 of a bin
	mostHot     = 0.1  // share of a static bin above which pixels are no exceptions
)

// hotPixels finds hot pixels in the mean counts of pixels over a number of frames.
func hotPixels(m *nexus.Maps, image []float64, frames int) (hot Hot) {
	static := map[int32][]int{}
	for p, b := range m.Static {
		if b > 0 && m.Dynamic[p] > 0 && !math.IsNaN(image[p]) {
			static[b] = append(static[b], p)
		}
	}
	type sums struct{ with, without, bins float64 }
	dynamic, found := map[int32]*sums{}, map[int32][]int{}
	others := map[int]float64{}
	for _, b := range slices.Sorted(maps.Keys(static)) { // in their order: sums round
		pixels := static[b]
		slices.SortFunc(pixels, func(a, b int) int { return cmp.Compare(image[b], image[a]) })
		n, most := len(pixels), max(1, int(mostHot*float64(len(pixels))))
		bin := m.Dynamic[pixels[0]]
		if dynamic[bin] == nil {
			dynamic[bin] = &sums{}
		}
		d := dynamic[bin]
		d.with, d.without, d.bins = d.with+baseline(image, pixels), d.without+baseline(image, pixels), d.bins+1
		if n < 10 {
			continue
		}
		rest := 0.0
		for _, p := range pixels[most:] {
			rest += image[p] / float64(n-most)
		}
		k := 0
		for rest >= 0 && k < most && image[pixels[k]] > hotFactor*rest+hotCounts/float64(frames) {
			others[pixels[k]] = rest
			k++
		}
		if k > 0 {
			found[bin] = append(found[bin], pixels[:k]...)
			d.without += baseline(image, pixels[k:]) - baseline(image, pixels)
		}
	}
	for _, bin := range slices.Sorted(maps.Keys(found)) {
		pixels := found[bin]
		d := dynamic[bin]
		if (d.with-d.without)/d.bins < hotBaseline {
			continue
		}
		hot.Pixels = append(hot.Pixels, pixels...)
		if g := d.with / d.bins; g > hot.Baseline {
			hot.Baseline, hot.Bin = g, int(bin)
		}
	}
	slices.SortFunc(hot.Pixels, func(a, b int) int {
		if c := cmp.Compare(image[b], image[a]); c != 0 {
			return c
		}
		return a - b
	})
	if len(hot.Pixels) > 0 {
		hot.Mean, hot.Of = image[hot.Pixels[0]], others[hot.Pixels[0]]
	}
	return hot
}

// baseline is g2 of a static bin whose pixels have constant intensities.
func baseline(image []float64, pixels []int) float64 {
	sum, squares := 0.0, 0.0
	for _, p := range pixels {
		sum, squares = sum+image[p], squares+image[p]*image[p]
	}
	if sum == 0 {
		return 0
	}
	return squares * float64(len(pixels)) / (sum * sum)
}
