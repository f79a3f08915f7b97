// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden pictures")

// goldenDPI keeps the pictures in testdata small.
const goldenDPI = 48

func TestGallery(t *testing.T) {
	for name, draw := range gallery() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := draw()
			if err != nil {
				t.Fatal(err)
			}
			valid(t, f)
			printable(t, f)
			compare(t, name, f.pixels(goldenDPI))
		})
	}
}

var embedded = regexp.MustCompile(`base64,[^"]*`)

// valid checks that all formats can be read.
func valid(t *testing.T, f *Figure) {
	t.Helper()
	svg := f.SVG()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		_, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("SVG: %v", err)
		}
	}
	if svg = embedded.ReplaceAllString(svg, ""); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
		t.Error("SVG with coordinates that are not finite")
	}
	img, err := png.Decode(bytes.NewReader(f.pixels(30)))
	if err != nil {
		t.Fatalf("PNG: %v", err)
	}
	if w, want := img.Bounds().Dx(), int(30*f.Width); w < want-1 || w > want+1 {
		t.Errorf("PNG is %d pixels wide, want %d", w, want)
	}
}

// printable checks the slowest format.
func printable(t *testing.T, f *Figure) {
	t.Helper()
	if b := f.PDF(); !bytes.HasPrefix(b, []byte("%PDF-")) || !bytes.Contains(b, []byte("%%EOF")) {
		t.Errorf("PDF of %d bytes is none", len(b))
	}
}

// compare allows for processors that round differently: lines may be a little
// lighter, but no more than one pixel in 200 may differ plainly.
func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden.png")
	if *update {
		os.MkdirAll("testdata", 0o755)
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a, errA := png.Decode(bytes.NewReader(got))
	b, errB := png.Decode(bytes.NewReader(file))
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if d := differences(a, b); d > 0.005 {
		t.Errorf("%.2f %% of the pixels of %s differ; look at it and rewrite with -update", 100*d, path)
	}
}

// differences is the share of pixels that differ plainly.
func differences(a, b image.Image) float64 {
	if a.Bounds() != b.Bounds() {
		return 1
	}
	n, bad := 0, 0
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			n++
			r0, g0, b0, _ := a.At(x, y).RGBA()
			r1, g1, b1, _ := b.At(x, y).RGBA()
			if max(apart(r0, r1), apart(g0, g1), apart(b0, b1)) > 40<<8 {
				bad++
			}
		}
	}
	return float64(bad) / float64(n)
}

func apart(a, b uint32) uint32 { return max(a, b) - min(a, b) }

func TestComparisonSeesAChange(t *testing.T) {
	c := g2Curve(0)
	a, _ := Fit(c)
	c.Y[20] += 0.1
	b, _ := Fit(c)
	x, _ := png.Decode(bytes.NewReader(a.pixels(goldenDPI)))
	y, _ := png.Decode(bytes.NewReader(b.pixels(goldenDPI)))
	if d := differences(x, y); d < 0.005 {
		t.Errorf("a moved point changes %.3f %% of the pixels", 100*d)
	}
}

func TestEncode(t *testing.T) {
	f, err := Energy(posterior(2, 50))
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range append(Formats(), ".SVG", "Png") {
		if b, err := f.Encode(format); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", format, len(b), err)
		}
	}
	if _, err := f.Encode("gif"); err == nil || err.Error() != `viz: there is no format "gif": want one of svg, png, pdf` {
		t.Error(err)
	}
}

func TestResolution(t *testing.T) {
	f, err := Energy(posterior(2, 50))
	if err != nil {
		t.Fatal(err)
	}
	f.DPI = 300
	b := f.PNG()
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil || img.Bounds().Dx() != int(300*f.Width) {
		t.Error(err, img.Bounds())
	}
	if !bytes.Contains(b, []byte("pHYs\x00\x00\x2e\x23")) { // 11811 per metre
		t.Error("the file does not say 300 dpi")
	}
}

func TestDrawingTwiceDrawsTheSame(t *testing.T) {
	for name, draw := range gallery() {
		f, err := draw()
		if err != nil {
			t.Fatal(err)
		}
		if a, b := f.SVG(), f.SVG(); a != b {
			t.Errorf("%s changes when drawn again", name)
		}
	}
}

func TestNotebook(t *testing.T) {
	f, err := Fit(g2Curve(0))
	if err != nil {
		t.Fatal(err)
	}
	m := f.SimpleRender()
	if s, _ := m["image/svg+xml"].(string); !strings.HasPrefix(s, "<?xml") {
		t.Error("no SVG")
	}
	if s := fmt.Sprint(m["text/plain"]); !strings.Contains(s, "in)") {
		t.Error(s)
	}
}
