// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskpage

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"net/http"
	"strconv"

	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

// anchors are colours of intensity from dark to light.
var anchors = []color.NRGBA{{8, 8, 24, 255}, {44, 20, 92, 255}, {118, 28, 120, 255}, {188, 50, 96, 255}, {236, 104, 52, 255}, {250, 176, 56, 255}, {252, 250, 200, 255}}

const (
	shades  = 254 // entries of the palette from dark to light
	nothing = 254 // entry of the pixels that are not numbers
)

var palette = func() color.Palette {
	all := make(color.Palette, shades+1)
	for i := range shades {
		t := float64(i) / (shades - 1) * float64(len(anchors)-1)
		k := min(int(t), len(anchors)-2)
		mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (t-float64(k))*(float64(b)-float64(a)))) }
		a, b := anchors[k], anchors[k+1]
		all[i] = color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
	}
	all[nothing] = color.NRGBA{70, 84, 90, 255}
	return all
}()

// imagePNG draws the image between two levels, which the query gives, in a logarithmic or linear scale.
func (p *Page) imagePNG(r *http.Request) (any, error) {
	low, err1 := strconv.ParseFloat(r.FormValue("low"), 64)
	high, err2 := strconv.ParseFloat(r.FormValue("high"), 64)
	scale := func(v float64) float64 { return v }
	if r.FormValue("scale") == "log" {
		scale = math.Log
		low = math.Max(low, 1e-300)
	}
	if err1 != nil || err2 != nil || !(low < high) || math.IsInf(high-low, 0) {
		return nil, fmt.Errorf("the colour range goes from %q to %q: want two numbers, the smaller one first", r.FormValue("low"), r.FormValue("high"))
	}
	pic := image.NewPaletted(image.Rect(0, 0, p.c.Image.Width, p.c.Image.Height), palette)
	a, b := scale(low), scale(high)
	for i, v := range p.c.Image.Values {
		switch t := (scale(v) - a) / (b - a); {
		case math.IsNaN(v):
			pic.Pix[i] = nothing
		case v <= low || !(t > 0):
			pic.Pix[i] = 0
		default:
			pic.Pix[i] = uint8(math.Min(t, 1) * (shades - 1))
		}
	}
	return encoded(pic, 0)
}

// barPNG draws the colours from dark to light, one pixel each.
func (p *Page) barPNG(*http.Request) (any, error) {
	pic := image.NewPaletted(image.Rect(0, 0, shades, 1), palette)
	for i := range pic.Pix {
		pic.Pix[i] = uint8(i)
	}
	return encoded(pic, 0)
}

// masked are the colours of the pixels that are kept, masked, and masked by a step that is not applied yet.
var masked = color.Palette{color.NRGBA{}, color.NRGBA{0, 158, 115, 165}, color.NRGBA{86, 180, 233, 210}}

func (p *Page) maskPNG(*http.Request) (any, error) { return overlay(p.now, nil) }

// previewPNG draws the mask as it would be after a step.
func (p *Page) previewPNG(r *http.Request) (any, error) {
	var s mask.Step
	if err := read(r, &s); err != nil {
		return nil, err
	}
	then, _, err := p.h.Preview(s)
	if err != nil {
		return nil, err
	}
	return overlay(p.now, then)
}

func overlay(now, then *mask.Mask) (any, error) {
	pic := image.NewPaletted(image.Rect(0, 0, now.Width, now.Height), masked)
	kept := now.Count()
	for i, k := range now.Keep {
		switch {
		case !k:
			pic.Pix[i] = 1
		case then != nil && !then.Keep[i]:
			pic.Pix[i] = 2
			kept--
		}
	}
	return encoded(pic, kept)
}

var ringColors = color.Palette{color.NRGBA{}, color.NRGBA{255, 255, 255, 150}}

// edges draws the pixels whose neighbour to the right or below is in another bin.
func edges(bins []int32, height, width int) (any, error) {
	pic := image.NewPaletted(image.Rect(0, 0, width, height), ringColors)
	for i, b := range bins {
		right := i%width+1 < width && bins[i+1] != b && bins[i+1] != 0
		below := i+width < len(bins) && bins[i+width] != b && bins[i+width] != 0
		if b != 0 && (right || below) {
			pic.Pix[i] = 1
		}
	}
	return encoded(pic, 0)
}

func encoded(pic image.Image, kept int) (any, error) {
	var b bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestSpeed}
	err := e.Encode(&b, pic)
	return picture{b.Bytes(), kept}, err
}
