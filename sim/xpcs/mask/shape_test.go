// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func raster(p []Point, height, width int) []bool {
	out := make([]bool, height*width)
	fill(p, height, width, func(i int) { out[i] = true })
	return out
}

// A raster does not depend on where the outline begins or on the way round, and shifts and mirrors with it.
func TestRasterSymmetries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p []Point
		for range rapid.IntRange(3, 7).Draw(t, "vertices") {
			// quarters, so that edges pass through pixels and sums are exact
			p = append(p, Point{float64(rapid.IntRange(-8, 70).Draw(t, "row")) / 4, float64(rapid.IntRange(-8, 70).Draw(t, "column")) / 4})
		}
		const n = 16
		want := raster(p, n, n)
		turned := slices.Concat(p[1:], p[:1])
		slices.Reverse(turned)
		if !slices.Equal(raster(turned, n, n), want) {
			t.Fatal("the way round changes the raster")
		}
		mirrored := slices.Clone(p)
		for i, v := range p {
			mirrored[i] = Point{v[1], n - 1 - v[0]}
		}
		got := raster(mirrored, n, n)
		for r := range n {
			for c := range n {
				if got[c*n+n-1-r] != want[r*n+c] {
					t.Fatalf("pixel (%d, %d) after a quarter turn", r, c)
				}
			}
		}
		for i, v := range p {
			if v[0] == math.Round(v[0]) && v[1] == math.Round(v[1]) && v[0] >= 0 && v[0] < n && v[1] >= 0 && v[1] < n && !want[int(v[0])*n+int(v[1])] {
				t.Fatalf("vertex %d at %v is left out", i, v)
			}
		}
	})
}

// The area of a raster is that of the shape.
func TestAreas(t *testing.T) {
	for _, c := range []struct {
		s    Shape
		area float64
	}{
		{Shape{Kind: Circle, Center: Point{100.3, 99.8}, Radius: 60}, math.Pi * 3600},
		{Shape{Kind: EllipseShape, Center: Point{100.3, 99.8}, Axes: Point{60, 25}, AngleDeg: 33}, math.Pi * 1500},
		{Shape{Kind: Rectangle, Center: Point{100.3, 99.8}, Size: Point{80, 45}, AngleDeg: -17}, 3600},
		{Shape{Kind: Line, From: Point{20, 33}, To: Point{150, 170}, Width: 11}, math.Hypot(130, 137) * 11},
	} {
		c.s.Inclusive = true
		m, err := draw(200, 200, []Shape{c.s})
		if err != nil {
			t.Fatal(err)
		}
		if n := float64(m.Count()); math.Abs(n/c.area-1) > 0.01 {
			t.Errorf("%s: %g pixels, want about %g", c.s.Kind, n, c.area)
		}
	}
}

// An ellipse that is drawn has the moments that it was drawn with.
func TestMomentsOfDrawnEllipses(t *testing.T) {
	for _, angle := range []float64{0, 30, 90, 135, 170} {
		s := Shape{Kind: EllipseShape, Inclusive: true, Center: Point{101.2, 97.6}, Axes: Point{25, 70}, AngleDeg: angle, Sides: 720}
		m, err := draw(200, 200, []Shape{s})
		if err != nil {
			t.Fatal(err)
		}
		e, err := Moments(m)
		if err != nil {
			t.Fatal(err)
		}
		// The long axis lies along columns and is turned from rows towards columns, which is the other way round than Angle.
		off := math.Mod(e.Angle*180/math.Pi+angle+360+90, 180) - 90
		if math.Abs(off) > 0.3 || math.Abs(e.Major-140) > 0.5 || math.Abs(e.Minor-50) > 0.5 || math.Hypot(e.Row-101.2, e.Col-97.6) > 0.05 {
			t.Errorf("drawn at %g degrees: %+v", angle, e)
		}
		rho, phi, err := e.Maps(200, 200)
		if err != nil {
			t.Fatal(err)
		}
		outside := 0
		for i, k := range m.Keep {
			if k != (rho[i] <= 1) {
				outside++
			}
			if !(phi[i] >= -180 && phi[i] <= 180) {
				t.Fatalf("phi is %g degrees", phi[i])
			}
		}
		if outside > 60 { // of some 350 pixels on the edge
			t.Errorf("at %g degrees %d pixels lie on the wrong side of rho = 1", angle, outside)
		}
	}
	if _, err := Moments(&Mask{2, 2, make([]bool, 4)}); err == nil {
		t.Error("no pixels have moments")
	}
	line := &Mask{3, 3, make([]bool, 9)}
	line.Keep[0], line.Keep[4], line.Keep[8] = true, true, true
	if _, err := Moments(line); err == nil {
		t.Error("a line has an ellipse")
	}
	if _, _, err := (Ellipse{}).Maps(3, 3); err == nil {
		t.Error("an ellipse without axes has maps")
	}
}

// NaN is no intensity, whatever limits are on.
func TestNaNIsMasked(t *testing.T) {
	s := Source{Height: 1, Width: 3, Image: []float64{1, math.NaN(), 3}}
	m, _, err := Step{Threshold: &Threshold{NoLow: true, NoHigh: true}}.Mask(s, nil)
	if err != nil || !slices.Equal(m.Keep, []bool{true, false, true}) {
		t.Error(m, err)
	}
}

// A constant region has no outliers, and neither ring nor tile is upset by one without pixels.
func TestConstantRegions(t *testing.T) {
	s := Source{Height: 4, Width: 4, Image: slices.Repeat([]float64{5}, 16), Maps: map[string][]float64{"q": make([]float64, 16)}}
	for i := range 16 {
		s.Maps["q"][i] = float64(i / 8 * 4)
	}
	s.Image[3] = math.NaN()
	for _, o := range []Outliers{{Rings: 4}, {Tile: 2, Method: MAD}, {Tile: 3}} {
		m, regions, err := Step{Outliers: &o}.Mask(s, nil)
		if err != nil || m.Count() != 16 || len(regions) == 0 {
			t.Errorf("%+v: %v, %d regions, %v", o, m, len(regions), err)
		}
		for _, r := range regions {
			if r.Reference != 5 || r.Limit != 5 || r.Max != 5 || r.Mean != 5 {
				t.Errorf("%+v: %+v", o, r)
			}
		}
	}
}
