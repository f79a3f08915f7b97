// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"image"
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfCanvas corrects gonum's PDF canvas where it differs from the others: it applies the opacity of
// a colour twice, draws images upside down and without their transparent parts, and lacks Greek
// letters and the minus sign.
type pdfCanvas struct{ *vgpdf.Canvas }

var _ vg.Canvas = pdfCanvas{}

// straight is a colour whose components are not multiplied by its opacity, which PDF applies itself.
type straight struct{ color.NRGBA }

// RGBA returns the components as PDF expects them.
func (s straight) RGBA() (r, g, b, a uint32) {
	wide := func(v uint8) uint32 { return uint32(v) * 0x101 }
	return wide(s.R), wide(s.G), wide(s.B), wide(s.A)
}

func (c pdfCanvas) SetColor(col color.Color) {
	if n, ok := col.(color.NRGBA); ok {
		col = straight{n}
	}
	c.Canvas.SetColor(col)
}

func (c pdfCanvas) FillString(f font.Face, p vg.Point, s string) { outlines(c, f, p, s) }

// DrawImage flips the image and draws it completely, whatever was drawn last.
func (c pdfCanvas) DrawImage(r vg.Rectangle, img image.Image) {
	c.SetColor(paper)
	b := img.Bounds()
	if p, ok := img.(*image.Paletted); ok && p.Opaque() {
		turned := image.NewPaletted(b, p.Palette)
		for y := range b.Dy() {
			copy(turned.Pix[y*turned.Stride:], p.Pix[(b.Dy()-1-y)*p.Stride:][:b.Dx()])
		}
		c.Canvas.DrawImage(r, turned)
		return
	}
	turned := image.NewNRGBA(b)
	for y := range b.Dy() {
		for x := range b.Dx() {
			turned.Set(b.Min.X+x, b.Max.Y-1-y, img.At(b.Min.X+x, b.Min.Y+y))
		}
	}
	c.Canvas.DrawImage(r, turned)
}
