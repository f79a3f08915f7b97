// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"sync"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// grid is a table of panels with aligned frames; a nil panel leaves a gap.
type grid struct {
	mu   sync.Mutex // held while drawing, which settles the axes
	rows [][]*panel
	// Relative widths of columns and heights of rows; nil means all equal.
	wide, high     []float64
	gapX, gapY     vg.Length
	flows          bool   // panels are side by side only because there is room
	xLabel, yLabel string // labels common to all panels
}

// draw lays out the panels within c and draws each.
func (g *grid) draw(c draw.Canvas, each func(p *panel, c draw.Canvas)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.rows) == 0 {
		return
	}
	if g.yLabel != "" {
		c.Min.X += 1.5 * labelSize
	}
	if g.xLabel != "" {
		c.Min.Y += 1.5 * labelSize
	}
	cols, rows := len(g.rows[0]), len(g.rows)
	size := c.Size()
	g.settle(size.X/vg.Length(cols), size.Y/vg.Length(rows))
	left, right, bottom, top := g.margins()
	xs := g.places(size.X, g.wide, left, right, g.gapX)
	ys := g.places(size.Y, g.high, top, bottom, g.gapY)
	for j, row := range g.rows {
		for i, p := range row {
			if p == nil {
				continue
			}
			if p.left = left[i]; p.equal {
				p.left = p.edges().left
			}
			cell := c
			cell.Min = vg.Point{X: c.Min.X + xs[i][0], Y: c.Max.Y - ys[j][1]}
			cell.Max = vg.Point{X: c.Min.X + xs[i][1], Y: c.Max.Y - ys[j][0]}
			each(p, p.fitted(cell))
		}
	}
	g.labels(c, xs, ys)
}

func (g *grid) labels(c draw.Canvas, xs, ys [][2]vg.Length) {
	if g.xLabel != "" {
		x := c.Min.X + (xs[0][0]+xs[len(xs)-1][1])/2
		labelText.draw(c.Canvas, vg.Point{X: x, Y: c.Min.Y - 4}, middle, top, g.xLabel)
	}
	if g.yLabel != "" {
		y := c.Max.Y - (ys[0][0]+ys[len(ys)-1][1])/2
		labelText.upright(c.Canvas, vg.Point{X: c.Min.X - 3, Y: y}, middle, bottom, g.yLabel)
	}
}

func (g *grid) settle(w, h vg.Length) {
	for j, row := range g.rows {
		for i, p := range row {
			if p != nil {
				p.settle(0.75*w*share(g.wide, i), 0.75*h*share(g.high, j))
			}
		}
	}
}

// share returns the weight of column or row i relative to the mean weight.
func share(weights []float64, i int) vg.Length {
	if weights == nil {
		return 1
	}
	return vg.Length(weights[i] * float64(len(weights)) / sum(weights))
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// margins returns the largest edges of every column and row.
func (g *grid) margins() (left, right, bottom, top []vg.Length) {
	left, right = make([]vg.Length, len(g.rows[0])), make([]vg.Length, len(g.rows[0]))
	bottom, top = make([]vg.Length, len(g.rows)), make([]vg.Length, len(g.rows))
	for j, row := range g.rows {
		for i, p := range row {
			if p == nil {
				continue
			}
			e := p.edges()
			left[i], right[i] = max(left[i], e.left), max(right[i], e.right)
			bottom[j], top[j] = max(bottom[j], e.bottom), max(top[j], e.top)
		}
	}
	return left, right, bottom, top
}

// places returns the begin and end of the frames along one direction.
func (g *grid) places(total vg.Length, weights []float64, before, after []vg.Length, gap vg.Length) [][2]vg.Length {
	n := len(before)
	free := total - gap*vg.Length(n-1)
	for i := range before {
		free -= before[i] + after[i]
	}
	free = max(free, 1)
	out := make([][2]vg.Length, n)
	at := vg.Length(0)
	for i := range out {
		size := free * share(weights, i) / vg.Length(n)
		at += before[i]
		out[i] = [2]vg.Length{at, at + size}
		at += size + after[i] + gap
	}
	return out
}
