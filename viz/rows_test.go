// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"strings"
	"testing"
)

// Panels that stand side by side only because there is room go into fewer columns, in their order and with ticks at the borders.
func TestReflow(t *testing.T) {
	var curves []Curve
	for i := range 7 {
		curves = append(curves, Curve{Title: fmt.Sprint("bin ", i), XLabel: "t (s)", YLabel: "g2", X: []float64{1, 2}, Y: []float64{1, 2}})
	}
	f := must1(Grid(curves))
	wide := f.Clone()
	f.Width, f.Height = 4, f.Height*4/f.Width
	f.Reflow(1.9)
	if f.Rows() != 4 || wide.Rows() != 3 {
		t.Errorf("%d rows, and %d in the picture that was cloned", f.Rows(), wide.Rows())
	}
	for i, a := range f.Frames() {
		if a.Title != fmt.Sprint("bin ", i) {
			t.Errorf("panel %d is %s", i, a.Title)
		}
	}
	if p := f.grid.rows[3][0]; p.x.bare || p.y.bare || f.grid.rows[3][1] != nil || !f.grid.rows[0][1].y.bare {
		t.Error("ticks are not at the borders of the picture")
	}
	kept, err := Kept(must(f.Keep()))
	if err != nil {
		t.Fatal(err)
	}
	if kept.Width = 2; kept.grid.flows {
		kept.Reflow(1.9)
	}
	if kept.Rows() != 7 {
		t.Errorf("a kept picture has %d rows", kept.Rows())
	}
	im := Image{Z: [][]float64{{1, 2}, {3, 4}}}
	table := must1(Images("table", [][]Image{{im, im, im}, {im, {}, im}}))
	if table.Reflow(1.9); table.Rows() != 2 {
		t.Error("a table of images that has room was put into other rows")
	}
	if table.Width = 4; !strings.Contains(table.SVG(), "table") {
		t.Error("the picture has no title")
	}
	if table.Reflow(1.9); table.Rows() != 5 || len(table.Frames()) != 5 {
		t.Errorf("a crowded table of 5 images has %d rows", table.Rows())
	}
}

// A row of a table of images is drawn alone, and a kept picture says how many there are.
func TestRowsOfImages(t *testing.T) {
	var rows [][]Image
	for i := range 3 {
		rows = append(rows, []Image{{Title: fmt.Sprint(280+i, " eV"), Z: [][]float64{{1, 2}, {3, 4}}}, {Title: "fit", Z: [][]float64{{1, 2}, {3, 5}}}})
	}
	f := must1(Images("Patterns", rows))
	b := must(f.Keep())
	if n := KeptRows(b[:min(len(b), 64)]); n != 3 {
		t.Errorf("%d rows are told", n)
	}
	if n := KeptRows(must(must1(Fit(Curve{X: []float64{1, 2}, Y: []float64{1, 2}, Line: []float64{1, 2}})).Keep())); n != 0 {
		t.Errorf("%d rows of images are told of a fit", n)
	}
	second, err := f.Row(2)
	if err != nil {
		t.Fatal(err)
	}
	if svg := second.SVG(); !strings.Contains(svg, "281 eV") || strings.Contains(svg, "280 eV") || second.Height >= f.Height || len(f.Frames()) != 6 {
		t.Errorf("%d panels, %g inches tall", len(second.Frames()), second.Height)
	}
	for _, n := range []int{0, 4} {
		if _, err := f.Row(n); err == nil || !strings.Contains(err.Error(), "3 rows") {
			t.Errorf("row %d: %v", n, err)
		}
	}
}

func must1(f *Figure, err error) *Figure {
	if err != nil {
		panic(err)
	}
	return f
}
