// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/viz"
)

// place knows where the points of an image of a detector lie.
type place struct {
	q             *nexus.QMap
	height, width int
}

// perPixel returns q of a pixel's edge in 1/angstrom, in the approximation of small angles; false where the geometry is not known.
func perPixel(q *nexus.QMap) (float64, bool) {
	if q.PixelSize > 0 && q.Distance > 0 && q.Energy > 0 {
		return q.PixelSize / q.Distance * q.K0(), true
	}
	return 1, false
}

// told says q and azimuth, the pixel, and the bin at a point.
func (p place) told(x, y float64) string {
	var said []string
	col, row := x, -y
	if scale, ok := perPixel(p.q); ok {
		col, row = p.q.BeamX+x/scale, p.q.BeamY-y/scale
		said = append(said, fmt.Sprintf("q %.4g 1/Å, azimuth %.1f degrees, column %.0f, row %.0f", math.Hypot(x, y), math.Mod(math.Atan2(y, x)*180/math.Pi+360, 360), col, row))
	}
	i, j := int(math.Round(col)), int(math.Round(row))
	if m := p.q.Maps; m != nil && m.Height == p.height && m.Width == p.width && i >= 0 && j >= 0 && i < m.Width && j < m.Height {
		switch bin := m.Dynamic[j*m.Width+i]; {
		case !m.Mask[j*m.Width+i]:
			said = append(said, "masked")
		case bin > 0:
			said = append(said, fmt.Sprintf("bin %d (%s)", bin, p.q.Label(int(bin))))
		default:
			said = append(said, "in no bin")
		}
	}
	return strings.Join(said, ", ")
}

// ringsOf returns the borders between the dynamic bins of a map as circles of q and rays of azimuth; nil if its axes are others or the
// geometry is not known.
func ringsOf(q *nexus.QMap) (all []viz.Line) {
	first, _ := q.Axis(0)
	second, _ := q.Axis(1)
	if _, ok := perPixel(q); !ok || first != "q" || len(q.Dynamic.Axis0) < 2 {
		return nil
	}
	radii := viz.Borders(q.Dynamic.Axis0, false)
	for _, r := range radii {
		var l viz.Line
		for k := range 361 {
			sin, cos := math.Sincos(float64(k) * math.Pi / 180)
			l.X, l.Y = append(l.X, r*cos), append(l.Y, r*sin)
		}
		all = append(all, l)
	}
	if second != "phi" || len(q.Dynamic.Axis1) < 2 {
		return all
	}
	inner, outer := radii[0], radii[len(radii)-1]
	for _, phi := range rays(q.Dynamic.Axis1) {
		sin, cos := math.Sincos(phi * math.Pi / 180)
		all = append(all, viz.Line{X: []float64{inner * cos, outer * cos}, Y: []float64{inner * sin, outer * sin}})
	}
	return all
}

// rays returns the borders of cells from two or more centres in degrees around a circle, which they may fill.
func rays(centres []float64) (out []float64) {
	n := len(centres)
	gap := func(i int) float64 {
		if i == n-1 {
			return centres[0] + 360 - centres[i]
		}
		return centres[i+1] - centres[i]
	}
	least := gap(0)
	for i := range n {
		least = min(least, gap(i))
	}
	for i, c := range centres {
		if g := gap(i); g < 1.5*least {
			out = append(out, c+g/2)
		} else {
			out = append(out, c+least/2, c+g-least/2)
		}
	}
	return out
}
