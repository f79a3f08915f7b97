// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"image/color"
	"math"
	"sync"

	"gonum.org/v1/plot/vg"
)

// Sizes of text and strokes, in points. A figure is drawn at its final size.
const (
	titleSize vg.Length = 11
	labelSize vg.Length = 9
	tickSize  vg.Length = 8
	noteSize  vg.Length = 7.5

	thin   vg.Length = 0.6 // stroke of frames, ticks and rules
	strong vg.Length = 1.4 // stroke of the main line of a picture

	tickLength vg.Length = 3
	outer      vg.Length = 7 // margin around a figure
	gutter     vg.Length = 12
)

// Width of figures and height of a row of panels, in inches.
const (
	pageWidth   = 7.0
	columnWidth = 4.6
	rowHeight   = 1.35
)

// Colours of everything except chains.
var (
	ink    = rgb(0x26, 0x2b, 0x33) // colour of frames and text
	soft   = rgb(0x6b, 0x72, 0x7d) // colour of notes and guides
	faint  = rgb(0xdf, 0xe2, 0xe6) // colour of bands that only guide the eye
	paper  = rgb(0xff, 0xff, 0xff)
	absent = rgb(0xe9, 0xea, 0xec) // colour of pixels without a value
	model  = chainColor(1)
	pooled = chainColor(0)
)

// okabeIto is the palette of Okabe and Ito (2008), which can be told apart with any kind of colour
// vision; its yellow and black are reserved for other uses.
var okabeIto = []color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
}

// chainColor returns the colour of chain c; they repeat after six.
func chainColor(c int) color.NRGBA { return okabeIto[c%len(okabeIto)] }

func rgb(r, g, b uint8) color.NRGBA { return color.NRGBA{r, g, b, 0xff} }

// fade returns c with an opacity between 0 and 1.
func fade(c color.NRGBA, opacity float64) color.NRGBA {
	c.A = uint8(math.Round(255 * opacity))
	return c
}

// mapSize is the number of colours of the intensity maps.
const mapSize = 250

// evenMap is the intensity map, dark to light. Its hue runs from violet over red to yellow. Its
// colours are evenly spaced in OKLab, so that equal steps of intensity look equal and the map works
// in greyscale print.
var evenMap = sync.OnceValue(func() []color.NRGBA {
	return evenly(func(t float64) lab {
		hue := (285 + 180*t) * math.Pi / 180
		chroma := 0.05 + 0.145*math.Sin(math.Pi*math.Pow(t, 0.85))
		return lch(0.14+0.83*t, chroma, hue)
	})
})

// signedMap runs from blue over white to red; its middle is zero.
var signedMap = sync.OnceValue(func() []color.NRGBA {
	return evenly(func(t float64) lab {
		s := 2*t - 1
		hue := 250.0
		if s > 0 {
			hue = 35
		}
		return lch(0.985-0.5*math.Abs(s), 0.16*math.Abs(s), hue*math.Pi/180)
	})
})

// cyclicMap runs once around the hues at one lightness, for angles.
var cyclicMap = sync.OnceValue(func() []color.NRGBA {
	return evenly(func(t float64) lab { return lch(0.72, 0.12, (30+360*t)*math.Pi/180) })
})

// evenly samples a path of colours at equal distances along it.
func evenly(path func(t float64) lab) []color.NRGBA {
	const fine = 4000
	length := make([]float64, fine+1)
	before := path(0)
	for i := 1; i <= fine; i++ {
		now := path(float64(i) / fine)
		length[i] = length[i-1] + now.distance(before)
		before = now
	}
	out := make([]color.NRGBA, mapSize)
	at := 0
	for i := range out {
		for at < fine && length[at] < length[fine]*float64(i)/(mapSize-1) {
			at++
		}
		out[i] = path(float64(at) / fine).color()
	}
	return out
}

// lab is a colour in OKLab (Ottosson 2020): lightness, green-red, blue-yellow.
// Its distances are close to those that people see.
type lab struct{ l, a, b float64 }

// lch returns a colour of the given lightness, chroma and hue, with reduced chroma if a screen
// cannot show it.
func lch(l, chroma, hue float64) lab {
	sin, cos := math.Sincos(hue)
	lo, hi := 0.0, 1.0
	for range 20 {
		mid := (lo + hi) / 2
		if (lab{l, mid * chroma * cos, mid * chroma * sin}).shown() {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lab{l, hi * chroma * cos, hi * chroma * sin}
}

func (c lab) distance(d lab) float64 {
	return math.Sqrt((c.l-d.l)*(c.l-d.l) + (c.a-d.a)*(c.a-d.a) + (c.b-d.b)*(c.b-d.b))
}

// linear returns the colour as linear sRGB.
func (c lab) linear() (r, g, b float64) {
	l := c.l + 0.3963377774*c.a + 0.2158037573*c.b
	m := c.l - 0.1055613458*c.a - 0.0638541728*c.b
	s := c.l - 0.0894841775*c.a - 1.2914855480*c.b
	l, m, s = l*l*l, m*m*m, s*s*s
	return 4.0767416621*l - 3.3077115913*m + 0.2309699292*s,
		-1.2684380046*l + 2.6097574011*m - 0.3413193965*s,
		-0.0041960863*l - 0.7034186147*m + 1.7076147010*s
}

func (c lab) shown() bool {
	r, g, b := c.linear()
	return min(r, g, b) >= 0 && max(r, g, b) <= 1
}

func (c lab) color() color.NRGBA {
	r, g, b := c.linear()
	return rgb(encode(r), encode(g), encode(b))
}

// encode applies the transfer function of sRGB.
func encode(v float64) uint8 {
	v = min(max(v, 0), 1)
	if v <= 0.0031308 {
		v *= 12.92
	} else {
		v = 1.055*math.Pow(v, 1/2.4) - 0.055
	}
	return uint8(math.Round(255 * v))
}
