// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/nexus"
)

// Pixels that never count among others that do are dead, and pixels whose mean is below 0 are no detectors of light. Both spoil g2 of their static
// bins, whose means they lower.
const (
	deadCounts    = 50   // counts that the pixels around have and a dead one misses
	deadAround    = 2    // rows and columns around a pixel that say how bright it should be
	deadNeighbors = 5    // fewest pixels there
	litShare      = 0.75 // share of them that is lit; it is lower at the edge of a shadow
	dimShare      = 0.1  // share of the mean of a bin below which lit pixels are dim; static speckles have many dim pixels for each without counts
	shadowShare   = 0.5  // share of the mean of a bin below which the pixels around lie in a shadow
	negativeSigma = 6    // standard errors by which the mean of a pixel is below 0
	negativeLooks = 30   // frames from which the scatter of a pixel gives a standard error
)

// deadPixels returns the pixels of bins that have no counts where those around have many, given the mean of each pixel over a number of frames.
// Dark places, such as the shadow of a beam stop, have dark surroundings; static speckles make pixels dim for each that they make dark.
func deadPixels(m *nexus.Maps, mean []float64, frames int) (dead []int) {
	of := binMeans(m, mean)
	dim := map[int32]int{}
	for p, b := range m.Dynamic {
		if b == 0 || m.Static[p] == 0 || mean[p] < 0 || mean[p] >= dimShare*of[b] {
			continue
		}
		switch around, ok := lightAround(m, mean, p); {
		case !ok || around < shadowShare*of[b]:
		case mean[p] > 0:
			dim[b]++
		case around*float64(frames) >= deadCounts:
			dead = append(dead, p)
		}
	}
	return withoutDim(m, dead, dim)
}

// emptyAreas returns the pixels of bins in connected areas without any count whose rims are lit: dead parts of a detector, and beam stops with
// sharp edges. Soft shadows and dark speckles have rims of dim pixels. Known pixels are left out.
func emptyAreas(m *nexus.Maps, mean []float64, frames int, known []int) (empty []int) {
	of, seen := binMeans(m, mean), make([]bool, len(mean))
	for _, p := range known {
		seen[p] = true
	}
	dark := func(p int) bool { return !seen[p] && m.Dynamic[p] > 0 && m.Static[p] > 0 && mean[p] == 0 }
	for p := range mean {
		if !dark(p) {
			continue
		}
		seen[p] = true
		area := []int{p}
		for i := 0; i < len(area); i++ {
			row, column := area[i]/m.Width, area[i]%m.Width
			for _, next := range [][2]int{{row - 1, column}, {row + 1, column}, {row, column - 1}, {row, column + 1}} {
				if q := next[0]*m.Width + next[1]; next[0] >= 0 && next[0] < m.Height && next[1] >= 0 && next[1] < m.Width && dark(q) {
					seen[q] = true
					area = append(area, q)
				}
			}
		}
		if litRim(m, mean, frames, of, area) {
			empty = append(empty, area...)
		}
	}
	slices.Sort(empty)
	return empty
}

// litRim says whether the pixels of bins around an area are bright, nearly all of them.
func litRim(m *nexus.Maps, mean []float64, frames int, of map[int32]float64, area []int) bool {
	inside, rim := map[int]bool{}, map[int]bool{}
	for _, p := range area {
		inside[p] = true
	}
	for _, p := range area {
		row, column := p/m.Width, p%m.Width
		for r := max(row-1, 0); r <= min(row+1, m.Height-1); r++ {
			for c := max(column-1, 0); c <= min(column+1, m.Width-1); c++ {
				if q := r*m.Width + c; !inside[q] && m.Dynamic[q] > 0 && m.Static[q] > 0 && !math.IsNaN(mean[q]) {
					rim[q] = true
				}
			}
		}
	}
	lit := 0
	for q := range rim {
		if mean[q] >= shadowShare*of[m.Dynamic[q]] && mean[q]*float64(frames) >= deadCounts {
			lit++
		}
	}
	return len(rim) >= deadNeighbors && float64(lit) >= litShare*float64(len(rim))
}

// withoutDim leaves out pixels of bins that have as many dim pixels, and those that are all of their static bin.
func withoutDim(m *nexus.Maps, pixels []int, dim map[int32]int) (kept []int) {
	inBin, inStatic, size := map[int32]int{}, map[int32]int{}, map[int32]int{}
	for _, b := range m.Static {
		size[b]++
	}
	for _, p := range pixels {
		inBin[m.Dynamic[p]]++
		inStatic[m.Static[p]]++
	}
	for _, p := range pixels {
		if b, s := m.Dynamic[p], m.Static[p]; inBin[b] > dim[b] && inStatic[s] < size[s] {
			kept = append(kept, p)
		}
	}
	return kept
}

// binMeans returns the mean of the pixels of each dynamic bin.
func binMeans(m *nexus.Maps, mean []float64) map[int32]float64 {
	sum, n := map[int32]float64{}, map[int32]float64{}
	for p, b := range m.Dynamic {
		if b > 0 && m.Static[p] > 0 && mean[p] >= 0 {
			sum[b], n[b] = sum[b]+mean[p], n[b]+1
		}
	}
	for b := range sum {
		sum[b] /= n[b]
	}
	return sum
}

// lightAround returns the mean of the lit pixels of bins around one, if there are enough pixels and nearly all of them are lit.
func lightAround(m *nexus.Maps, mean []float64, pixel int) (light float64, ok bool) {
	row, column := pixel/m.Width, pixel%m.Width
	lit, all := 0, 0
	for r := max(row-deadAround, 0); r <= min(row+deadAround, m.Height-1); r++ {
		for c := max(column-deadAround, 0); c <= min(column+deadAround, m.Width-1); c++ {
			p := r*m.Width + c
			if p == pixel || m.Static[p] == 0 || math.IsNaN(mean[p]) {
				continue
			}
			if all++; mean[p] > 0 {
				lit, light = lit+1, light+mean[p]
			}
		}
	}
	return light / float64(max(lit, 1)), all >= deadNeighbors && float64(lit) >= litShare*float64(all)
}

// negativePixels returns the pixels of bins whose mean is below 0 beyond chance, given the sums of their readings and of the squares. Where a
// background was subtracted, the readings of dark pixels scatter about 0.
func negativePixels(kept []int, sum, squares []float64, frames int) (negative []int) {
	n := float64(frames)
	for _, p := range kept {
		mean := sum[p] / n
		variance := max(squares[p]/n-mean*mean, 0)
		constant := variance < 1e-9*mean*mean
		if mean < 0 && (constant || frames >= negativeLooks) && -mean > negativeSigma*math.Sqrt(variance/(n-1)) {
			negative = append(negative, p)
		}
	}
	return negative
}
