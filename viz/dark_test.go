// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"image/color"
	"math"
	"strings"
	"testing"
)

// luminance is that of WCAG 2.
func luminance(c color.NRGBA) float64 {
	return 0.2126*decode(c.R) + 0.7152*decode(c.G) + 0.0722*decode(c.B)
}

func contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a)+0.05, luminance(b)+0.05
	return max(x, y) / min(x, y)
}

// In a dark surrounding letters have a contrast of 4.5 and lines one of 3, as in a light one.
func TestDarkColoursCanBeSeen(t *testing.T) {
	night := darkened(paper)
	for name, c := range map[string]color.NRGBA{"ink": ink, "soft": soft} {
		if got := contrast(darkened(c), night); got < 4.5 {
			t.Errorf("%s has a contrast of %.2f: want 4.5", name, got)
		}
	}
	for i, c := range append([]color.NRGBA{highlit}, okabeIto...) {
		if got := contrast(darkened(c), night); got < 3 {
			t.Errorf("colour %d has a contrast of %.2f: want 3", i, got)
		}
		a, b := labOf(c), labOf(darkened(c))
		if turn := math.Remainder(math.Atan2(a.b, a.a)-math.Atan2(b.b, b.a), 2*math.Pi); math.Abs(turn) > 0.1 {
			t.Errorf("colour %d turns by %.2f rad of hue", i, turn)
		}
	}
	if c := labOf(ink).color(); c != ink {
		t.Errorf("OKLab and back make %v of %v", c, ink)
	}
}

// The dark picture has the same lines and letters as the light one, and no dark letter.
func TestDarkPicture(t *testing.T) {
	f, err := Trace(Draws{Names: []string{"tau"}, X: [][][]float64{{{1, 2, 3, 2, 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	light, dark := f.SVG(), f.DarkSVG()
	if strings.Count(light, "<path") != strings.Count(dark, "<path") || len(light) != len(dark) {
		t.Errorf("the dark picture has %d bytes and the light one %d", len(dark), len(light))
	}
	if strings.Contains(dark, "#262B33") || !strings.Contains(light, "#262B33") {
		t.Error("the dark picture has dark letters")
	}
}

// Pixels without a value are dark in a dark surrounding.
func TestDarkPixels(t *testing.T) {
	f := must1(Heat(Image{Z: [][]float64{{1, 2}, {math.NaN(), 3}}}))
	light, dark := f.SVG(), f.DarkSVG()
	image := func(svg string) string {
		_, after, _ := strings.Cut(svg, "data:image/png;base64,")
		data, _, _ := strings.Cut(after, "\"")
		return data
	}
	if image(light) == "" || image(light) == image(dark) || f.SVG() != light {
		t.Error("pixels without a value are as light as in a light surrounding, or stay dark")
	}
	if c := darkened(absent); luminance(c) > 0.1 {
		t.Errorf("they have a luminance of %.2f", luminance(c))
	}
}
