// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"strings"
	"testing"
)

// A panel says where it is and what it shows, and a zoomed one shows no more than its window.
func TestFramesAndZoom(t *testing.T) {
	x, y, e := make([]float64, 101), make([]float64, 101), make([]float64, 101)
	for i := range x {
		x[i], y[i], e[i] = float64(i), math.Exp(-float64(i)/30), 0.01
	}
	f, err := Fit(Curve{Title: "decay", XLabel: "t (s)", YLabel: "g", X: x, Y: y, Err: e, Line: y})
	if err != nil {
		t.Fatal(err)
	}
	all := f.Frames()
	if len(all) == 0 || all[0].XLow > 0 || all[0].XHigh < 100 || all[0].Left <= 0 || all[0].Right >= 1 || all[0].Top >= all[0].Bottom {
		t.Fatalf("%+v", all)
	}
	kinds := map[string]string{}
	for _, d := range all[0].Data {
		kinds[d.Kind] = d.Name
	}
	if kinds["points"] != "data" || kinds["line"] != "model" {
		t.Errorf("%v", kinds)
	}
	whole := strings.Count(f.SVG(), "<path")
	if err := f.Zoom(0, Window{20, 40, 0.2, 0.5}); err != nil {
		t.Fatal(err)
	}
	if got := f.Frames()[0].Window; got != (Window{20, 40, 0.2, 0.5}) {
		t.Errorf("%+v", got)
	}
	if n := strings.Count(f.SVG(), "<path"); n > whole-100 {
		t.Errorf("%d marks in the window of %d", n, whole)
	}
	for _, bad := range []Window{{1, 1, 0, 1}, {2, 1, 0, 1}, {0, math.NaN(), 0, 1}, {0, 1, -math.MaxFloat64, math.MaxFloat64}} {
		if f.Zoom(0, bad) == nil {
			t.Errorf("%+v is shown", bad)
		}
	}
	if f.Zoom(9, Window{0, 1, 0, 1}) == nil {
		t.Error("a panel that does not exist is zoomed")
	}
	yes, c := true, f.Clone()
	if err := c.Scale(0, nil, &yes); err != nil {
		t.Fatal(err)
	}
	if f.Frames()[0].LogY {
		t.Error("a copy is not its own")
	}
	if a := c.Frames()[0]; !a.LogY || !(a.YLow > 0) || a.YHigh < 1 {
		t.Errorf("%+v", a.Window)
	}
}

// Of a million points those are drawn that can be seen: the ends of every column are there.
func TestDensePictures(t *testing.T) {
	const n = 200_000
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i), math.Sin(float64(i))
	}
	y[123_456] = 7 // a spike of one point
	f, err := Plots("dense", Lines{Curves: []Line{{Name: "a", X: x, Y: y}}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.SVG()); n > 500_000 {
		t.Errorf("%d bytes", n)
	}
	full := f.PNG()
	y[123_456] = 0.5
	if f, err = Plots("dense", Lines{Curves: []Line{{Name: "a", X: x, Y: y}}}); err != nil {
		t.Fatal(err)
	}
	if string(f.PNG()) == string(full) {
		t.Error("the spike is not drawn")
	}
}

// BenchmarkMillionPoints is the time of a picture of a curve of a million points with errors.
func BenchmarkMillionPoints(b *testing.B) {
	const n = 1_000_000
	x, y, e := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i], e[i] = float64(i), math.Sin(float64(i)/5e4), 0.1
	}
	for b.Loop() {
		f, err := Fit(Curve{X: x, Y: y, Err: e})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(f.SVG())), "bytes")
	}
}
