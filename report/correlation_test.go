// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/nexus"
)

// A masked pixel of the detector is grey, and what it counts does not set the range of the colours.
func TestMaskedPixelsHaveNoColour(t *testing.T) {
	draw := func(hot float64) string {
		const side = 8
		image := &nexus.Matrix{Rows: side, Cols: side}
		keep := make([]bool, side*side)
		for i := range keep {
			image.Data, keep[i] = append(image.Data, float64(1+i%5)), true
		}
		image.Data[20], keep[20] = hot, false
		f, err := Scattering2D(&nexus.Result{Image: image, QMap: &nexus.QMap{Maps: &nexus.Maps{Height: side, Width: side, Mask: keep}}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(f.Note, "1 of 64 pixels are masked") {
			t.Error(f.Note)
		}
		return f.SVG()
	}
	if draw(3) != draw(1e9) {
		t.Error("a masked pixel of 1e9 counts changes the picture")
	}
}
