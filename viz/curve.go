// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Curve is the data of one bin or spectrum with the fitted model. X, Y and Err have equal lengths,
// as do LineX, Line, Low and High. Err, Low, High and the inner band may be nil, and so may LineX if
// Line is given at X.
type Curve struct {
	Title, XLabel, YLabel string // labels are written as "name (unit)"
	X, Y, Err             []float64

	LineX, Line         []float64 // positions and values of the model's line
	Low, High           []float64 // band of the model; for Predictive, the 95 % band
	InnerLow, InnerHigh []float64 // 50 % band, for Predictive
	BandName            string    // name of the band in the legend. Default "band"
	InnerName           string    // name of the inner band in the legend. Default "50 %"
	Others              []Line    // further curves to compare with

	LogX, LogY bool
	Note       string // lines of text in the picture, such as goodness of fit
}

// Line is a named curve, with a band from Low to High about it unless those are nil.
type Line struct {
	Name      string
	X, Y      []float64
	Low, High []float64
	Err       []float64 // standard deviations of Y; nil for none
	Thin      bool      // draws it thin and grey, as noisy data that other curves lie over
}

// prepared returns the curve with LineX filled in, or an error.
func (c Curve) prepared(plot string) (Curve, error) {
	c, err := c.checked(plot)
	if err == nil && c.empty() {
		err = fmt.Errorf("viz: %s: there is no Line, and none of the %d points is finite%s: give a Line or finite points", c.called(plot), len(c.X), andPositive(c.LogX || c.LogY))
	}
	return c, err
}

// checked is prepared for curves that may have nothing to draw.
func (c Curve) checked(plot string) (Curve, error) {
	if c.LineX == nil && c.Line != nil {
		c.LineX = c.X
	}
	for _, l := range []struct {
		name  string
		n, of int
	}{{"Y", len(c.Y), len(c.X)}, {"Err", len(c.Err), len(c.X)}, {"Line", len(c.Line), len(c.LineX)},
		{"Low", len(c.Low), len(c.LineX)}, {"High", len(c.High), len(c.LineX)},
		{"InnerLow", len(c.InnerLow), len(c.LineX)}, {"InnerHigh", len(c.InnerHigh), len(c.LineX)}} {
		if l.n != l.of && (l.n != 0 || l.name == "Y") {
			return c, fmt.Errorf("viz: %s: %s has %s, but its X has %d: give equal numbers", c.called(plot), l.name, count(l.n, "value", "values"), l.of)
		}
	}
	return c, nil
}

func (c Curve) called(plot string) string {
	if c.Title == "" {
		return plot
	}
	return fmt.Sprintf("%s of %q", plot, c.Title)
}

// empty reports whether neither a point nor a line can be drawn.
func (c Curve) empty() bool {
	x, y := c.axes()
	for i := range c.Line {
		if x.can(c.LineX[i]) && y.can(c.Line[i]) {
			return false
		}
	}
	return c.drawable() == 0
}

func (c Curve) axes() (x, y axis) {
	return axis{label: c.XLabel, log: c.LogX, pad: 0.03}, axis{label: c.YLabel, log: c.LogY, pad: 0.06}
}

// drawable counts the points that can be placed on the axes.
func (c Curve) drawable() (n int) {
	x, y := c.axes()
	for i := range c.X {
		if x.can(c.X[i]) && y.can(c.Y[i]) {
			n++
		}
	}
	return n
}

// missing says how many points were left out.
func (c Curve) missing() string {
	if n := len(c.X) - c.drawable(); n > 0 {
		return leftOut(n, "point", "points", "not finite"+orNotPositive(c.LogX || c.LogY))
	}
	return ""
}

func andPositive(log bool) string {
	if log {
		return " and positive, as a logarithm needs"
	}
	return ""
}

func orNotPositive(log bool) string {
	if log {
		return ", or not positive as a logarithm needs"
	}
	return ""
}

// panel draws band, data and lines; r is the radius of the points.
func (c Curve) panel(r float64) *panel {
	p := &panel{title: c.Title, box: note(c.Note)}
	p.x, p.y = c.axes()
	c.include(p)
	c.bands(p)
	if len(c.X) > 0 {
		symbol := dot
		if c.Err != nil {
			p.add(whiskers(c.X, c.Y, c.Err, fade(ink, 0.55)))
			symbol = dotWhisker
		}
		p.add(dots(c.X, c.Y, ink, vg.Length(r)))
		p.keys = append([]key{{"data", ink, symbol}}, p.keys...)
		p.occupy(c.X, c.Y)
	}
	if c.Line != nil {
		p.add(line(c.LineX, c.Line, model, strong))
		p.keys = append(p.keys, key{"model", model, stroke})
		p.occupy(c.LineX, c.Line)
	}
	for i, o := range c.Others {
		col := chainColor([]int{0, 2, 3, 5}[i%4])
		p.add(line(o.X, o.Y, col, 1.2, 5, 2))
		p.keys = append(p.keys, key{o.Name, col, dashed})
		p.occupy(o.X, o.Y)
	}
	return p
}

func (c Curve) bands(p *panel) {
	name := c.BandName
	if name == "" {
		name = "band"
	}
	if c.Low != nil && c.High != nil {
		p.add(band(c.LineX, c.Low, c.High, fade(model, 0.18)))
		p.keys = append(p.keys, key{name, fade(model, 0.3), patch})
	}
	if c.InnerLow != nil && c.InnerHigh != nil {
		p.add(band(c.LineX, c.InnerLow, c.InnerHigh, fade(model, 0.3)))
		p.keys = append(p.keys, key{cmp.Or(c.InnerName, "50 %"), fade(model, 0.5), patch})
	}
}

// include widens the axes to data and lines. Error bars count only up to half the span of the data,
// so that one bad point does not hide the others.
func (c Curve) include(p *panel) {
	var y axis
	y.log = c.LogY
	for i := range c.X {
		if p.x.can(c.X[i]) && p.y.can(c.Y[i]) {
			p.x.include(c.X[i])
			y.include(c.Y[i])
		}
	}
	for i, v := range c.Line {
		if p.x.can(c.LineX[i]) && p.y.can(v) {
			p.x.include(c.LineX[i])
			y.include(v)
		}
	}
	p.y.include(y.lo, y.hi)
	reach := y.hi/2 - y.lo/2
	for i := range c.Err {
		if e := c.Err[i]; linalg.Finite(e) && e > 0 && linalg.Finite(c.Y[i]) && !c.LogY {
			e = min(e, reach)
			p.y.include(c.Y[i]-e, c.Y[i]+e)
		}
	}
	if !c.LogY {
		p.y.include(c.Low...)
		p.y.include(c.High...)
	}
}

// modelAt returns the model at the data, by linear interpolation; NaN outside.
func (c Curve) modelAt() []float64 {
	order := make([]int, 0, len(c.LineX))
	for i := range c.LineX {
		if linalg.Finite(c.LineX[i]) && linalg.Finite(c.Line[i]) && (!c.LogX || c.LineX[i] > 0) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		if c.LineX[a] < c.LineX[b] {
			return -1
		}
		return 1
	})
	out := make([]float64, len(c.X))
	for i, x := range c.X {
		out[i] = c.between(order, x)
	}
	return out
}

func (c Curve) between(order []int, x float64) float64 {
	if len(order) == 0 || !linalg.Finite(x) {
		return math.NaN()
	}
	k, _ := slices.BinarySearchFunc(order, x, func(i int, x float64) int {
		if c.LineX[i] < x {
			return -1
		}
		return 1
	})
	if k < len(order) && c.LineX[order[k]] == x {
		return c.Line[order[k]]
	}
	if k == 0 || k == len(order) {
		return math.NaN()
	}
	x0, x1 := c.LineX[order[k-1]], c.LineX[order[k]]
	t := (x - x0) / (x1 - x0)
	if c.LogX {
		t = math.Log(x/x0) / math.Log(x1/x0)
	}
	return c.Line[order[k-1]]*(1-t) + c.Line[order[k]]*t
}

// note splits a note into lines.
func note(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimRight(s, "\n"), "\n")
}
