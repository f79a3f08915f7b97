// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package partition

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestEveryPixelHasABin checks, for random maps, that unmasked pixels and no others have bins, that bins ascend with the value, and
// that static bins subdivide dynamic ones.
func TestEveryPixelHasABin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(rt, "pixels")
		x := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(1e-6, 3), rapid.SampledFrom([]float64{0, 0.5, 1, math.NaN()})), n, n).Draw(rt, "values")
		mask := rapid.SliceOfN(rapid.Bool(), n, n).Draw(rt, "mask")
		phi := rapid.SliceOfN(rapid.Float64Range(-180, 180), n, n).Draw(rt, "phi")
		fold := rapid.IntRange(0, 6).Draw(rt, "fold")
		first := Axis{Name: "q", Values: x, Log: rapid.Bool().Draw(rt, "log")}
		second := Axis{Name: "phi", Values: phi, Offset: rapid.Float64Range(-400, 400).Draw(rt, "offset"), Fold: fold}
		s := Settings{Dynamic: [2]int{rapid.IntRange(1, 5).Draw(rt, "dq"), rapid.IntRange(1, 4).Draw(rt, "dp")}, Static: [2]int{rapid.IntRange(1, 20).Draw(rt, "sq"), 3}}
		p, err := New(first, second, mask, s)
		if err != nil {
			if first.Log {
				return // nothing positive
			}
			rt.Fatal(err)
		}
		if err := p.Check(); err != nil {
			rt.Fatal(err)
		}
		for i, keep := range mask {
			if p.Mask[i] != (keep && x[i] == x[i]) {
				rt.Fatalf("pixel %d: mask %v of %v and %v", i, p.Mask[i], keep, x[i])
			}
		}
		b, err := Divide(first, p.Mask, s.Dynamic[0])
		if err != nil {
			rt.Fatal(err)
		}
		for i := range x {
			for j := range x {
				if b.Of[i] > 0 && b.Of[j] > 0 && x[i] < x[j] && b.Of[i] > b.Of[j] {
					rt.Fatalf("%v is in bin %d, %v in bin %d", x[i], b.Of[i], x[j], b.Of[j])
				}
			}
		}
	})
}

// TestOddMaps checks maps of one value, of none, and what is refused.
func TestOddMaps(t *testing.T) {
	one, err := Divide(Axis{Name: "q", Values: []float64{2, 2, 2}}, []bool{true, true, false}, 4)
	if err != nil || one.Of[0] != 4 || one.Of[2] != 0 {
		t.Errorf("equal values: %v, %v", one, err)
	}
	none, err := Divide(Axis{Name: "q", Values: []float64{2, math.NaN()}}, []bool{false, true}, 3)
	if err != nil || none.Of[0] != 0 || none.Of[1] != 0 || len(none.Centers) != 3 {
		t.Errorf("no pixel: %v, %v", none, err)
	}
	for want, a := range map[string]Axis{"positive": {Name: "q", Values: []float64{0, -1}, Log: true}, "only q": {Name: "x", Values: []float64{1, 2}, Log: true},
		"only phi": {Name: "q", Values: []float64{1, 2}, Fold: 3}, "pixels": {Name: "q", Values: []float64{1}}, "finite angle": {Name: "phi", Values: []float64{1, 2}, Offset: math.Inf(1)}} {
		if _, err := Divide(a, []bool{true, true}, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

// TestFoldedCentres checks that every bin has a centre, also one without pixels in the first sector (the viewer's list is
// too short then).
func TestFoldedCentres(t *testing.T) {
	phi := make([]float64, 90)
	for i := range phi {
		phi[i] = -180 + float64(i)/2 // the third quarter alone
	}
	mask := make([]bool, len(phi))
	for i := range mask {
		mask[i] = true
	}
	b, err := Divide(Axis{Name: "phi", Values: phi, Fold: 2}, mask, 6)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Centers) != 6 {
		t.Fatalf("%d centres for 6 bins", len(b.Centers))
	}
	for k, c := range b.Centers {
		if math.IsNaN(c) || c <= -180 || c > 180 {
			t.Errorf("centre %d is %v", k, c)
		}
	}
}

// TestMerge joins rings, some pixels of which overlap.
func TestMerge(t *testing.T) {
	q := []float64{1, 2, 3, 4, 5, 6}
	of := func(mask []bool, n int) *Partition {
		p, err := New(Axis{Name: "q", Values: q}, Axis{Name: "phi", Values: make([]float64, 6)}, mask, Settings{Dynamic: [2]int{n, 1}, Static: [2]int{n, 1}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b := of([]bool{true, true, true, false, false, false}, 2), of([]bool{false, false, true, true, false, true}, 3)
	m, err := Merge(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
	if m.Dynamic.N != [2]int{5, 1} || len(m.Dynamic.Centers[0]) != 5 || m.Mask[4] || !m.Mask[5] || m.Dynamic.Of[2] != 2 {
		t.Errorf("merged: %+v, mask %v", m.Dynamic, m.Mask)
	}
	for i, k := range m.Dynamic.Of {
		if int(k) > m.Dynamic.Count() || k > 0 && math.Abs(m.Dynamic.Centers[0][m.Dynamic.Cell[k-1]]-q[i]) > 1 {
			t.Errorf("pixel %d with q %v is in bin %d at %v", i, q[i], k, m.Dynamic.Cell)
		}
	}
	b.Units[0] = "nm"
	if _, err := Merge(a, b); err == nil {
		t.Error("maps in different units were merged")
	}
}

// TestSpelling checks how numbers and texts enter the hash; expected values are those of Python's json.
func TestSpelling(t *testing.T) {
	for v, want := range map[float64]string{5000: "5000.0", 0.075: "0.075", 7.5e-05: "7.5e-05", 0.0001: "0.0001", 1e16: "1e+16", 123456789012345680: "1.2345678901234568e+17", 0: "0.0", -2.5: "-2.5"} {
		if got := number(v); got != want {
			t.Errorf("%v is spelled %s, want %s", v, got, want)
		}
	}
	if got, want := number(math.Inf(1))+number(math.Inf(-1))+number(math.NaN()), "Infinity-InfinityNaN"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := quoted("\u00e5 \"\\\U0001F600\x01"), `"\u00e5 \"\\\ud83d\ude00\u0001"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func BenchmarkDivide(b *testing.B) {
	const side = 1024
	q, mask := make([]float64, side*side), make([]bool, side*side)
	phi := make([]float64, side*side)
	for i := range q {
		y, x := float64(i/side)-500.3, float64(i%side)-480.7
		q[i], phi[i], mask[i] = 1e-5*math.Hypot(x, y), -180/math.Pi*math.Atan2(y, x), true
	}
	for b.Loop() {
		if _, err := New(Axis{Name: "q", Values: q}, Axis{Name: "phi", Values: phi}, mask, Settings{Dynamic: [2]int{36, 36}, Static: [2]int{360, 360}}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMaskedInOneMap checks that a pixel that only one of two divisions masks has no cell, whichever it is.
func TestMaskedInOneMap(t *testing.T) {
	a := &Bins{Of: []int32{1, 1, 0, 2, 2, 0}, Centers: []float64{1, 2}}
	b := &Bins{Of: []int32{1, 0, 2, 0, 2, 0}, Centers: []float64{3, 4}}
	c := Combine(a, b)
	if want := []int32{1, 0, 0, 0, 2, 0}; !slices.Equal(c.Of, want) || !slices.Equal(c.Cell, []int{0, 3}) {
		t.Errorf("cells %v at %v, want %v at 0 and 3", c.Of, c.Cell, want)
	}
}
