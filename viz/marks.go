// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// line joins points; it breaks at a point that cannot be placed, and is cut at the frame.
func line(x, y []float64, c color.NRGBA, width vg.Length, dash ...vg.Length) mark {
	return mark{data: &Data{Kind: "line", X: x, Y: y, color: c, width: width, dash: dash}, draw: func(f *frame) {
		style := draw.LineStyle{Color: c, Width: width, Dashes: dash}
		var part []vg.Point
		flush := func() {
			if len(part) > 1 {
				part = columned(part, len(x))
				f.StrokeLines(style, f.pieces(f.ClipLinesXY(part))...)
			}
			part = nil
		}
		for i := range min(len(x), len(y)) {
			if !f.can(x[i], y[i]) {
				flush()
				continue
			}
			part = append(part, f.at(x[i], y[i]))
		}
		flush()
	}}
}

// pieces splits long lines that become pixels, because the time of the rasteriser grows with the
// square of a line's length.
func (f *frame) pieces(lines [][]vg.Point) (out [][]vg.Point) {
	const most = 60
	if _, ok := f.Canvas.Canvas.(*vgimg.Canvas); !ok {
		return lines
	}
	for _, l := range lines {
		for len(l) > most {
			out = append(out, l[:most])
			l = l[most-1:]
		}
		out = append(out, l)
	}
	return out
}

// band fills the area between two curves.
func band(x, low, high []float64, c color.NRGBA) mark {
	return mark{data: &Data{Kind: "band", X: x, Low: low, High: high, color: c}, draw: func(f *frame) {
		var up, down []vg.Point
		flush := func() {
			for i := len(down) - 1; i >= 0; i-- {
				up = append(up, down[i])
			}
			if len(up) > 3 {
				f.FillPolygon(c, f.ClipPolygonXY(up))
			}
			up, down = nil, nil
		}
		for i := range min(len(x), len(low), len(high)) {
			lo, hi := low[i], high[i]
			if f.y.log && lo <= 0 && hi > 0 {
				lo = f.y.lo
			}
			if !f.can(x[i], lo) || !f.can(x[i], hi) {
				flush()
				continue
			}
			up, down = append(up, f.at(x[i], hi)), append(down, f.at(x[i], lo))
		}
		flush()
	}}
}

// dots draws filled circles of a radius.
func dots(x, y []float64, c color.NRGBA, r vg.Length) mark {
	return mark{data: &Data{Kind: "points", X: x, Y: y, color: c, width: r}, draw: func(f *frame) {
		style := draw.GlyphStyle{Color: c, Radius: r, Shape: draw.CircleGlyph{}}
		seen := nothingTaken()
		for i := range min(len(x), len(y)) {
			if f.can(x[i], y[i]) {
				if p := f.at(x[i], y[i]); f.Contains(p) && (len(x) <= dense || seen.first(p)) {
					f.DrawGlyph(style, p)
				}
			}
		}
	}}
}

// dense is the number of points above which a mark leaves out what no reader could see, and cell the distance of two points that nobody
// can tell apart, at 300 dots an inch.
const (
	dense           = 20_000
	cell  vg.Length = 0.24
)

// columned keeps of the points of a dense line that follow each other within a column of a cell the first, the lowest, the highest and the
// last, in their order, so that the line looks the same.
func columned(part []vg.Point, n int) []vg.Point {
	if n <= dense {
		return part
	}
	out := part[:0:0]
	for i := 0; i < len(part); {
		column := math.Floor(float64(part[i].X / cell))
		low, high, j := i, i, i+1
		for ; j < len(part) && math.Floor(float64(part[j].X/cell)) == column; j++ {
			if part[j].Y < part[low].Y {
				low = j
			}
			if part[j].Y > part[high].Y {
				high = j
			}
		}
		last := -1
		for _, k := range []int{i, min(low, high), max(low, high), j - 1} {
			if k > last {
				out, last = append(out, part[k]), k
			}
		}
		i = j
	}
	return out
}

// taken holds the cells that points were drawn in.
type taken struct {
	cells map[[2]int32]bool
	last  [2]int32 // that of the point before, in which the next one often lies
}

func nothingTaken() *taken { return &taken{cells: map[[2]int32]bool{}, last: [2]int32{-1, -1}} }

// first reports whether a point is the first of its cell, and remembers it.
func (t *taken) first(p vg.Point) bool {
	at := [2]int32{int32(p.X / cell), int32(p.Y / cell)}
	if at == t.last || t.cells[at] {
		t.last = at
		return false
	}
	t.cells[at], t.last = true, at
	return true
}

// whiskers draws vertical bars of y ± e; ends outside the frame are cut off.
func whiskers(x, y, e []float64, c color.NRGBA) mark {
	return mark{data: &Data{Kind: "errors", X: x, Y: y, Err: e, color: c}, draw: func(f *frame) {
		style := draw.LineStyle{Color: c, Width: thin}
		seen := nothingTaken()
		for i := range min(len(x), len(y), len(e)) {
			if !f.can(x[i], y[i]) || !(e[i] > 0) || math.IsInf(e[i], 0) {
				continue
			}
			a, b := f.at(x[i], y[i]), f.at(x[i], y[i])
			if len(x) > dense && !seen.first(a) {
				continue
			}
			a.Y = f.Min.Y
			if low := y[i] - e[i]; f.y.can(low) {
				a = f.at(x[i], low)
			}
			if high := y[i] + e[i]; f.y.can(high) {
				b = f.at(x[i], high)
			}
			f.StrokeLines(style, f.ClipLinesXY([]vg.Point{a, b})...)
		}
	}}
}

// crosses marks points with crosses on a light background, so that they show on any colour.
func crosses(x, y []float64, size vg.Length) mark {
	return mark{draw: func(f *frame) {
		for i := range min(len(x), len(y)) {
			if !f.can(x[i], y[i]) {
				continue
			}
			if p := f.at(x[i], y[i]); f.Contains(p) {
				cross(&f.Canvas, p, size, draw.LineStyle{Color: fade(paper, 0.9), Width: 2.1})
				cross(&f.Canvas, p, size, draw.LineStyle{Color: rgb(0, 0, 0), Width: 0.8})
			}
		}
	}}
}

func cross(c *draw.Canvas, p vg.Point, r vg.Length, s draw.LineStyle) {
	c.StrokeLine2(s, p.X-r, p.Y-r, p.X+r, p.Y+r)
	c.StrokeLine2(s, p.X-r, p.Y+r, p.X+r, p.Y-r)
}

// rug draws short ticks on the lower edge. Of ticks that would cover each other, closer together than
// a tenth of their width, it draws one.
func rug(x []float64, c color.NRGBA) mark {
	return mark{draw: func(f *frame) {
		const width = 0.7
		drawn := map[int]bool{}
		for _, v := range x {
			if !f.x.can(v) {
				continue
			}
			at := f.X(f.x.at(v))
			if cell := int(math.Floor(float64(at / (width / 10)))); !drawn[cell] {
				drawn[cell] = true
				f.StrokeLine2(draw.LineStyle{Color: c, Width: width}, at, f.Min.Y, at, f.Min.Y+5)
			}
		}
	}}
}

// horizontalLine draws a horizontal line through the frame.
func horizontalLine(y float64, c color.NRGBA, width vg.Length, dash ...vg.Length) mark {
	return mark{guide: &Data{Kind: "horizontal", Y: []float64{y}, color: c, width: width, dash: dash}, draw: func(f *frame) {
		if v := f.y.at(y); f.y.can(y) && v >= 0 && v <= 1 {
			f.StrokeLine2(draw.LineStyle{Color: c, Width: width, Dashes: dash}, f.Min.X, f.Y(v), f.Max.X, f.Y(v))
		}
	}}
}

// verticalLine draws a vertical line through the frame.
func verticalLine(x float64, c color.NRGBA, width vg.Length, dash ...vg.Length) mark {
	return mark{guide: &Data{Kind: "vertical", X: []float64{x}, color: c, width: width, dash: dash}, draw: func(f *frame) {
		if v := f.x.at(x); f.x.can(x) && v >= 0 && v <= 1 {
			f.StrokeLine2(draw.LineStyle{Color: c, Width: width, Dashes: dash}, f.X(v), f.Min.Y, f.X(v), f.Max.Y)
		}
	}}
}

// rectangle fills a rectangle given in data coordinates.
func rectangle(x0, x1, y0, y1 float64, c color.NRGBA) mark {
	return asGuide(band([]float64{x0, x1}, []float64{y0, y0}, []float64{y1, y1}, c))
}

// words writes text into the middle of the frame.
func words(s string) mark {
	return mark{guide: &Data{Kind: "words", Name: s}, draw: func(f *frame) { noteText.draw(f.Canvas.Canvas, f.Center(), middle, middle, s) }}
}

// picture fills the frame with pixels; the first row is at the top.
func picture(img image.Image) mark {
	return mark{draw: func(f *frame) { f.DrawImage(f.Rectangle, img) }}
}

// symbol is what stands for a curve in a legend.
type symbol string

const (
	stroke     symbol = "line"
	dashed     symbol = "dashes"
	patch      symbol = "patch"
	dot        symbol = "dot"
	dotWhisker symbol = "dot with error"
	crossed    symbol = "cross"
	ticked     symbol = "tick"
)

// draw draws the symbol from p to the right over a width.
func (s symbol) draw(c *draw.Canvas, p vg.Point, w vg.Length, col color.NRGBA) {
	middle := vg.Point{X: p.X + w/2, Y: p.Y}
	switch s {
	case stroke:
		c.StrokeLine2(draw.LineStyle{Color: col, Width: 1.6}, p.X, p.Y, p.X+w, p.Y)
	case dashed:
		c.StrokeLine2(draw.LineStyle{Color: col, Width: 1.2, Dashes: []vg.Length{3, 2}}, p.X, p.Y, p.X+w, p.Y)
	case patch:
		c.FillPolygon(col, []vg.Point{{X: p.X, Y: p.Y - 3}, {X: p.X + w, Y: p.Y - 3}, {X: p.X + w, Y: p.Y + 3}, {X: p.X, Y: p.Y + 3}})
	case dotWhisker:
		c.StrokeLine2(draw.LineStyle{Color: col, Width: thin}, middle.X, p.Y-4.5, middle.X, p.Y+4.5)
		dot.draw(c, p, w, col)
	case dot:
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: col, Radius: 2, Shape: draw.CircleGlyph{}}, middle)
	case crossed:
		cross(c, middle, 2.4, draw.LineStyle{Color: rgb(0, 0, 0), Width: 0.9})
	case ticked:
		c.StrokeLine2(draw.LineStyle{Color: col, Width: 0.9}, middle.X, p.Y-3, middle.X, p.Y+3)
	}
}
