// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Image is a matrix of numbers to draw: a scattering pattern, a map of g2, a two-time correlation.
type Image struct {
	Title                  string
	XLabel, YLabel, ZLabel string      // labels as "name (unit)"
	Z                      [][]float64 // values by [y][x], y upwards. NaN is grey

	// X and Y are the centres of the pixels, in order; they may be unevenly spaced. Nil counts them
	// from 0.
	X, Y []float64
	// RowsDown means that Y is the negative of a number that grows downwards, such as the rows of a
	// detector. Labels then leave out the sign.
	RowsDown bool
	// LogX and LogY make the axes logarithmic.
	LogX, LogY bool
	// Log makes the colours logarithmic. Values that are not positive are grey.
	Log bool
	// Equal makes one unit of x as long as one unit of y.
	Equal bool
	// Signed makes the colours run from blue through white at zero to red.
	Signed bool
	// Cyclic makes the colours cyclic, for angles. Set Low and High as well.
	Cyclic bool

	// Arrows are drawn as short lines without heads, centred at their positions.
	Arrows []Arrow
	// Lines are drawn over the colours, such as the borders of bins. Their names are not shown.
	Lines []Line
	// Told says what else is known of a point, for programs in which people point at pictures; nil for nothing.
	Told func(x, y float64) string

	// Low and High are the range of the colours. Default, if they are equal: the range of the values,
	// without 0.1 % of outliers.
	Low, High float64
}

// Heat draws an image with a colour bar. The image is pixels in every format, so that files stay
// small.
func Heat(m Image) (*Figure, error) {
	if err := m.complete(); err != nil {
		return nil, err
	}
	p, left, err := m.panel()
	if err != nil {
		return nil, err
	}
	f := &Figure{Title: m.Title, Width: columnWidth + 0.4, Height: 3.6, grid: &grid{rows: [][]*panel{{p}}}}
	if m.Equal {
		ratio := (p.y.hi - p.y.lo) / (p.x.hi - p.x.lo)
		f.Height = min(max((f.Width-1.5)*ratio+0.8, 1.8), 7)
	}
	if left > 0 {
		f.Note = grey(left, "not finite"+orNotPositive(m.Log))
	}
	return f, nil
}

// panel draws a complete image into a panel and counts the pixels without colour.
func (m *Image) panel() (*panel, int, error) {
	bar, left, err := m.colours()
	if err != nil {
		return nil, 0, err
	}
	p := &panel{x: axis{label: m.XLabel, log: m.LogX}, y: axis{label: m.YLabel, log: m.LogY, down: m.RowsDown}, equal: m.Equal, bar: bar}
	ex, ey := Borders(m.X, m.LogX), Borders(m.Y, m.LogY)
	p.x.limits(ex[0], ex[len(ex)-1])
	p.y.limits(ey[0], ey[len(ey)-1])
	p.add(m.pixels(ex, ey, bar))
	if len(m.Arrows) > 0 {
		p.add(arrows(m.Arrows))
	}
	for _, l := range m.Lines {
		p.add(asGuide(line(l.X, l.Y, fade(paper, 0.75), 0.6)))
	}
	return p, left, nil
}

// complete checks the image and fills in X and Y.
func (m *Image) complete() error {
	if len(m.Z) == 0 || len(m.Z[0]) == 0 {
		return fmt.Errorf("viz: heat map %q: Z is empty: give at least one row and column", m.Title)
	}
	w, h := len(m.Z[0]), len(m.Z)
	for j, row := range m.Z {
		if len(row) != w {
			return fmt.Errorf("viz: heat map %q: row %d of Z has %s, but the first has %d: give equal numbers", m.Title, j, count(len(row), "value", "values"), w)
		}
	}
	if m.X == nil {
		m.X = steps(w)
	}
	if m.Y == nil {
		m.Y = steps(h)
	}
	if len(m.X) != w || len(m.Y) != h {
		return fmt.Errorf("viz: heat map %q: there are %d values of X and %d of Y for %d columns and %d rows: give one for each", m.Title, len(m.X), len(m.Y), w, h)
	}
	for _, a := range []struct {
		name string
		v    []float64
		log  bool
	}{{"X", m.X, m.LogX}, {"Y", m.Y, m.LogY}} {
		bad := slices.ContainsFunc(a.v, func(v float64) bool { return !linalg.Finite(v) || a.log && v <= 0 })
		if bad || !slices.IsSorted(a.v) || a.v[0] == a.v[len(a.v)-1] && len(a.v) > 1 {
			return fmt.Errorf("viz: heat map %q: the values of %s must be finite and in order, and positive on a logarithmic axis", m.Title, a.name)
		}
	}
	return nil
}

// colours chooses the range of colours and counts the pixels without a colour.
func (m *Image) colours() (*colorbar, int, error) {
	probe := axis{log: m.Log}
	var all []float64
	left := 0
	for _, row := range m.Z {
		for _, v := range row {
			if probe.can(v) {
				all = append(all, v)
			} else {
				left++
			}
		}
	}
	if len(all) == 0 {
		return nil, 0, fmt.Errorf("viz: heat map %q: none of its %d values is finite%s: check the data", m.Title, left, andPositive(m.Log))
	}
	lo, hi := m.Low, m.High
	if lo == hi {
		slices.Sort(all)
		cut := len(all) / 1000
		lo, hi = all[cut], all[len(all)-1-cut]
	}
	b := &colorbar{axis: axis{label: m.ZLabel, log: m.Log}, colors: evenMap()}
	if m.Signed && !m.Log {
		b.colors = signedMap()
		hi = max(math.Abs(lo), math.Abs(hi))
		lo = -hi
	}
	if m.Cyclic {
		b.colors = cyclicMap()
	}
	b.axis.limits(lo, hi)
	b.axis.widen()
	return b, left, nil
}

// pixels draws the image at the resolution of the page: cells are enlarged by
// repeating and shrunk by averaging.
func (m *Image) pixels(ex, ey []float64, bar *colorbar) mark {
	return mark{data: &Data{Kind: "image", X: m.X, Y: m.Y, Z: m.Z, ZLabel: m.ZLabel, Told: m.Told}, draw: func(f *frame) {
		const dpi = 300.0
		size := f.Size()
		w, h := max(1, int(float64(size.X)/72*dpi)), max(1, int(float64(size.Y)/72*dpi))
		xs, ys := cuts(ex, f.x, w), cuts(ey, f.y, h)
		palette := make(color.Palette, 0, mapSize+1)
		for _, c := range bar.colors {
			palette = append(palette, c)
		}
		none := absent
		if f.dark {
			none = darkened(none)
		}
		palette = append(palette, none)
		img := image.NewPaletted(image.Rect(0, 0, w, h), palette)
		for j := range h {
			row := img.Pix[(h-1-j)*img.Stride:]
			for i := range w {
				row[i] = bar.index(m.mean(xs[i], ys[j]))
			}
		}
		picture(img).draw(f)
	}}
}

// mean averages the cells of a pixel that have a colour; NaN if there are none.
func (m *Image) mean(x, y [2]int) float64 {
	if x[1]-x[0] == 1 && y[1]-y[0] == 1 {
		return m.Z[y[0]][x[0]]
	}
	s, n := 0.0, 0
	for j := y[0]; j < y[1]; j++ {
		for i := x[0]; i < x[1]; i++ {
			if v := m.Z[j][i]; linalg.Finite(v) {
				s += v
				n++
			}
		}
	}
	return s / float64(n)
}

// cuts returns the cells [from, to) that each of n pixels of an axis covers.
func cuts(edges []float64, a *axis, n int) [][2]int {
	out := make([][2]int, n)
	places := make([]float64, len(edges))
	for i, e := range edges {
		places[i] = a.at(e) * float64(n)
	}
	cell := func(p float64) int {
		k, exact := slices.BinarySearch(places, p)
		if !exact {
			k--
		}
		return min(max(k, 0), len(edges)-2)
	}
	first, last := min(places[0], places[len(places)-1]), max(places[0], places[len(places)-1])
	for i := range out {
		if middle := float64(i) + 0.5; middle < first || middle > last {
			continue // beyond the cells, after zooming out
		}
		from, to := cell(float64(i)), cell(float64(i+1))
		if to-from < 2 {
			from = cell(float64(i) + 0.5)
			to = from + 1
		}
		out[i] = [2]int{from, to}
	}
	return out
}

// Borders returns the n+1 edges of n cells from their centres in ascending order, half-way between neighbours; on a logarithmic axis between
// their logarithms.
func Borders(centre []float64, log bool) []float64 {
	n := len(centre)
	v := slices.Clone(centre)
	if log {
		for i := range v {
			v[i] = math.Log(v[i])
		}
	}
	out := make([]float64, n+1)
	if n == 1 {
		out[0], out[1] = v[0]-0.5, v[0]+0.5
	} else {
		for i := 1; i < n; i++ {
			out[i] = v[i-1]/2 + v[i]/2
		}
		out[0], out[n] = v[0]-(out[1]-v[0]), v[n-1]+(v[n-1]-out[n-1])
	}
	if log {
		for i := range out {
			out[i] = math.Exp(out[i])
		}
	}
	return out
}
