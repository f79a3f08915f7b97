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

// symmetry searches for the point about which the sum of all frames is most symmetric.
func (g *guess) symmetry() (x, y float64) {
	m := g.mirrored()
	if m == nil {
		return 0, 0
	}
	cx, cy := g.foot0()
	x, y, least, ok := m.search(cx, cy)
	if !ok || !(least < 0.8*m.nominal) {
		return 0, 0
	}
	return x - cx, y - cy
}

// foot0 is where the beam hits by the geometry, in pixels along x and y from the middle of the first: not the foot of the normal if the
// detector is turned.
func (g *guess) foot0() (x, y float64) {
	geo := g.Geometry
	return (geo.PoniX-geo.Distance*math.Tan(geo.Rot1))/g.Detector.PixelX - 0.5, (geo.PoniY+geo.Distance*math.Tan(geo.Rot2))/g.Detector.PixelY - 0.5
}

// exchanged reports whether the patterns are far more symmetric about the point whose x is the y of the beam by the geometry, and whose y is
// its x, and returns how far that is away in pixels along x; along y, it is as far the other way.
func (g *guess) exchanged() (by float64, ok bool) {
	m := g.mirrored()
	cx, cy := g.foot0()
	if m == nil || math.Abs(cy-cx) < 1 {
		return 0, false
	}
	m.brighten()
	_, _, labelled, _ := m.search(cx, cy)
	_, _, other, ok := m.search(cy, cx)
	return cy - cx, ok && other < 0.5*min(labelled, m.nominal)
}

// mirror is the sum of frames whose symmetry is looked at.
type mirror struct {
	rows, columns, pitch, fewest int
	sum                          []float64
	bright                       float64 // the least that the brighter pixel of a pair has
	nominal                      float64 // misfit about the first point that was tried, or that of pixels without symmetry
}

// brighten looks at the brightest fifth of the pixels only, a quarter of which at least must have a mirror image: the beam is among them.
func (m *mirror) brighten() {
	var list []float64
	for _, v := range m.sum {
		if !math.IsNaN(v) {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return
	}
	slices.Sort(list)
	m.bright = max(list[4*len(list)/5], math.SmallestNonzeroFloat64)
	m.fewest = len(list) / (5 * 4 * 2 * m.pitch * m.pitch)
	total, n := 0.0, 0.0
	for i, a := range m.sum {
		if b := m.sum[(i+len(m.sum)/2)%len(m.sum)]; max(a, b) >= m.bright {
			total, n = total+mismatch(a, b), n+1
		}
	}
	m.nominal = total / max(n, 1)
}

// mismatch is the squared difference of two pixels over the variance of counts, at most 100 so that single ones do not count for all.
func mismatch(a, b float64) float64 { return math.Min((a-b)*(a-b)/(a+b), 100) }

// mirrored returns the sum of all images, or of maps that lie on the same places; nil for other data.
func (g *guess) mirrored() *mirror {
	m := &mirror{rows: g.Detector.Rows, columns: g.Detector.Columns}
	pixels := m.rows * m.columns
	if g.Fan != nil || slices.ContainsFunc(g.Frames, func(f Frame) bool { return f.Bins != nil && !(f.Bins.Interpolated && f.Bins.length() == pixels) }) {
		return nil
	}
	m.pitch = 1 + int(math.Sqrt(float64(pixels)/mostForCentre))
	m.fewest = pixels / (20 * m.pitch * m.pitch)
	m.sum = make([]float64, pixels)
	for i := range m.sum {
		if g.Keep != nil && !g.Keep[i] {
			m.sum[i] = math.NaN()
		}
		for _, f := range g.Frames {
			m.sum[i] += f.Counts[i]
		}
	}
	return m
}

// misfit returns the mean squared difference of pixels and their mirror images about a point, which is given by twice its coordinates, over
// the variance of counts, and the number of pairs.
func (m *mirror) misfit(x, y int) (misfit float64, pairs int) {
	total := 0.0
	for r := 0; r < m.rows; r += m.pitch {
		for c := 0; c < m.columns; c += m.pitch {
			p, q := y-r, x-c
			if p < 0 || p >= m.rows || q < 0 || q >= m.columns || p*m.columns+q <= r*m.columns+c {
				continue
			}
			a, b := m.sum[r*m.columns+c], m.sum[p*m.columns+q]
			if a+b > 0 && max(a, b) >= m.bright { // false for NaN
				total, pairs = total+mismatch(a, b), pairs+1
			}
		}
	}
	if pairs < m.fewest {
		return math.Inf(1), pairs
	}
	return total / float64(pairs), pairs
}

// search looks around a point by halves of a pixel and then between them. ok is false if the best lies at the rim of what is searched.
func (m *mirror) search(cx, cy float64) (x, y, least float64, ok bool) {
	x0, y0 := int(math.Round(2*cx)), int(math.Round(2*cy)) // twice the centre, whole, so that pixels meet pixels
	least, pairs := m.misfit(x0, y0)
	if m.nominal == 0 {
		m.nominal = least
		m.fewest = max(m.fewest, 7*pairs/10) // beside the pattern everything is symmetric
	}
	bx, by := x0, y0
	far := min(2*farthestCentre, m.rows/4, m.columns/4)
	for dy := -far; dy <= far; dy++ {
		for dx := -far; dx <= far; dx++ {
			if v, _ := m.misfit(x0+dx, y0+dy); v < least {
				least, bx, by = v, x0+dx, y0+dy
			}
		}
	}
	vertex := func(dx, dy int) float64 { // of the parabola through three neighbours
		a, _ := m.misfit(bx-dx, by-dy)
		b, _ := m.misfit(bx+dx, by+dy)
		if c := a - 2*least + b; c > 0 && !math.IsInf(c, 0) {
			return (a - b) / (2 * c)
		}
		return 0
	}
	ok = max(bx-x0, x0-bx, by-y0, y0-by) < far
	return (float64(bx) + vertex(1, 0)) / 2, (float64(by) + vertex(0, 1)) / 2, least, ok
}
