// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg/draw"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Arrow is a short line centred at (X, Y), in the units of the axes, with half of (DX, DY) to either
// side. It has no head, because a director has none.
type Arrow struct{ X, Y, DX, DY float64 }

func arrows(list []Arrow) mark {
	style := draw.LineStyle{Color: fade(ink, 0.85), Width: 0.7}
	guide := &Data{Kind: "arrows"}
	for _, a := range list {
		guide.X, guide.Y, guide.Low, guide.High = append(guide.X, a.X), append(guide.Y, a.Y), append(guide.Low, a.DX), append(guide.High, a.DY)
	}
	return mark{guide: guide, draw: func(f *frame) {
		for _, a := range list {
			if !linalg.Finite(a.X+a.Y+a.DX+a.DY) || !f.can(a.X, a.Y) {
				continue
			}
			p, q := f.at(a.X-a.DX/2, a.Y-a.DY/2), f.at(a.X+a.DX/2, a.Y+a.DY/2)
			f.StrokeLine2(style, p.X, p.Y, q.X, q.Y)
		}
	}}
}

// Images draws a table of images, each with its own colour bar and its Title above it; an image with
// an empty Z leaves a gap. Rows must be equally long.
func Images(title string, rows [][]Image) (*Figure, error) {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return nil, fmt.Errorf("viz: images %q: there are no images to draw: pass at least one", title)
	}
	g := &grid{gapX: gutter, gapY: gutter}
	left, ratio := 0, 0.0
	for j, row := range rows {
		if len(row) != len(rows[0]) {
			return nil, fmt.Errorf("viz: images %q: there are %d images in row %d, but %d in the first: make the rows equally long", title, len(row), j, len(rows[0]))
		}
		line := make([]*panel, len(row))
		for i, m := range row {
			if len(m.Z) == 0 {
				continue
			}
			if err := m.complete(); err != nil {
				return nil, err
			}
			p, n, err := m.panel()
			if err != nil {
				return nil, err
			}
			p.title = m.Title
			line[i] = p
			left += n
			if m.Equal {
				ratio = math.Max(ratio, (p.y.hi-p.y.lo)/(p.x.hi-p.x.lo))
			}
		}
		g.rows = append(g.rows, line)
	}
	if ratio == 0 {
		ratio = 0.8
	}
	cell := imageWidth(len(rows[0]))
	f := &Figure{Title: title, grid: g, Width: cell * float64(len(rows[0])), Height: float64(len(rows))*((cell-1.1)*ratio+0.75) + 0.45}
	if left > 0 {
		f.Note = grey(left, "not finite or, on logarithmic colours, not positive")
	}
	return f, nil
}

// imageWidth returns the width in inches of each of n images side by side with their colour bars.
func imageWidth(n int) float64 {
	return math.Max(2.5, math.Min(columnWidth, 1.5*pageWidth/float64(n)))
}

// Pattern returns the image of a scattering pattern: intensity [qy][qx] over the wavevector
// transfers in 1/nm, with logarithmic colours over at most 6 decades.
func Pattern(title string, qy, qx []float64, intensity []float64) Image {
	m := Image{Title: title, XLabel: "q_{x} (1/nm)", YLabel: "q_{y} (1/nm)", ZLabel: "intensity", X: qx, Y: qy, Log: true, Equal: true}
	top := 0.0
	for j := range qy {
		row := intensity[j*len(qx) : (j+1)*len(qx)]
		m.Z = append(m.Z, row)
		for _, v := range row {
			if linalg.Finite(v) {
				top = math.Max(top, v)
			}
		}
	}
	if top > 0 {
		low := top
		for _, v := range intensity {
			if v > 0 {
				low = math.Min(low, v)
			}
		}
		m.Low, m.High = math.Max(low, 1e-6*top), top
		if m.Low == m.High {
			m.Low /= 10
		}
	}
	return m
}

// Directors returns lines along the directors of an image of ny x nx voxels with edge a in nm, one
// every step voxels, wherever weight is at least least. theta and psi are in radians. A director that
// points out of the plane gives a shorter line.
func Directors(theta, psi, weight []float64, ny, nx int, a float64, step int, least float64) (list []Arrow) {
	size := 0.9 * float64(step) * a
	for y := step / 2; y < ny; y += step {
		for x := step / 2; x < nx; x += step {
			i := y*nx + x
			if !(weight[i] >= least) {
				continue
			}
			s := size * math.Sin(theta[i])
			list = append(list, Arrow{X: a * float64(x), Y: a * float64(y), DX: s * math.Cos(psi[i]), DY: s * math.Sin(psi[i])})
		}
	}
	return list
}
