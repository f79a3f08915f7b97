// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// Figures of fits and images are the same after they were kept.
func TestKeptFigures(t *testing.T) {
	x := []float64{1, 2, 3, 4}
	c := Curve{Title: "bin 1", XLabel: "delay (s)", YLabel: "g2", LogX: true, X: x, Y: []float64{1.2, math.NaN(), 1.1, 1}, Err: []float64{.1, .1, .1, .1},
		LineX: x, Line: []float64{1.2, 1.15, 1.1, 1}, Low: []float64{1, 1, 1, .9}, High: []float64{1.3, 1.2, 1.2, 1.1}, Others: []Line{{Name: "before", X: x, Y: x}}}
	im := Image{Title: "image", ZLabel: "counts", Log: true, Equal: true, RowsDown: true, Y: []float64{-2, -1}, Z: [][]float64{{1, 2, 3}, {4, math.NaN(), 6}}, Lines: []Line{{X: []float64{0, 2}, Y: []float64{-2, -1}}}, Arrows: []Arrow{{X: 1, Y: -1, DX: .5}}}
	arm := SpectrumArm{Name: "b", Wave: x, Flux: x, Err: x, Model: x, Masked: []bool{false, true, false, false}}
	for name, draw := range map[string]func() (*Figure, error){
		"fit": func() (*Figure, error) { return Fit(c) }, "grid": func() (*Figure, error) { return Grid([]Curve{c, c, c}) }, "stack": func() (*Figure, error) { return Stack([]Curve{c, c}, 0.1) },
		"heat": func() (*Figure, error) { return Heat(im) }, "images": func() (*Figure, error) { return Images("two", [][]Image{{im, {}}}) },
		"spectrum": func() (*Figure, error) { return Spectrum("star", []SpectrumArm{arm}) },
		"parameters": func() (*Figure, error) {
			return Parameters(Against{Label: "q (1/Å)", Log: true, X: x}, Series{Name: "tau", Unit: "s", Log: true, Y: x, Err: x})
		},
	} {
		f, err := draw()
		if err != nil {
			t.Fatal(err)
		}
		b, err := f.Keep()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		g, err := Kept(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if f.SVG() != g.SVG() {
			t.Errorf("%s: the figure is not as it was", name)
		}
		if again, err := g.Keep(); err != nil || !bytes.Equal(again, must(f.Keep())) {
			t.Errorf("%s: the document of the figure that was made again differs: %v", name, err)
		}
	}
}

func must(b []byte, _ error) []byte { return b }

// Rasters and plots of others cannot be kept, and documents that are no figures are refused with a reason.
func TestFiguresThatAreNotKept(t *testing.T) {
	f, err := Raster("r", Firing{Area: "A", Steps: []int{1}, Winners: [][]int32{{1}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*Figure{f, FromPlots("t", "")} {
		if _, err := f.Keep(); !errors.Is(err, ErrNotKept) {
			t.Errorf("%v", err)
		}
	}
	panel := `{"x":{"range":[0,1]},"y":{"range":[0,1]},"marks":[MARK]}`
	whole := `{"euryale_figure":1,"width_in":4,"height_in":3,"rows":[[PANEL]],"gaps":[0,0],"labels":["",""]}`
	with := func(mark string) string {
		return strings.ReplaceAll(whole, "PANEL", strings.ReplaceAll(panel, "MARK", mark))
	}
	for text, want := range map[string]string{
		"{": "cannot be read", `{"euryale_figure":2}`: "version 2", `{"euryale_figure":1}`: "0 by 0 inches", strings.ReplaceAll(whole, "[PANEL]", ""): "rows",
		strings.ReplaceAll(whole, "PANEL", `{"x":{"log":true,"range":[-1,1]},"marks":[]}`): "from -1 to 1",
		with(`{"kind":"image","z":[[1,2],[3]],"color":"00000000"}`):                        "image", with(`{"kind":"horizontal","color":"00000000"}`): "horizontal", with(`{"kind":"line","color":"red"}`): "colour",
	} {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(text))
		w.Close()
		if _, err := Kept(b.Bytes()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Kept([]byte("no document")); err == nil {
		t.Error("text was taken")
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(with(`{"kind":"line","x":[0,1],"y":[0,null],"color":"000000ff","width":1}`)))
	w.Close()
	if f, err := Kept(b.Bytes()); err != nil || !strings.Contains(f.SVG(), "<svg") {
		t.Error(err)
	}
}

// FuzzKept finds no document whose figure cannot be drawn.
func FuzzKept(f *testing.F) {
	fig, err := Fit(Curve{X: []float64{1, 2}, Y: []float64{1, 2}, Line: []float64{1, 2}})
	if err != nil {
		f.Fatal(err)
	}
	b, _ := fig.Keep()
	r, _ := gzip.NewReader(bytes.NewReader(b))
	var text bytes.Buffer
	text.ReadFrom(r)
	f.Add(text.Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(text)
		w.Close()
		if fig, err := Kept(b.Bytes()); err == nil && fig.Width < 20 && fig.Height < 20 {
			fig.SVG()
		}
	})
}

// Pixels of a picture that was zoomed show the cells at their place, and none beyond the cells.
func TestPixelsShowTheirCells(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		n         int
		want      [][2]int
	}{{0, 2, 2, [][2]int{{0, 1}, {1, 2}}}, {-2, 4, 6, [][2]int{{}, {}, {0, 1}, {1, 2}, {}, {}}}, {0.5, 1, 2, [][2]int{{0, 1}, {0, 1}}}} {
		if got := cuts([]float64{0, 1, 2}, &axis{lo: c.low, hi: c.high}, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%g to %g: %v, want %v", c.low, c.high, got, c.want)
		}
	}
	f, err := Raster("r", Firing{Area: "A", Steps: []int{1, 2, 3, 4}, Winners: [][]int32{{1, 2}, {2, 3}, {3, 4}, {4, 5}}})
	if err != nil {
		t.Fatal(err)
	}
	whole := f.pixels(40)
	if err := f.Zoom(0, Window{XLow: 3.5, XHigh: 4.5, YLow: 0, YHigh: 2}); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(whole, f.pixels(40)) || len(f.Frames()[0].Data) != 2 {
		t.Errorf("the raster does not zoom, or has no data: %v", f.Frames()[0].Data)
	}
}
