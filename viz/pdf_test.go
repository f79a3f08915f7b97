// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"image"
	"image/color"
	"testing"

	"gonum.org/v1/plot/vg/vgpdf"
)

// PDF multiplies with the opacity itself: a clear colour must come as it is.
func TestClearColoursInPDF(t *testing.T) {
	r, g, b, a := straight{color.NRGBA{200, 100, 50, 64}}.RGBA()
	if r>>8 != 200 || g>>8 != 100 || b>>8 != 50 || a>>8 != 64 {
		t.Error(r>>8, g>>8, b>>8, a>>8)
	}
}

// Images of PDF stand on their heads unless they are turned before; palettes
// with clear colours must become full pixels.
func TestImagesInPDF(t *testing.T) {
	for _, p := range []color.Palette{{paper, ink}, shades(pooled)} {
		c := pdfCanvas{vgpdf.New(100, 100)}
		img := image.NewPaletted(image.Rect(0, 0, 3, 2), p)
		img.Pix[0] = 1
		c.DrawImage(frame{}.Rectangle, img)
		if img.Pix[0] != 1 || img.Pix[3] != 0 {
			t.Error("the image was changed")
		}
	}
}
