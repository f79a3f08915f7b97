// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/linalg"
)

func init() { builtIn("pair", "scatter plots of every pair of quantities", Pair) }

// Pair draws every quantity against every other: draws as a cloud of pixels, contours of the regions
// of highest density that hold 50 % and 95 % of them, and divergent draws as black crosses. Crosses
// gather where the posterior is too narrow for the sampler. Without names it takes the first 5. Of many
// thousand draws, each is drawn within a quarter of a pixel of its place; none is left out.
func Pair(d Draws, names ...string) (*Figure, error) {
	s, err := d.pick("pair plot", 5, names)
	if err != nil {
		return nil, err
	}
	n := len(s.q)
	if n < 2 {
		return nil, fmt.Errorf("viz: pair: only %s has finite draws: choose at least two quantities that have some", s.q[0].name)
	}
	longest := 0
	for _, q := range s.q {
		longest = max(longest, len([]rune(q.label)))
	}
	size := math.Max(columnWidth, math.Min(pageWidth+1.5, 1.6*float64(n)))
	size = math.Max(size, float64(n)*(labelWidth*float64(longest)+0.3)) // labels stand beside each other
	f := &Figure{Title: "Pairs", Width: size, Height: size + 0.35}
	f.grid = &grid{gapX: 7, gapY: 7}
	for j := range n {
		row := make([]*panel, n)
		for i := range j {
			row[i] = d.cloudPanel(s.q[i], s.q[j], i == 0, j == n-1)
		}
		row[j] = d.marginPanel(s.q[j], j == n-1)
		f.grid.rows = append(f.grid.rows, row)
	}
	f.keys = d.highlightKey()
	note := "The contours enclose 50 % and 95 % of the draws."
	if k := d.divergences(); k > 0 {
		f.keys = append(f.keys, key{count(k, "divergent draw", "divergent draws"), ink, crossed})
		if k > mostCrosses {
			note += fmt.Sprintf(" Only the first %d divergent draws are marked.", mostCrosses)
		}
	}
	f.Note = s.note(note)
	return f, nil
}

const (
	mostCrosses = 500
	labelWidth  = 0.058 // of a letter of a label, in inches
)

// marginPanel draws the density of one quantity on the diagonal.
func (d Draws) marginPanel(q quantity, last bool) *panel {
	p := &panel{title: q.name, x: axis{label: q.label, of: q.name, bare: !last, pad: 0.03}, y: axis{none: true}}
	lo, hi, _ := window(q.ascending())
	p.x.include(lo, hi)
	k := kde(q.ascending(), lo, hi, 200)
	if len(k.x) == 0 {
		p.add(words("constant"))
	}
	p.y.include(0)
	p.y.include(k.y...)
	p.y.limits(0, 1.06*math.Max(p.y.hi, 1e-300))
	p.add(band(k.x, make([]float64, len(k.x)), k.y, fade(pooled, 0.2)), line(k.x, k.y, pooled, 1.1))
	if lit := d.litDensity(q, lo, hi, 200); lit != nil {
		p.add(line(lit.x, lit.y, highlit, 1.1))
	}
	return p
}

// cloudPanel draws one quantity against another.
func (d Draws) cloudPanel(a, b quantity, first, last bool) *panel {
	p := &panel{x: axis{label: a.label, of: a.name, bare: !last, pad: 0.03}, y: axis{label: b.label, of: b.name, bare: !first, pad: 0.03}}
	lo, hi, _ := window(a.ascending())
	p.x.include(lo, hi)
	lo, hi, _ = window(b.ascending())
	p.y.include(lo, hi)
	x, y := jointly(a, b)
	dx, dy := d.divergent(a, b)
	p.add(cloud(x, y, pooled))
	p.add(regions(x, y, a.widthOf(x), b.widthOf(y), innerProb, outerProb))
	if x, y := d.litPairs(a, b); len(x) > 0 {
		p.add(cloud(x, y, highlit))
	}
	p.add(crosses(dx, dy, 1.9))
	return p
}

// jointly returns the draws at which both quantities are finite.
func jointly(a, b quantity) (x, y []float64) {
	if slices.EqualFunc(a.x, a.raw, sameLength) && slices.EqualFunc(b.x, b.raw, sameLength) && slices.EqualFunc(a.x, b.x, sameLength) {
		return a.all, b.all
	}
	for c := range min(len(a.raw), len(b.raw)) {
		for i := range min(len(a.raw[c]), len(b.raw[c])) {
			if u, v := a.raw[c][i], b.raw[c][i]; linalg.Finite(u) && linalg.Finite(v) {
				x, y = append(x, u), append(y, v)
			}
		}
	}
	return x, y
}

func sameLength(a, b []float64) bool { return len(a) == len(b) }

// divergent returns the first divergent draws at which both quantities are finite.
func (d Draws) divergent(a, b quantity) (x, y []float64) {
	for c := range min(len(a.raw), len(b.raw), len(d.Diverging)) {
		for i := range min(len(a.raw[c]), len(b.raw[c]), len(d.Diverging[c])) {
			if !d.Diverging[c][i] {
				continue
			}
			if u, v := a.raw[c][i], b.raw[c][i]; linalg.Finite(u) && linalg.Finite(v) && len(x) < mostCrosses {
				x, y = append(x, u), append(y, v)
			}
		}
	}
	return x, y
}

// widthOf returns the kernel width for v, which are draws of the quantity.
func (q quantity) widthOf(v []float64) float64 {
	if len(v) == len(q.all) {
		return bandwidth(q.ascending())
	}
	return bandwidth(diag.Ascend(v))
}

// manyPoints is the number of points from which a cloud counts them by cells of half a pixel before
// it draws them.
const manyPoints = 20_000

// cloud draws many points as one picture, so that the file stays small however many there are.
func cloud(x, y []float64, c color.NRGBA) mark {
	return mark{draw: func(f *frame) {
		const dpi = 220.0
		size := f.Size()
		w, h := int(float64(size.X)/72*dpi), int(float64(size.Y)/72*dpi)
		if w < 1 || h < 1 || len(x) == 0 {
			return
		}
		ink := newCover(w, h, -math.Log1p(-min(0.9, max(0.12, 12/math.Sqrt(float64(len(x)))))), len(x) > manyPoints)
		for i := range x {
			if f.can(x[i], y[i]) {
				ink.add(f.x.at(x[i])*float64(w), (1-f.y.at(y[i]))*float64(h))
			}
		}
		img := image.NewPaletted(image.Rect(0, 0, w, h), shades(c))
		for i, v := range ink.depths() {
			img.Pix[i] = uint8(math.Round(63 * (1 - math.Exp(-v))))
		}
		f.DrawImage(f.Rectangle, img)
	}}
}

// cover is the optical depth of discs on pixels.
type cover struct {
	w, h  int
	depth float64   // depth of one disc
	total []float64 // depth at each pixel
	cells []float64 // number of discs in each cell of half a pixel; nil if discs are drawn where they are
}

// newCover returns an empty cover of w x h pixels. A coarse one draws each disc in the middle of its cell
// of half a pixel, so that its time hardly grows with the number of discs.
func newCover(w, h int, depth float64, coarse bool) *cover {
	c := &cover{w: w, h: h, depth: depth, total: make([]float64, w*h)}
	if coarse {
		c.cells = make([]float64, 4*w*h)
	}
	return c
}

// add adds a disc at a position in pixels.
func (c *cover) add(x, y float64) {
	if c.cells == nil {
		addDisc(c.total, c.w, c.h, x, y, discRadius, c.depth)
		return
	}
	if i, j := int(math.Floor(2*x)), int(math.Floor(2*y)); i >= 0 && j >= 0 && i <= 2*c.w && j <= 2*c.h {
		c.cells[min(j, 2*c.h-1)*2*c.w+min(i, 2*c.w-1)]++
	}
}

// depths returns the depth at each pixel, row by row.
func (c *cover) depths() []float64 {
	for i, n := range c.cells {
		if n > 0 {
			addDisc(c.total, c.w, c.h, (float64(i%(2*c.w))+0.5)/2, (float64(i/(2*c.w))+0.5)/2, discRadius, n*c.depth)
		}
	}
	c.cells = nil
	return c.total
}

// discRadius is the radius of the disc of a draw, in pixels.
const discRadius = 2.4

// shades returns the colours from transparent to opaque.
func shades(c color.NRGBA) color.Palette {
	p := make(color.Palette, 64)
	for i := range p {
		p[i] = fade(c, float64(i)/63)
	}
	return p
}

// addDisc adds a disc of an optical depth with a soft edge.
func addDisc(cover []float64, w, h int, x, y, r, depth float64) {
	for j := max(0, int(y-r-1)); j <= min(h-1, int(y+r+1)); j++ {
		for i := max(0, int(x-r-1)); i <= min(w-1, int(x+r+1)); i++ {
			dx, dy := float64(i)+0.5-x, float64(j)+0.5-y
			gap := math.Sqrt(dx*dx + dy*dy)
			cover[j*w+i] += depth * min(max(r+0.5-gap, 0), 1)
		}
	}
}

// regions draws contours of the smallest areas that hold given shares of the points, with kernels of
// the widths wx and wy.
func regions(x, y []float64, wx, wy float64, shares ...float64) mark {
	return mark{draw: func(f *frame) {
		const n = 60
		if len(x) < 200 || wx == 0 || wy == 0 {
			return
		}
		z := make([][]float64, n)
		for j := range z {
			z[j] = make([]float64, n)
		}
		for i := range x {
			u, v := f.x.at(x[i])*n, f.y.at(y[i])*n
			if u >= 0 && v >= 0 && u < n && v < n {
				z[int(v)][int(u)]++
			}
		}
		blur(z, cells(f.x, wx, n), cells(f.y, wy, n))
		for _, s := range shares {
			for _, path := range contour(z, heldLevel(z, s)) {
				var px, py []float64
				for _, at := range path {
					px, py = append(px, f.from(f.x, at[0], n)), append(py, f.from(f.y, at[1], n))
				}
				line(px, py, fade(ink, 0.8), 0.75).draw(f)
			}
		}
	}}
}

// cells returns a kernel width in cells of an axis of n; it is a little wider than for one
// dimension.
func cells(a *axis, h float64, n int) float64 {
	return min(max(1.7*h/2/(a.hi/2-a.lo/2)*float64(n), 1), float64(n)/6)
}

// from returns the value at the centre of a cell.
func (f *frame) from(a *axis, cell float64, n int) float64 {
	t := (cell + 0.5) / float64(n)
	return a.lo*(1-t) + a.hi*t
}

// blur smooths a square picture along both axes.
func blur(z [][]float64, wx, wy float64) {
	for j := range z {
		z[j] = smooth(z[j], wx)
	}
	col := make([]float64, len(z))
	for i := range z[0] {
		for j := range z {
			col[j] = z[j][i]
		}
		for j, v := range smooth(col, wy) {
			z[j][i] = v
		}
	}
}

// heldLevel returns the density above which the given share of the mass lies.
func heldLevel(z [][]float64, share float64) float64 {
	all := slices.Concat(z...)
	slices.SortFunc(all, func(a, b float64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	total, held := sum(all), 0.0
	for _, v := range all {
		if held += v; held >= share*total {
			return v
		}
	}
	return 0
}
