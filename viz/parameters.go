// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"
	"strings"
)

// Against is the variable that Parameters draws against, such as q.
type Against struct {
	X     []float64
	Label string // label of the axis, such as "q (1/Å)"
	Log   bool
}

// Series is one parameter at every X.
type Series struct {
	Name, Unit string
	Y, Err     []float64 // fitted values, and their errors Err; Err may be nil, and errors that are not positive draw no bar
	Log        bool

	LineX, Line, Low, High []float64 // distribution fitted to the parameter and its band; may be nil
	Note                   string    // lines of text in the picture
	Bounds                 []float64 // limits of the fit, drawn as lines if they are near the data
}

// Parameters draws fitted parameters against a variable, one panel each.
func Parameters(x Against, series ...Series) (*Figure, error) {
	if len(series) == 0 || len(x.X) == 0 {
		return nil, fmt.Errorf("viz: parameters: there are %d series at %d positions: want at least one of each", len(series), len(x.X))
	}
	var panels []*panel
	var s selection
	left, positive := 0, x.Log
	for _, one := range series {
		c := Curve{Title: one.Name, XLabel: x.Label, YLabel: label(one.Name, one.Unit), X: x.X, Y: one.Y, Err: one.Err,
			LineX: one.LineX, Line: one.Line, Low: one.Low, High: one.High, LogX: x.Log, LogY: one.Log, Note: one.Note}
		c, err := c.prepared("parameters")
		if err != nil {
			return nil, err
		}
		left += len(c.X) - c.drawable()
		positive = positive || one.Log
		p := c.panel(2.3)
		p.title, p.keys = "", nil
		p.bounds(one.Bounds)
		panels = append(panels, p)
	}
	if left > 0 {
		s.remark("%s", leftOut(left, "value", "values", "not finite"+orNotPositive(positive)))
	}
	cols := min(2, len(panels))
	f := tiles("Parameters", s, "", panels, cols)
	if name, _, _ := strings.Cut(x.Label, " ("); name != "" {
		f.Title += " against " + name
	}
	f.Height = float64(len(f.grid.rows))*2.15 + 0.6
	if cols == 1 {
		f.Width, f.Height = columnWidth, 3.2
	}
	return f, nil
}

// bounds draws the limits that lie within a span of the data.
func (p *panel) bounds(at []float64) {
	span := p.y.hi/2 - p.y.lo/2
	for _, b := range at {
		near := math.Abs(b/2-p.y.lo/2) < 1.2*span || math.Abs(b/2-p.y.hi/2) < 1.2*span
		if p.y.log && b > 0 {
			near = b > p.y.lo/5 && b < p.y.hi*5
		}
		if near && p.y.can(b) {
			p.y.include(b)
			p.add(horizontalLine(b, soft, 0.8, 4, 3))
		}
	}
}
