// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Fit draws data with error bars, the model with its band, and below them the residuals: in standard
// deviations if the errors are known.
func Fit(c Curve) (*Figure, error) {
	c, err := c.prepared("fit")
	if err != nil {
		return nil, err
	}
	main := c.panel(2)
	f := &Figure{Title: c.Title, Note: c.missing(), Width: columnWidth, Height: 3.2}
	main.title = ""
	f.grid = &grid{rows: [][]*panel{{main}}, gapY: 5}
	rest := c.residuals()
	if rest == nil {
		return f, nil
	}
	main.x.bare = true
	rest.x.include(main.x.lo, main.x.hi)
	f.grid.rows = append(f.grid.rows, []*panel{rest})
	f.grid.high = []float64{1, 0.32}
	f.Height = 3.9
	return f, nil
}

// residuals returns the lower panel, or nil without a model or data, or where the model is 0 so that the data are residuals.
func (c Curve) residuals() *panel {
	if !slices.ContainsFunc(c.Line, func(v float64) bool { return v != 0 }) || c.drawable() == 0 {
		return nil
	}
	x, y := c.axes()
	p := &panel{x: x, y: axis{label: "data − model", pad: 0.08}}
	r, weighted, some := c.modelAt(), false, false
	for i := range r {
		if !y.can(c.Y[i]) {
			r[i] = math.NaN()
			continue
		}
		r[i] = c.Y[i] - r[i]
		some = some || linalg.Finite(r[i])
		weighted = weighted || c.errorAt(i) > 0
	}
	if !some {
		return nil
	}
	widest := 0.0
	for i := range r {
		if weighted {
			r[i] /= c.errorAt(i)
		}
		if linalg.Finite(r[i]) {
			widest = max(widest, math.Abs(r[i]))
		}
	}
	if weighted {
		p.y.label = "residual (sd)"
		widest = max(widest, 2.2)
		p.add(rectangle(c.spanOf(x)[0], c.spanOf(x)[1], -1, 1, faint))
	}
	p.y.include(-widest, widest)
	p.add(horizontalLine(0, model, 1), dots(c.X, r, ink, 1.7))
	return p
}

// errorAt returns the error of a point, or 0 if unknown.
func (c Curve) errorAt(i int) float64 {
	if i < len(c.Err) && c.Err[i] > 0 && linalg.Finite(c.Err[i]) {
		return c.Err[i]
	}
	return 0
}

// spanOf returns the range of everything that is drawn along x.
func (c Curve) spanOf(x axis) [2]float64 {
	p := &panel{x: x}
	_, p.y = c.axes()
	c.include(p)
	return [2]float64{p.x.lo, p.x.hi}
}
