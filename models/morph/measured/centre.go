// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"slices"
)

// farthestCentre is how far from its nominal place the beam is looked for, in pixels.
const farthestCentre = 12

// mostForCentre is the number of pixels of which the symmetry is looked at; of larger images every second, third or further row and column.
const mostForCentre = 1 << 14

// centre returns how far in pixels along x and y the beam is from where the file has it, by the symmetry of patterns: q and -q scatter
// nearly alike. It is 0 where the images show no symmetry that is clearly better elsewhere.
func (g *guess) centre() [2]float64 {
	if g.foot == nil {
		x, y := g.symmetry()
		g.foot = &[2]float64{x, y}
	}
	return *g.foot
}

// symmetry searches for the point about which the sum of all frames is most symmetric, by halves of a pixel and then between them.
func (g *guess) symmetry() (x, y float64) {
	if g.Fan != nil || slices.ContainsFunc(g.Frames, func(f Frame) bool { return f.Bins != nil }) {
		return 0, 0
	}
	rows, columns := g.Detector.Rows, g.Detector.Columns
	sum := make([]float64, rows*columns)
	for i := range sum {
		if g.Keep != nil && !g.Keep[i] {
			sum[i] = math.NaN()
		}
		for _, f := range g.Frames {
			sum[i] += f.Counts[i]
		}
	}
	// The foot of the normal is not where the beam hits if the detector is turned.
	geo := g.Geometry
	cx := (geo.PoniX-geo.Distance*math.Tan(geo.Rot1))/g.Detector.PixelX - 0.5
	cy := (geo.PoniY+geo.Distance*math.Tan(geo.Rot2))/g.Detector.PixelY - 0.5
	x0, y0 := math.Round(2*cx), math.Round(2*cy) // twice the centre, whole, so that pixels meet pixels
	pitch := 1 + int(math.Sqrt(float64(rows*columns)/mostForCentre))
	pairs := 0
	fewest := rows * columns / (20 * pitch * pitch)
	misfit := func(dx, dy int) float64 {
		mx, my, total, n := int(x0)+dx, int(y0)+dy, 0.0, 0
		for r := 0; r < rows; r += pitch {
			for c := 0; c < columns; c += pitch {
				p, q := my-r, mx-c
				if p < 0 || p >= rows || q < 0 || q >= columns || p*columns+q <= r*columns+c {
					continue
				}
				a, b := sum[r*columns+c], sum[p*columns+q]
				if s := a + b; s > 0 { // false for NaN
					total, n = total+math.Min((a-b)*(a-b)/s, 100), n+1
				}
			}
		}
		if n < fewest {
			return math.Inf(1)
		}
		pairs = n
		return total / float64(n)
	}
	best, at := misfit(0, 0), [2]int{}
	first := best
	fewest = max(fewest, 7*pairs/10) // beside the pattern everything is symmetric
	far := min(2*farthestCentre, rows/4, columns/4)
	for dy := -far; dy <= far; dy++ {
		for dx := -far; dx <= far; dx++ {
			if m := misfit(dx, dy); m < best {
				best, at = m, [2]int{dx, dy}
			}
		}
	}
	if !(best < 0.8*first) || max(at[0], -at[0], at[1], -at[1]) == far {
		return 0, 0
	}
	vertex := func(dx, dy int) float64 { // of the parabola through three neighbours
		a, b := misfit(at[0]-dx, at[1]-dy), misfit(at[0]+dx, at[1]+dy)
		if c := a - 2*best + b; c > 0 && !math.IsInf(c, 0) {
			return (a - b) / (2 * c)
		}
		return 0
	}
	return (x0+float64(at[0])+vertex(1, 0))/2 - cx, (y0+float64(at[1])+vertex(0, 1))/2 - cy
}
