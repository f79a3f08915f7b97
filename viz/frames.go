// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Data is what a mark of a panel stands for.
type Data struct {
	Kind      string // kind of mark: points, errors, line, band or image
	Name      string // name in the legend; "" if it has none
	X, Y, Err []float64
	Low, High []float64                 // limits of a band
	Z         [][]float64               // values of an image by [y][x], with X and Y at the centres of its pixels
	ZLabel    string                    // label of Z as "name (unit)"
	Told      func(x, y float64) string // more about a point of an image than its value; nil for nothing

	color color.NRGBA
	width vg.Length // of a line, or the radius of points
	dash  []vg.Length
}

// Window is a part of the plane.
type Window struct{ XLow, XHigh, YLow, YHigh float64 }

// Frame says where a panel of a picture is and what it shows, for programs in which people point at pictures. The panel may be zoomed
// by Figure.Zoom.
type Frame struct {
	Title, XLabel, YLabel string // labels are written as "name (unit)"
	XOf, YOf              string // names of the quantities of draws that the axes show; empty for other axes
	LogX, LogY            bool
	Down                  bool // y is the negative of a number that grows downwards
	Window                     // what the panel shows
	// Left, Top, Right and Bottom are where the frame is, as shares of the width and the height of the picture, from its upper left
	// corner.
	Left, Top, Right, Bottom float64
	Data                     []Data
}

// Frames returns the panels of a picture, row by row, or none for pictures made by FromPlots.
func (f *Figure) Frames() (all []Frame) {
	if f.grid == nil {
		return nil
	}
	w, h := f.size()
	f.drawEach(draw.NewCanvas(new(recorder.Canvas), w, h), func(p *panel, r draw.Canvas) {
		all = append(all, Frame{Title: unmarked(p.title), XLabel: f.grid.labelOf(p.x.label, f.grid.xLabel), YLabel: f.grid.labelOf(p.y.label, f.grid.yLabel),
			XOf: p.x.of, YOf: p.y.of, LogX: p.x.log, LogY: p.y.log, Down: p.y.down, Window: Window{p.x.lo, p.x.hi, p.y.lo, p.y.hi},
			Left: float64(r.Min.X / w), Right: float64(r.Max.X / w), Top: 1 - float64(r.Max.Y/h), Bottom: 1 - float64(r.Min.Y/h), Data: p.named(f.keys)})
	})
	return all
}

// labelOf returns the label of a panel, or that which all panels share, as plain text.
func (g *grid) labelOf(own, common string) string { return unmarked(cmp.Or(own, common)) }

var marks = regexp.MustCompile(`[_^]\{[^}]*\}`)

// unmarked writes a text without marks of superscripts and subscripts: q_{x} becomes qx, and s^{-1} becomes s^-1.
func unmarked(s string) string {
	return marks.ReplaceAllStringFunc(s, func(m string) string { return strings.TrimPrefix(m[:1], "_") + m[2:len(m)-1] })
}

// named returns the data of a panel, with their names in its legend or that of the picture.
func (p *panel) named(common []key) (all []Data) {
	for _, m := range p.marks {
		if m.data == nil {
			continue
		}
		d := *m.data
		for _, k := range slices.Concat(common, p.keys) {
			if opaque(k.color) == opaque(d.color) && d.Kind != "image" {
				d.Name = unmarked(k.text)
			}
		}
		all = append(all, d)
	}
	return all
}

func opaque(c color.NRGBA) color.NRGBA { c.A = 255; return c }

// Zoom makes a panel, counted from 0 in the order of Frames, show a window. It is an error if a panel does not exist or has no axes, if a
// limit is not finite, is beyond what a logarithmic axis can show, or is not below the other.
func (f *Figure) Zoom(panel int, w Window) error {
	p, err := f.panel("zoom", panel)
	if err != nil {
		return err
	}
	return p.zoom(w)
}

func (p *panel) zoom(w Window) error {
	for _, a := range []struct {
		axis   *axis
		name   string
		lo, hi float64
	}{{&p.x, "x", w.XLow, w.XHigh}, {&p.y, "y", w.YLow, w.YHigh}} {
		if !a.axis.can(a.lo) || !a.axis.can(a.hi) || !(a.hi-a.lo > 1e-12*max(math.Abs(a.lo), math.Abs(a.hi))) || !linalg.Finite(a.hi-a.lo) {
			return fmt.Errorf("viz: zoom: %s from %g to %g cannot be shown: give two numbers%s, the smaller one first", a.name, a.lo, a.hi, map[bool]string{true: " above 0"}[a.axis.log])
		}
	}
	p.x.limits(w.XLow, w.XHigh)
	p.y.limits(w.YLow, w.YHigh)
	p.x.fixed, p.y.fixed = within(p.x.fixed, w.XLow, w.XHigh), within(p.y.fixed, w.YLow, w.YHigh)
	p.side = nil
	return nil
}

// within returns the ticks of a range; nil if there are no fixed ones.
func within(ticks []tick, lo, hi float64) (some []tick) {
	for _, t := range ticks {
		if lo <= t.at && t.at <= hi {
			some = append(some, t)
		}
	}
	return some
}

// Scale makes the axes of a panel logarithmic or linear; nil leaves one as it is. Values that a logarithmic axis cannot show are left out.
func (f *Figure) Scale(panel int, logX, logY *bool) error {
	p, err := f.panel("scale", panel)
	if err != nil {
		return err
	}
	data := p.named(nil)
	p.x.rescale(logX, data, func(d Data) [][]float64 { return [][]float64{d.X} })
	p.y.rescale(logY, data, func(d Data) [][]float64 { return [][]float64{d.Y, d.Low, d.High} })
	if p.x.can(p.x.lo) && p.y.can(p.y.lo) {
		return nil
	}
	return fmt.Errorf("viz: scale: the panel has no number that a logarithmic axis can show: all are 0 or below")
}

// rescale changes an axis to a logarithmic or a linear one that shows all data that it can.
func (a *axis) rescale(log *bool, data []Data, values func(d Data) [][]float64) {
	if log == nil || a.log == *log {
		return
	}
	a.log, a.set, a.pad, a.fixed = *log, false, 0.04, nil
	for _, d := range data {
		for _, v := range values(d) {
			a.include(v...)
		}
	}
}

// panel returns a panel, counted from 0 in the order of Frames.
func (f *Figure) panel(what string, n int) (*panel, error) {
	i := n
	if f.grid != nil {
		for _, row := range f.grid.rows {
			for _, p := range row {
				if p == nil {
					continue
				}
				if i == 0 {
					return p, nil
				}
				i--
			}
		}
	}
	return nil, fmt.Errorf("viz: %s: the picture has no panel %d: they are counted from 0", what, n)
}

// Clone returns a copy of the picture that can be zoomed and scaled without changing it. The data are shared.
func (f *Figure) Clone() *Figure {
	c := *f
	if f.grid == nil {
		return &c
	}
	g := f.grid
	c.grid = &grid{rows: make([][]*panel, len(g.rows)), wide: g.wide, high: g.high, gapX: g.gapX, gapY: g.gapY, flows: g.flows, xLabel: g.xLabel, yLabel: g.yLabel}
	for j, row := range g.rows {
		for _, p := range row {
			if p != nil {
				own := *p
				p = &own
			}
			c.grid.rows[j] = append(c.grid.rows[j], p)
		}
	}
	return &c
}
