// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panel is one frame with its axes and marks.
type panel struct {
	title string
	x, y  axis
	marks []mark
	box   []string // lines of text in the emptiest corner
	keys  []key    // legend, placed above the box
	equal bool     // whether one unit of x is as long as one of y
	bar   *colorbar
	side  []sideLabel
	dark  bool // whether it is drawn for a dark surrounding

	spine []string     // lines of the label of the y axis
	left  vg.Length    // width to the left, used to align the labels of a column
	busy  [][2]float64 // positions of data that the box should not cover
}

// mark draws something into a frame.
type mark struct {
	draw func(f *frame)
	data *Data // what is drawn; nil for what stands for no data
	// guide is what is drawn where that stands for no data, such as a line at zero; with data and guide nil, a figure cannot be kept.
	guide *Data
}

// asGuide is a mark that stands for no data.
func asGuide(m mark) mark { return mark{guide: m.data, draw: m.draw} }

// frame is the area of a panel in which the data are drawn.
type frame struct {
	draw.Canvas
	x, y *axis
	dark bool // whether the surrounding is dark
}

// key is an entry of the legend.
type key struct {
	text   string
	color  color.NRGBA
	symbol symbol
}

func (p *panel) add(m ...mark) { p.marks = append(p.marks, m...) }

// at returns the position of a data point on the canvas.
func (f *frame) at(x, y float64) vg.Point {
	return vg.Point{X: f.X(f.x.at(x)), Y: f.Y(f.y.at(y))}
}

// can reports whether both coordinates can be placed.
func (f *frame) can(x, y float64) bool { return f.x.can(x) && f.y.can(y) }

// edges is the space that a panel needs around its frame.
type edges struct{ left, right, bottom, top vg.Length }

// edges measures titles, ticks and labels; the axes must be settled.
func (p *panel) edges() (e edges) {
	if p.title != "" {
		e.top = 1.5 * labelSize
	}
	if !p.x.none {
		e.bottom = tickLength
		if !p.x.bare && !p.x.over {
			e.bottom += 1.35 * tickSize
			if p.x.label != "" {
				e.bottom += 1.45 * labelSize
			}
		}
		if !p.x.bare {
			e.right = p.overhang()
		}
	}
	if !p.y.none {
		e.left = tickLength
		if !p.y.bare {
			e.left += p.tickWidth() + 3
			if p.y.label != "" {
				e.left += 0.35*labelSize + labelText.height()*vg.Length(len(p.spine))
			}
		}
	}
	if p.bar != nil {
		e.right += p.bar.width()
	}
	return e.with(p.side)
}

func (e edges) with(side []sideLabel) edges {
	for _, s := range side {
		e.right = max(e.right, 8+tickText.width(s.text))
	}
	return e
}

// overhang returns how far the last label of the x axis extends beyond the frame.
func (p *panel) overhang() (w vg.Length) {
	for _, t := range p.x.ticks {
		if t.label != "" && p.x.at(t.at) > 0.93 {
			w = max(w, 0.45*tickText.width(t.label))
		}
	}
	return w
}

func (p *panel) tickWidth() (w vg.Length) {
	for _, t := range p.y.ticks {
		w = max(w, tickText.width(t.label))
	}
	return w
}

// settle computes the ticks of the axes for a frame of about the given size.
func (p *panel) settle(w, h vg.Length) {
	p.x.settle(w, true)
	p.y.settle(h, false)
	p.spine = broken(p.y.title(), 1.15*h)
	if p.bar != nil {
		p.bar.axis.settle(h, false)
	}
}

// fitted returns the part of a canvas that the frame fills.
func (p *panel) fitted(c draw.Canvas) draw.Canvas {
	if p.equal {
		c.Rectangle = fitted(c.Rectangle, p.x.hi-p.x.lo, p.y.hi-p.y.lo)
	}
	return c
}

// draw draws the panel around a frame that fills the canvas.
func (p *panel) draw(c draw.Canvas) {
	f := &frame{Canvas: c, x: &p.x, y: &p.y, dark: p.dark}
	for _, m := range p.marks {
		m.draw(f)
	}
	p.drawX(c)
	p.drawY(c)
	if p.title != "" {
		headText.draw(c.Canvas, vg.Point{X: c.Min.X, Y: c.Max.Y + 0.5*labelSize}, left, bottom, p.title)
	}
	if p.bar != nil {
		p.bar.draw(c)
	}
	for _, s := range separated(p.side, f) {
		lettering{tickSize, false, s.color}.draw(c.Canvas, vg.Point{X: c.Max.X + 5, Y: s.place}, left, middle, s.text)
	}
	p.drawBox(f)
}

// broken moves the unit of a label to a second line if the label would be longer than w, and then divides its name at the
// underscore nearest to the middle if that is still longer.
func broken(s string, w vg.Length) []string {
	if labelText.width(s) <= w {
		return []string{s}
	}
	if i := strings.LastIndex(s, " ("); i > 0 {
		return append(broken(s[:i], w), s[i+1:])
	}
	best := 0
	for i, r := range s {
		if r == '_' && abs(2*i-len(s)) < abs(2*best-len(s)) {
			best = i
		}
	}
	if best == 0 {
		return []string{s}
	}
	return []string{s[:best+1], s[best+1:]}
}

func abs(n int) int { return max(n, -n) }

// sideLabel names a curve at the right end of the frame.
type sideLabel struct {
	text  string
	y     float64
	color color.NRGBA
	place vg.Length
}

// separated places labels at their curves and moves overlapping ones apart.
func separated(labels []sideLabel, f *frame) []sideLabel {
	out := slices.Clone(labels)
	slices.SortStableFunc(out, func(a, b sideLabel) int {
		if a.y < b.y {
			return -1
		}
		return 1
	})
	for i := range out {
		out[i].place = f.Y(f.y.at(out[i].y))
		if i > 0 {
			out[i].place = max(out[i].place, out[i-1].place+1.15*tickSize)
		}
	}
	return out
}

// fitted returns the largest rectangle with aspect ratio w:h within r.
func fitted(r vg.Rectangle, w, h float64) vg.Rectangle {
	size := r.Size()
	scale := min(float64(size.X)/w, float64(size.Y)/h)
	if !(scale > 0) || math.IsInf(scale, 0) {
		return r
	}
	dx, dy := size.X-vg.Length(w*scale), size.Y-vg.Length(h*scale)
	r.Min.X, r.Max.X = r.Min.X+dx/2, r.Max.X-dx/2
	r.Min.Y, r.Max.Y = r.Min.Y+dy/2, r.Max.Y-dy/2
	return r
}

var frameLine = draw.LineStyle{Color: ink, Width: thin}

func (p *panel) drawX(c draw.Canvas) {
	if p.x.none {
		return
	}
	y := c.Min.Y
	c.StrokeLine2(frameLine, c.Min.X, y, c.Max.X, y)
	for _, t := range p.x.ticks {
		x := c.X(p.x.at(t.at))
		c.StrokeLine2(frameLine, x, y, x, y-t.length())
		if t.label != "" && !p.x.bare {
			tickText.draw(c.Canvas, vg.Point{X: x, Y: y - tickLength - 2}, middle, top, t.label)
		}
	}
	if !p.x.bare && p.x.label != "" {
		at := vg.Point{X: c.Center().X, Y: y - tickLength - 1.35*tickSize - 3}
		labelText.draw(c.Canvas, at, middle, top, p.x.title())
	}
}

func (p *panel) drawY(c draw.Canvas) {
	if p.y.none {
		return
	}
	x := c.Min.X
	c.StrokeLine2(frameLine, x, c.Min.Y, x, c.Max.Y)
	for _, t := range p.y.ticks {
		y := c.Y(p.y.at(t.at))
		c.StrokeLine2(frameLine, x, y, x-t.length(), y)
		if t.label != "" && !p.y.bare {
			tickText.draw(c.Canvas, vg.Point{X: x - tickLength - 2, Y: y}, right, middle, t.label)
		}
	}
	if !p.y.bare && p.y.label != "" {
		at := vg.Point{X: x - p.left + 0.85*labelSize, Y: c.Center().Y}
		for _, s := range p.spine {
			labelText.upright(c.Canvas, at, middle, bottom, s)
			at.X += labelText.height()
		}
	}
}

func (t tick) length() vg.Length {
	if t.label == "" {
		return 0.6 * tickLength
	}
	return tickLength
}

// drawBox writes legend and text into the corner with the least data.
func (p *panel) drawBox(f *frame) {
	if len(p.box)+len(p.keys) == 0 {
		return
	}
	const swatch vg.Length = 18
	var w vg.Length
	for _, k := range p.keys {
		w = max(w, swatch+tickText.width(k.text))
	}
	for _, s := range p.box {
		w = max(w, tickText.width(s))
	}
	line := tickText.height() + 1
	h := line * vg.Length(len(p.box)+len(p.keys))
	size := f.Size()
	ax, ay := p.corner(float64((w+8)/size.X), float64((h+6)/size.Y))
	at := vg.Point{X: f.Min.X + 6 + vg.Length(ax)*(size.X-w-10), Y: f.Min.Y + 5 + vg.Length(ay)*(size.Y-h-7) + h - tickText.capital()}
	f.FillPolygon(fade(paper, 0.8), []vg.Point{{X: at.X - 3, Y: at.Y + line - 1}, {X: at.X + w + 3, Y: at.Y + line - 1},
		{X: at.X + w + 3, Y: at.Y + line - h - 4}, {X: at.X - 3, Y: at.Y + line - h - 4}})
	for _, k := range p.keys {
		k.symbol.draw(&f.Canvas, vg.Point{X: at.X, Y: at.Y + tickText.capital()/2}, swatch-5, k.color)
		tickText.draw(f.Canvas.Canvas, vg.Point{X: at.X + swatch, Y: at.Y}, left, bottom, k.text)
		at.Y -= line
	}
	for _, s := range p.box {
		tickText.draw(f.Canvas.Canvas, at, left, bottom, s)
		at.Y -= line
	}
}

// corner returns the corner in which a box, with its size given as fractions of the frame, covers
// the fewest points.
func (p *panel) corner(w, h float64) (ax, ay float64) {
	best := math.MaxInt
	for _, c := range [][2]float64{{1, 1}, {0, 1}, {1, 0}, {0, 0}} {
		n := 0
		for _, b := range p.busy {
			x, y := p.x.at(b[0]), p.y.at(b[1])
			if c[0] == 1 {
				x = 1 - x
			}
			if c[1] == 1 {
				y = 1 - y
			}
			if x < w && y < h {
				n++
			}
		}
		if n < best {
			best, ax, ay = n, c[0], c[1]
		}
	}
	return ax, ay
}

// occupy records where data lie, some thousands of many.
func (p *panel) occupy(x, y []float64) {
	n := min(len(x), len(y))
	for i := 0; i < n; i += max(1, n/dense) {
		if p.x.can(x[i]) && p.y.can(y[i]) {
			p.busy = append(p.busy, [2]float64{x[i], y[i]})
		}
	}
}
