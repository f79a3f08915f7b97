package viz

import (
	"image"
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfCanvas mends what gonum's canvas of PDF does otherwise than the others: it
// darkens clear colours twice, lays images on their heads and without their
// clear parts, and has no Greek letters and no minus sign.
type pdfCanvas struct{ *vgpdf.Canvas }

var _ vg.Canvas = pdfCanvas{}

// straight is a colour whose parts are not multiplied with its opacity, which
// PDF applies itself.
type straight struct{ color.NRGBA }

// RGBA returns the parts as PDF wants them.
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

// DrawImage turns the image over and draws it in full, whatever was drawn last.
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
