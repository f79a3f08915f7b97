// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
)

// Bounds of figures that are kept.
const (
	keptVersion = 1
	mostNumbers = 1_000_000 // numbers of a figure; larger ones are not kept
	mostKept    = 64 << 20  // bytes of the document of a figure that is read; that of so many numbers has half of them
	mostPanels  = 1000
	mostInches  = 200
)

// keptFigure is the document of a figure. Lengths inside the picture are in points.
type keptFigure struct {
	Version int            `json:"euryale_figure"`
	Title   string         `json:"title,omitempty"`
	Note    string         `json:"note,omitempty"`
	Caption string         `json:"caption,omitempty"`
	Width   float64        `json:"width_in"`
	Height  float64        `json:"height_in"`
	Rows    [][]*keptPanel `json:"rows"`
	Wide    []float64      `json:"wide,omitempty"`
	High    []float64      `json:"high,omitempty"`
	Gaps    [2]vg.Length   `json:"gaps"`
	Flows   bool           `json:"flows,omitempty"`
	Labels  [2]string      `json:"labels"`
	Keys    []keptKey      `json:"keys,omitempty"`
}

type keptPanel struct {
	Title string     `json:"title,omitempty"`
	X     keptAxis   `json:"x"`
	Y     keptAxis   `json:"y"`
	Marks []keptMark `json:"marks"`
	Box   []string   `json:"box,omitempty"`
	Keys  []keptKey  `json:"keys,omitempty"`
	Equal bool       `json:"equal,omitempty"`
	Bar   *keptBar   `json:"bar,omitempty"`
	Side  []keptSide `json:"side,omitempty"`
}

type keptAxis struct {
	Label string     `json:"label,omitempty"`
	Log   bool       `json:"log,omitempty"`
	Range [2]float64 `json:"range"`
	Pad   float64    `json:"pad,omitempty"`
	Bare  bool       `json:"bare,omitempty"`
	Over  bool       `json:"over,omitempty"`
	Whole bool       `json:"whole,omitempty"`
	Down  bool       `json:"down,omitempty"`
	None  bool       `json:"none,omitempty"`
	Fixed []keptTick `json:"ticks,omitempty"`
}

type keptTick struct {
	At    float64 `json:"at"`
	Label string  `json:"label"`
}

type keptMark struct {
	Kind   string      `json:"kind"`
	Guide  bool        `json:"guide,omitempty"` // stands for no data
	Name   string      `json:"name,omitempty"`
	X      numbers     `json:"x,omitempty"`
	Y      numbers     `json:"y,omitempty"`
	Err    numbers     `json:"err,omitempty"`
	Low    numbers     `json:"low,omitempty"`
	High   numbers     `json:"high,omitempty"`
	Z      []numbers   `json:"z,omitempty"`
	ZLabel string      `json:"z_label,omitempty"`
	Color  colour      `json:"color"`
	Width  vg.Length   `json:"width,omitempty"`
	Dash   []vg.Length `json:"dash,omitempty"`
}

type keptKey struct {
	Text   string `json:"text"`
	Color  colour `json:"color"`
	Symbol symbol `json:"symbol"`
}

type keptBar struct {
	Axis   keptAxis `json:"axis"`
	Colors []colour `json:"colors"`
}

type keptSide struct {
	Text  string  `json:"text"`
	Y     float64 `json:"y"`
	Color colour  `json:"color"`
}

// numbers are written with null for what is not finite.
type numbers []float64

// MarshalJSON writes the numbers.
func (n numbers) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, v := range n {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			b = append(b, "null"...)
			continue
		}
		b = strconv.AppendFloat(b, v, 'g', -1, 64)
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads the numbers.
func (n *numbers) UnmarshalJSON(b []byte) error {
	var all []*float64
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*n = make(numbers, len(all))
	for i, v := range all {
		if (*n)[i] = math.NaN(); v != nil {
			(*n)[i] = *v
		}
	}
	return nil
}

// colour is written as red, green, blue and opacity in hexadecimal digits.
type colour color.NRGBA

// MarshalText writes the colour.
func (c colour) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%02x%02x%02x%02x", c.R, c.G, c.B, c.A), nil
}

// UnmarshalText reads the colour.
func (c *colour) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 16, 32)
	if err != nil || len(b) != 8 {
		return fmt.Errorf("%q is no colour: want 8 hexadecimal digits", b)
	}
	*c = colour{uint8(v >> 24), uint8(v >> 16), uint8(v >> 8), uint8(v)}
	return nil
}

// ErrNotKept is the error of Keep for figures that cannot be kept: those with marks that are no data, such as rasters, those of plots of
// others, and those of more than a million numbers.
var ErrNotKept = errors.New("viz: keep: the figure has marks that cannot be written, or too many numbers: keep what it was drawn from")

// Keep returns the figure with its numbers as a compressed JSON document, from which Kept makes it again: zoomed, on other axes, in
// another size or format. It returns ErrNotKept for figures that cannot be kept.
func (f *Figure) Keep() ([]byte, error) {
	if f.grid == nil {
		return nil, ErrNotKept
	}
	g := f.grid
	k := keptFigure{keptVersion, f.Title, f.Note, f.Caption, f.Width, f.Height, nil, g.wide, g.high, [2]vg.Length{g.gapX, g.gapY}, g.flows, [2]string{g.xLabel, g.yLabel}, keepKeys(f.keys)}
	total := 0
	for _, row := range g.rows {
		line := make([]*keptPanel, len(row))
		for i, p := range row {
			if p == nil {
				continue
			}
			kept, n := p.keep()
			if total += n; kept == nil || total > mostNumbers {
				return nil, ErrNotKept
			}
			line[i] = kept
		}
		k.Rows = append(k.Rows, line)
	}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if n := g.imageRows(); n > 0 {
		w.Comment = rowsNote + strconv.Itoa(n)
	}
	if err := cmp.Or(json.NewEncoder(w).Encode(k), w.Close()); err != nil {
		return nil, fmt.Errorf("viz: keep: %w", err)
	}
	return b.Bytes(), nil
}

// keep returns the document of a panel and how many numbers it has; nil if a mark cannot be written.
func (p *panel) keep() (k *keptPanel, total int) {
	k = &keptPanel{Title: p.title, X: p.x.keep(), Y: p.y.keep(), Box: p.box, Keys: keepKeys(p.keys), Equal: p.equal}
	for _, m := range p.marks {
		d := m.data
		if d == nil {
			d = m.guide
		}
		if d == nil || !slices.Contains(drawable, d.Kind) {
			return nil, 0
		}
		kept := keptMark{Kind: d.Kind, Guide: m.data == nil, Name: d.Name, X: d.X, Y: d.Y, Err: d.Err, Low: d.Low, High: d.High, ZLabel: d.ZLabel, Color: colour(d.color), Width: d.width, Dash: d.dash}
		for _, row := range d.Z {
			kept.Z = append(kept.Z, row)
			total += len(row)
		}
		total += len(d.X) + len(d.Y) + len(d.Err) + len(d.Low) + len(d.High)
		k.Marks = append(k.Marks, kept)
	}
	if p.bar != nil {
		k.Bar = &keptBar{Axis: p.bar.axis.keep()}
		for _, c := range p.bar.colors {
			k.Bar.Colors = append(k.Bar.Colors, colour(c))
		}
	}
	for _, s := range p.side {
		k.Side = append(k.Side, keptSide{s.text, s.y, colour(s.color)})
	}
	return k, total
}

func keepKeys(keys []key) (all []keptKey) {
	for _, k := range keys {
		all = append(all, keptKey{k.text, colour(k.color), k.symbol})
	}
	return all
}

func (a *axis) keep() keptAxis {
	k := keptAxis{Label: a.label, Log: a.log, Pad: a.pad, Bare: a.bare, Over: a.over, Whole: a.whole, Down: a.down, None: a.none}
	if a.set {
		k.Range = [2]float64{a.lo, a.hi}
	}
	for _, t := range a.fixed {
		k.Fixed = append(k.Fixed, keptTick{t.at, t.label})
	}
	return k
}

// Kept makes the figure of a document of Keep.
func Kept(document []byte) (*Figure, error) {
	damaged := func(err error) error {
		return fmt.Errorf("viz: this cannot be read as a picture that a fit left: %w: give a file .figure from the folder plots of a fit, or fit again", err)
	}
	r, err := gzip.NewReader(bytes.NewReader(document))
	if err != nil {
		return nil, damaged(err)
	}
	text, err := io.ReadAll(io.LimitReader(r, mostKept+1))
	if err == nil && len(text) > mostKept {
		err = fmt.Errorf("it unpacks to more than %d MB", mostKept>>20)
	}
	if err != nil {
		return nil, damaged(err)
	}
	var k keptFigure
	if err := json.Unmarshal(text, &k); err != nil {
		return nil, damaged(err)
	}
	if k.Version != keptVersion {
		return nil, fmt.Errorf("viz: the numbers of the picture have version %d, and this program reads %d: use the program that wrote it", k.Version, keptVersion)
	}
	f, err := k.figure()
	if err != nil {
		return nil, damaged(err)
	}
	return f, nil
}

func (k *keptFigure) figure() (*Figure, error) {
	if !(k.Width > 0 && k.Width < mostInches && k.Height > 0 && k.Height < mostInches) {
		return nil, fmt.Errorf("it is %g by %g inches large", k.Width, k.Height)
	}
	if len(k.Rows) == 0 || len(k.Rows[0]) == 0 || len(k.Rows)*len(k.Rows[0]) > mostPanels {
		return nil, fmt.Errorf("it has %d rows of panels", len(k.Rows))
	}
	if k.Wide != nil && len(k.Wide) != len(k.Rows[0]) || k.High != nil && len(k.High) != len(k.Rows) {
		return nil, fmt.Errorf("it has %d widths and %d heights of %d columns and %d rows", len(k.Wide), len(k.High), len(k.Rows[0]), len(k.Rows))
	}
	g := &grid{wide: k.Wide, high: k.High, gapX: k.Gaps[0], gapY: k.Gaps[1], flows: k.Flows, xLabel: k.Labels[0], yLabel: k.Labels[1]}
	for j, row := range k.Rows {
		if len(row) != len(k.Rows[0]) {
			return nil, fmt.Errorf("row %d has %d panels, but the first has %d", j+1, len(row), len(k.Rows[0]))
		}
		line := make([]*panel, len(row))
		for i, p := range row {
			if p == nil {
				continue
			}
			var err error
			if line[i], err = p.panel(); err != nil {
				return nil, err
			}
		}
		g.rows = append(g.rows, line)
	}
	return &Figure{Title: k.Title, Note: k.Note, Caption: k.Caption, Width: k.Width, Height: k.Height, grid: g, keys: madeKeys(k.Keys)}, nil
}

func (k *keptPanel) panel() (*panel, error) {
	p := &panel{title: k.Title, x: k.X.axis(), y: k.Y.axis(), box: k.Box, keys: madeKeys(k.Keys), equal: k.Equal}
	for _, a := range []axis{p.x, p.y} {
		if a.set && (!a.can(a.lo) || !a.can(a.hi) || a.lo > a.hi) {
			return nil, fmt.Errorf("an axis is from %g to %g", a.lo, a.hi)
		}
	}
	if k.Bar != nil {
		p.bar = &colorbar{axis: k.Bar.Axis.axis()}
		for _, c := range k.Bar.Colors {
			p.bar.colors = append(p.bar.colors, color.NRGBA(c))
		}
		if a := p.bar.axis; len(p.bar.colors) == 0 || len(p.bar.colors) > mapSize || !a.can(a.lo) || !a.can(a.hi) {
			return nil, fmt.Errorf("the scale of %d colours is from %g to %g", len(p.bar.colors), a.lo, a.hi)
		}
	}
	for _, m := range k.Marks {
		made, err := m.mark(p)
		if err != nil {
			return nil, err
		}
		if m.Guide && made.data != nil {
			made = asGuide(made)
		}
		p.marks = append(p.marks, made)
		if m.Kind == "points" || m.Kind == "line" {
			p.occupy(m.X, m.Y)
		}
	}
	for _, s := range k.Side {
		p.side = append(p.side, sideLabel{text: s.Text, y: s.Y, color: color.NRGBA(s.Color)})
	}
	return p, nil
}

// drawable are the kinds of marks that can be written and made again.
var drawable = []string{"line", "band", "points", "errors", "image", "horizontal", "vertical", "words", "arrows"}

func (m *keptMark) mark(p *panel) (mark, error) {
	c := color.NRGBA(m.Color)
	switch {
	case m.Kind == "line":
		return line(m.X, m.Y, c, m.Width, m.Dash...), nil
	case m.Kind == "band":
		return band(m.X, m.Low, m.High, c), nil
	case m.Kind == "points":
		return dots(m.X, m.Y, c, m.Width), nil
	case m.Kind == "errors":
		return whiskers(m.X, m.Y, m.Err, c), nil
	case m.Kind == "horizontal" && len(m.Y) == 1:
		return horizontalLine(m.Y[0], c, m.Width, m.Dash...), nil
	case m.Kind == "vertical" && len(m.X) == 1:
		return verticalLine(m.X[0], c, m.Width, m.Dash...), nil
	case m.Kind == "words":
		return words(m.Name), nil
	case m.Kind == "arrows":
		var list []Arrow
		for i := range min(len(m.X), len(m.Y), len(m.Low), len(m.High)) {
			list = append(list, Arrow{m.X[i], m.Y[i], m.Low[i], m.High[i]})
		}
		return arrows(list), nil
	case m.Kind == "image" && p.bar != nil:
		im := Image{X: m.X, Y: m.Y, ZLabel: m.ZLabel, LogX: p.x.log, LogY: p.y.log}
		for _, row := range m.Z {
			im.Z = append(im.Z, row)
		}
		if err := im.complete(); err != nil {
			return mark{}, err
		}
		return im.pixels(Borders(im.X, im.LogX), Borders(im.Y, im.LogY), p.bar), nil
	}
	return mark{}, fmt.Errorf("it has a mark of the kind %q with %d numbers", m.Kind, len(m.X)+len(m.Y))
}

func madeKeys(keys []keptKey) (all []key) {
	for _, k := range keys {
		all = append(all, key{k.Text, color.NRGBA(k.Color), k.Symbol})
	}
	return all
}

func (k *keptAxis) axis() axis {
	a := axis{label: k.Label, log: k.Log, lo: k.Range[0], hi: k.Range[1], pad: min(max(k.Pad, 0), 1), bare: k.Bare, over: k.Over, whole: k.Whole, down: k.Down, none: k.None}
	a.set = k.Range != [2]float64{}
	for _, t := range k.Fixed {
		a.fixed = append(a.fixed, tick{t.At, t.Label})
	}
	return a
}
