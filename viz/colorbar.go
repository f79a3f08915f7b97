// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"image"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// colorbar is the scale of colours to the right of an image.
type colorbar struct {
	axis   axis
	colors []color.NRGBA
}

const (
	barGap   vg.Length = 9
	barWidth vg.Length = 10
)

// index returns the colour of a value, or the index after the last for no value.
func (b *colorbar) index(v float64) uint8 {
	n := len(b.colors)
	if !b.axis.can(v) {
		return uint8(n)
	}
	return uint8(min(max(int(b.axis.at(v)*float64(n)), 0), n-1))
}

// width returns the width of the bar with its labels.
func (b *colorbar) width() vg.Length {
	w := barGap + barWidth + tickLength + 3 + b.tickWidth()
	if b.axis.label != "" {
		w += 1.6 * labelSize
	}
	return w
}

func (b *colorbar) tickWidth() (w vg.Length) {
	for _, t := range b.axis.ticks {
		w = max(w, tickText.width(t.label))
	}
	return w
}

// draw draws the bar beside the frame c.
func (b *colorbar) draw(c draw.Canvas) {
	bar := vg.Rectangle{Min: vg.Point{X: c.Max.X + barGap, Y: c.Min.Y}, Max: vg.Point{X: c.Max.X + barGap + barWidth, Y: c.Max.Y}}
	img := image.NewNRGBA(image.Rect(0, 0, 8, 4*len(b.colors)))
	for y := range img.Rect.Dy() {
		for x := range 8 {
			img.Set(x, y, b.colors[len(b.colors)-1-y/4])
		}
	}
	c.DrawImage(bar, img)
	x := bar.Max.X
	for _, t := range b.axis.ticks {
		at := b.axis.at(t.at)
		if at < -1e-9 || at > 1+1e-9 {
			continue
		}
		y := c.Y(at)
		c.StrokeLine2(frameLine, x, y, x+t.length(), y)
		if t.label != "" {
			tickText.draw(c.Canvas, vg.Point{X: x + tickLength + 2, Y: y}, left, middle, t.label)
		}
	}
	if b.axis.label != "" {
		p := vg.Point{X: x + tickLength + b.tickWidth() + 5, Y: c.Center().Y}
		labelText.upright(c.Canvas, p, middle, top, b.axis.title())
	}
}
