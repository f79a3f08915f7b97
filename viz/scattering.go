// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// Lines is a plot of named curves.
type Lines struct {
	Title, XLabel, YLabel string // labels are written as "name (unit)"
	LogX, LogY            bool
	Curves                []Line
	// Low and High are the range of y. Default, if they are equal: the range of the curves.
	Low, High float64
	Height    float64 // height relative to the other plots of [Plots]. Default 1
}

// color returns the colour of a curve: one of the palette, or of an even scale where that is too short.
func (l Lines) color(i int) color.NRGBA {
	if len(l.Curves) > len(okabeIto) {
		return ramp(i, len(l.Curves))
	}
	return chainColor(i)
}

// marked is panel with points on curves that have few.
func (l Lines) marked() (*panel, error) {
	p, err := l.panel()
	for i, c := range l.Curves {
		if err == nil && len(c.X) <= fewPoints {
			p.add(dots(c.X, c.Y, l.color(i), 1.8))
		}
	}
	return p, err
}

// panel draws the curves; curves without a finite point are left out.
func (l Lines) panel() (*panel, error) {
	p := &panel{title: l.Title, x: axis{label: l.XLabel, log: l.LogX, pad: 0.03}, y: axis{label: l.YLabel, log: l.LogY, pad: 0.06}}
	for i, c := range l.Curves {
		if len(c.X) != len(c.Y) {
			return nil, fmt.Errorf("viz: lines %q: %s has %s, but its X has %d: give equal numbers", l.Title, c.Name, count(len(c.Y), "value", "values"), len(c.X))
		}
		col, width := l.color(i), vg.Length(1.3)
		if c.Thin {
			col, width = fade(ink, 0.6), 0.6
		}
		for k := range c.X {
			if p.x.can(c.X[k]) && p.y.can(c.Y[k]) {
				p.x.include(c.X[k])
				p.y.include(c.Y[k])
			}
		}
		if c.Low != nil || c.High != nil {
			if len(c.Low) != len(c.X) || len(c.High) != len(c.X) {
				return nil, fmt.Errorf("viz: lines %q: the band of %s has %d and %s, but its X has %d: give equal numbers", l.Title, c.Name, len(c.Low), count(len(c.High), "value", "values"), len(c.X))
			}
			for k := range c.X {
				if p.x.can(c.X[k]) && p.y.can(c.Low[k]) && p.y.can(c.High[k]) {
					p.y.include(c.Low[k], c.High[k])
				}
			}
			p.add(band(c.X, c.Low, c.High, fade(col, 0.3)))
		}
		if c.Err != nil {
			p.add(whiskers(c.X, c.Y, c.Err, fade(col, 0.5)))
		}
		p.add(line(c.X, c.Y, col, width))
		p.occupy(c.X, c.Y)
		if len(l.Curves) > 1 {
			p.keys = append(p.keys, key{c.Name, col, stroke})
		}
	}
	if l.Low != l.High {
		p.y.limits(l.Low, l.High)
	}
	if !p.x.set {
		return nil, fmt.Errorf("viz: lines %q: no curve has a finite point%s: check the data", l.Title, andPositive(l.LogX || l.LogY))
	}
	return p, nil
}

// PatternRow is a scattering pattern and plots of it.
type PatternRow struct {
	Pattern Image // image of the pattern, as returned by Pattern
	Plots   []Lines
}

// Scattering draws patterns one below the other, with their plots, such as I(q) and A(q), to the
// right of each. All rows have the same number of plots; one without a finite point leaves a gap.
func Scattering(title string, rows []PatternRow) (*Figure, error) {
	if len(rows) == 0 {
		return nil, fmt.Errorf("viz: scattering %q: there are no patterns to draw: pass at least one", title)
	}
	n := len(rows[0].Plots)
	g := &grid{gapX: gutter, gapY: gutter}
	left, ratio := 0, 0.0
	for j, r := range rows {
		if len(r.Plots) != n {
			return nil, fmt.Errorf("viz: scattering %q: there are %d plots in row %d, but %d in the first: give equal numbers", title, len(r.Plots), j, n)
		}
		m := r.Pattern
		if err := m.complete(); err != nil {
			return nil, err
		}
		p, k, err := m.panel()
		if err != nil {
			return nil, err
		}
		p.title = m.Title
		left += k
		ratio = math.Max(ratio, (p.y.hi-p.y.lo)/(p.x.hi-p.x.lo))
		line := []*panel{p}
		for _, l := range r.Plots {
			q, err := l.panel()
			if err != nil {
				q = nil
			}
			line = append(line, q)
		}
		g.rows = append(g.rows, line)
	}
	const cell = 3.3 // size of a cell in inches
	ratio = math.Min(math.Max(ratio, 0.5), 2)
	f := &Figure{Title: title, grid: g, Width: cell*float64(n+1) + 0.4, Height: float64(len(rows))*((cell-1.2)*ratio+0.8) + 0.5}
	if left > 0 {
		f.Note = grey(left, "not finite or not positive")
	}
	return f, nil
}
