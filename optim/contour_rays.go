// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"math"
	"slices"
)

const (
	// atBound is the distance from a bound, in standard deviations, below which a fit lies at it.
	atBound = 1e-6
	// nearCorner is the distance of the neighbours of a corner of a contour, in units of that from the fit, and sharpest is the angle of rays, in radians,
	// that are not divided any further to come that near.
	nearCorner = 0.02
	sharpest   = 1e-6
)

// sector is the angles of the rays that stay within the bounds at which the fit lies.
type sector struct {
	from, width float64 // radians; the width of the whole circle is 2 pi
}

// sector returns the rays along which a contour can lie.
func (w *plane) sector() sector {
	s := sector{0, 2 * math.Pi}
	for k, l := range [][2]float64{{w.l[0], 0}, {w.l[1], w.l[2]}} {
		sd, i := math.Hypot(l[0], l[1]), w.at[k]
		inward := math.Atan2(l[1], l[0]) // the angle along which this parameter grows fastest
		if w.p.Lower != nil && w.r.X[i]-w.p.Lower[i] <= atBound*sd {
			s = s.half(inward)
		}
		if w.p.Upper != nil && w.p.Upper[i]-w.r.X[i] <= atBound*sd {
			s = s.half(inward + math.Pi)
		}
	}
	return s
}

// half keeps the rays within a right angle of one.
func (s sector) half(middle float64) sector {
	from := middle - math.Pi/2
	if s.width > math.Pi {
		return sector{from, math.Pi}
	}
	off := math.Remainder(from-s.from, 2*math.Pi)
	if off >= 0 {
		return sector{from, max(0, s.width-off)}
	}
	return sector{s.from, max(0, min(s.width, math.Pi+off))}
}

// rayEnds are the ends of a ray at each level: their distances from the fit, and what ends it there, or 0 for the level.
type rayEnds struct {
	angle float64
	t     []float64
	edge  []int
}

// around follows the contours around the fit.
func (w *plane) around(ctx context.Context, points int, widths []float64, out []Contour) error {
	s, gaps := w.sector(), points
	whole := s.width == 2*math.Pi
	if !whole {
		gaps = max(points-2, 2) // both end rays and the fit are points
	}
	var last rayEnds
	for k := range gaps + 1 {
		next, err := w.ray(ctx, s.from+s.width*float64(k)/float64(gaps), widths)
		if err == nil && k > 0 {
			err = w.between(ctx, last, next, widths, out)
		}
		if err != nil {
			return err
		}
		if k < gaps || !whole {
			w.add(next, out)
		}
		last = next
	}
	if !whole {
		w.add(rayEnds{t: make([]float64, len(widths)), edge: slices.Repeat([]int{1}, len(widths))}, out)
	}
	return nil
}

// between adds rays between two, as long as a contour meets a bound there and both are not close to this corner.
func (w *plane) between(ctx context.Context, a, b rayEnds, widths []float64, out []Contour) error {
	if b.angle-a.angle < sharpest || !cornered(a, b) {
		return nil
	}
	c, err := w.ray(ctx, (a.angle+b.angle)/2, widths)
	if err == nil {
		err = w.between(ctx, a, c, widths, out)
	}
	if err != nil {
		return err
	}
	w.add(c, out)
	return w.between(ctx, c, b, widths, out)
}

// cornered reports whether a contour has a corner between two rays that are far from each other.
func cornered(a, b rayEnds) bool {
	for l, edge := range a.edge {
		sin, cos := math.Sincos(b.angle - a.angle)
		if apart := math.Hypot(a.t[l]-b.t[l]*cos, b.t[l]*sin); edge != b.edge[l] && apart > nearCorner*max(a.t[l], b.t[l]) {
			return true
		}
	}
	return false
}

// ray finds where a ray leaves the region of each level.
func (w *plane) ray(ctx context.Context, angle float64, widths []float64) (rayEnds, error) {
	w.aim(angle)
	out, inside := rayEnds{angle: angle}, rayPoint{x: w.r.X}
	for _, width := range widths {
		at, open, err := w.cross(ctx, inside, width)
		if err != nil {
			return out, err
		}
		edge := 0
		if open {
			edge = w.edge
		}
		out.t, out.edge, inside = append(out.t, at.t), append(out.edge, edge), at
	}
	return out, nil
}

// add adds the ends of a ray to the contours.
func (w *plane) add(e rayEnds, out []Contour) {
	w.aim(e.angle)
	for l := range out {
		x, y := w.place(e.t[l])
		out[l].X, out[l].Y, out[l].Open = append(out[l].X, x), append(out[l].Y, y), append(out[l].Open, e.edge[l] > 0)
	}
}
