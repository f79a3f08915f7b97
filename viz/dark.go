// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"image/color"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// DarkSVG returns the picture as SVG does, in colours for a dark surrounding: what is dark becomes light, and colours keep their hue. Images of
// pixels keep their colours, except for pixels without a value.
func (f *Figure) DarkSVG() string {
	c := f.Clone()
	if c.grid != nil {
		for _, p := range c.grid.panels() {
			p.dark = true
		}
	}
	return inked.ReplaceAllStringFunc(c.SVG(), inDark)
}

// inDark returns what stands for the colour of a stroke, an area or a letter in a dark surrounding.
func inDark(s string) string {
	name, hex := s[:len(s)-6], s[len(s)-6:]
	v, err := strconv.ParseUint(hex, 16, 32)
	if err != nil {
		return s
	}
	c := darkened(rgb(uint8(v>>16), uint8(v>>8), uint8(v)))
	return fmt.Sprintf("%s%02X%02X%02X", name, c.R, c.G, c.B)
}

// darkRules returns the rules of a style sheet by which pictures in a page take the colours of a dark surrounding.
func darkRules(pictures string) string {
	colours := inked.FindAllString(pictures, -1)
	slices.Sort(colours)
	var b strings.Builder
	for _, c := range slices.Compact(colours) {
		fmt.Fprintf(&b, "figure svg [style*=%q] { %s !important }\n", c, inDark(c))
	}
	return b.String()
}

// inked are the colours of strokes, areas and letters.
var inked = regexp.MustCompile(`(?:fill|stroke):#[0-9A-F]{6}`)

// Lightness in OKLab of letters and of paper in a dark surrounding, and the least of a coloured line.
const (
	darkInk   = 0.93
	darkPaper = 0.24
	leastDark = 0.68
)

// darkened returns the colour that takes the place of c in a dark surrounding.
func darkened(c color.NRGBA) color.NRGBA {
	o := labOf(c)
	chroma := math.Hypot(o.a, o.b)
	if chroma < 0.04 {
		first, last := labOf(ink).l, labOf(paper).l
		l := darkInk + (darkPaper-darkInk)*(o.l-first)/(last-first)
		return lch(min(max(l, 0), 1), chroma, math.Atan2(o.b, o.a)).color()
	}
	return lch(max(o.l, leastDark), chroma, math.Atan2(o.b, o.a)).color()
}

// labOf returns a colour of the screen in OKLab.
func labOf(c color.NRGBA) lab {
	r, g, b := decode(c.R), decode(c.G), decode(c.B)
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return lab{0.2104542553*l + 0.7936177850*m - 0.0040720468*s, 1.9779984951*l - 2.4285922050*m + 0.4505937099*s, 0.0259040371*l + 0.7827717662*m - 0.8086757660*s}
}

// decode is the inverse of encode.
func decode(v uint8) float64 {
	x := float64(v) / 255
	if x <= 0.04045 {
		return x / 12.92
	}
	return math.Pow((x+0.055)/1.055, 2.4)
}
