// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"image/color"
	"math"
	"strings"
	"sync"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	stdfont "golang.org/x/image/font"
)

// fonts holds Liberation Sans, which is embedded in the binary and as wide as Arial and Helvetica,
// so that an SVG looks alike everywhere.
var fonts = sync.OnceValue(func() *font.Cache { return font.NewCache(liberation.Collection()) })

// lettering is the style of a text. Texts may contain superscripts and subscripts as ^{..} and
// _{..}, or as Unicode characters.
type lettering struct {
	size  vg.Length
	bold  bool
	color color.Color
}

var (
	titleText = lettering{titleSize, true, ink}
	headText  = lettering{labelSize, true, ink}
	labelText = lettering{labelSize, false, ink}
	tickText  = lettering{tickSize, false, ink}
	noteText  = lettering{noteSize, false, soft}
)

// Position of a text relative to its point, as a fraction of its width or height.
const (
	left, bottom = 0.0, 0.0
	middle       = 0.5
	right, top   = 1.0, 1.0
)

// run is a part of a text on one level.
type run struct {
	text  string
	level int // -1 for a subscript, 0 for plain text, 1 for a superscript
}

func (l lettering) face(level int) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if l.bold {
		f.Weight = stdfont.WeightBold
	}
	size := l.size
	if level != 0 {
		size *= 0.72
	}
	return fonts().Lookup(f, size)
}

// width returns the width of one line.
func (l lettering) width(s string) (w vg.Length) {
	for _, r := range runs(s) {
		f := l.face(r.level)
		w += f.Width(r.text)
	}
	return w
}

// height returns the distance between lines.
func (l lettering) height() vg.Length { return 1.25 * l.size }

// capital returns the height of capital letters and digits.
func (l lettering) capital() vg.Length { return 0.72 * l.size }

// draw writes one line; ax and ay say which point of its box, which is as high as a capital letter,
// lies at p.
func (l lettering) draw(c vg.Canvas, p vg.Point, ax, ay float64, s string) {
	p.X -= vg.Length(ax) * l.width(s)
	p.Y -= vg.Length(ay) * l.capital()
	c.SetColor(l.color)
	for _, r := range runs(s) {
		f := l.face(r.level)
		at := p
		switch r.level {
		case 1:
			at.Y += 0.36 * l.size
		case -1:
			at.Y -= 0.14 * l.size
		}
		c.FillString(f, at, r.text)
		p.X += f.Width(r.text)
	}
}

// upright writes one line from bottom to top; ax and ay refer to the line before it is rotated.
func (l lettering) upright(c vg.Canvas, p vg.Point, ax, ay float64, s string) {
	c.Push()
	defer c.Pop()
	c.Translate(p)
	c.Rotate(math.Pi / 2)
	if _, ok := c.(*vgimg.Canvas); ok {
		c = outlined{c} // its turned letters are pale
	}
	l.draw(c, vg.Point{}, ax, ay, s)
}

// outlined is a canvas that draws letters as shapes.
type outlined struct{ vg.Canvas }

func (c outlined) FillString(f font.Face, p vg.Point, s string) { outlines(c, f, p, s) }

// outlines draws letters as shapes.
func outlines(c vg.Canvas, f font.Face, p vg.Point, s string) {
	const em = 1000
	scale := f.Font.Size / em
	var buf sfnt.Buffer
	for _, r := range s {
		g, err := f.Face.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		segments, err := f.Face.LoadGlyph(&buf, g, fixed.I(em), nil)
		if err == nil {
			c.Fill(outline(segments, p, scale))
		}
		p.X += f.Width(string(r))
	}
}

func outline(segments sfnt.Segments, p vg.Point, scale vg.Length) (path vg.Path) {
	at := func(q fixed.Point26_6) vg.Point {
		return vg.Point{X: p.X + scale*vg.Length(q.X)/64, Y: p.Y - scale*vg.Length(q.Y)/64}
	}
	for i, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if i > 0 {
				path.Close()
			}
			path.Move(at(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			path.Line(at(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			path.QuadTo(at(s.Args[0]), at(s.Args[1]))
		case sfnt.SegmentOpCubeTo:
			path.CubeTo(at(s.Args[0]), at(s.Args[1]), at(s.Args[2]))
		}
	}
	if len(path) > 0 {
		path.Close()
	}
	return path
}

const (
	raised  = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
	lowered = "₀₁₂₃₄₅₆₇₈₉₊₋"
	plain   = "0123456789+−"
)

// runs splits a line by level.
func runs(s string) (out []run) {
	add := func(r string, level int) {
		if n := len(out); n > 0 && out[n-1].level == level {
			out[n-1].text += r
		} else if r != "" {
			out = append(out, run{r, level})
		}
	}
	for len(s) > 0 {
		if level, inner, rest, ok := marked(s); ok {
			add(inner, level)
			s = rest
			continue
		}
		r := []rune(s)[0]
		s = s[len(string(r)):]
		switch {
		case strings.ContainsRune(raised, r):
			add(same(raised, r), 1)
		case strings.ContainsRune(lowered, r):
			add(same(lowered, r), -1)
		default:
			add(string(r), 0)
		}
	}
	return out
}

// marked reads ^{..} or _{..} at the start of s.
func marked(s string) (level int, inner, rest string, ok bool) {
	switch {
	case strings.HasPrefix(s, "^{"):
		level = 1
	case strings.HasPrefix(s, "_{"):
		level = -1
	default:
		return 0, "", "", false
	}
	inner, rest, ok = strings.Cut(s[2:], "}")
	return level, inner, rest, ok
}

func same(from string, r rune) string {
	for i, c := range []rune(from) {
		if c == r {
			return string([]rune(plain)[i])
		}
	}
	return string(r)
}

// wrap breaks a text into lines no wider than w.
func (l lettering) wrap(s string, w vg.Length) (lines []string) {
	for _, paragraph := range strings.Split(s, "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if next := strings.TrimSpace(line + " " + word); line == "" || l.width(next) <= w {
				line = next
				continue
			}
			lines = append(lines, line)
			line = word
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
