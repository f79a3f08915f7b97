// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/viz"
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
		f, err := Scattering2D(&nexus.Result{Image: image, QMap: &nexus.QMap{Maps: &nexus.Maps{Height: side, Width: side, Mask: keep}}}, false)
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

// Parts have their times in numbers where the file says them.
func TestPartsHaveTimes(t *testing.T) {
	for want, got := range map[string]string{"age 0.4 to 0.8 s": partName("age", 1, 5, 2), "part 2": partName("part", 1, 5, 0)} {
		if got != want {
			t.Errorf("the part is called %q, want %q", got, want)
		}
	}
	r := &nexus.Result{Trace: &nexus.Trace{Frame: []float64{0, 10, 20, 30}}}
	if n := framesOf(r); n != 40 {
		t.Errorf("%g frames of a trace of 4 values, each for 10 frames", n)
	}
}

// The title of a bin has the mean q of its pixels, as the fits of it have, where the map knows that.
func TestBinsHaveTheirMeanQ(t *testing.T) {
	q := &nexus.QMap{Dynamic: nexus.Partition{Axis0: []float64{0.0012, 0.0021}, Axis1: []float64{0}, Cells: []int{0, 1}}}
	if got := binTitle(q, 2); !strings.Contains(got, "q=0.00210") {
		t.Error(got)
	}
	if q.BinQ = []float64{0.00125, 0.00213}; !strings.Contains(binTitle(q, 2), "bin 2: q=0.00213") {
		t.Error(binTitle(q, 2))
	}
}

// Diagonals far from the main one are means of few entries, so neighbouring ones are drawn as their mean.
func TestDiagonalsAreAveraged(t *testing.T) {
	var l viz.Line
	for i := range 100 {
		l.X, l.Y = append(l.X, float64(i+1)), append(l.Y, 2*float64(i+1))
	}
	l.Y[99] = math.NaN()
	got := logMeans(l)
	if n := len(got.X); n < 15 || n > 25 || got.X[0] != 1 || got.X[n-1] < 85 {
		t.Errorf("%d points at %v", len(got.X), got.X)
	}
	for i, x := range got.X {
		if math.Abs(got.Y[i]-2*x) > 1e-9 {
			t.Errorf("mean %g at %g, want %g", got.Y[i], x, 2*x)
		}
	}
}
