// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"strings"
	"testing"
)

// What is seen where follows from the direction: from +x, y is to the right and z upwards; from above, x is downwards.
func TestVolumeIsSeenFromItsDirection(t *testing.T) {
	for _, c := range []struct {
		azimuth, elevation float64
		at                 [3]float64 // from the middle of the box
		x, y, near         float64
	}{
		{0, 0, [3]float64{1, 2, 3}, 2, 3, 1}, {math.Pi / 2, 0, [3]float64{1, 2, 3}, -1, 3, 2},
		{0, math.Pi / 2, [3]float64{1, 2, 3}, 2, -1, 3}, {math.Pi, 0, [3]float64{1, 2, 3}, -2, 3, -1},
	} {
		v := Volume{Size: [3]float64{20, 30, 40}, Azimuth: c.azimuth, Elevation: c.elevation}
		w := v.view()
		x, y, near := w.at([3]float64{10 + c.at[0], 15 + c.at[1], 20 + c.at[2]})
		if math.Abs(x-c.x)+math.Abs(y-c.y)+math.Abs(near-c.near) > 1e-12 {
			t.Errorf("%+v: %g %g %g", c, x, y, near)
		}
		hidden := 0
		for _, e := range v.edges(&w) {
			if e.hidden {
				hidden++
			}
		}
		if c.azimuth != 0 && hidden == 0 {
			t.Errorf("%+v: no edge is hidden", c)
		}
	}
	v := radial(ByAzimuth)
	if a := v.angle([3]float64{-1, 0, 0}); math.Abs(math.Mod(a, math.Pi)) > 1e-12 {
		t.Errorf("a director and its opposite have the azimuth 0 and %g", a)
	}
}

func TestVolumeRefuses(t *testing.T) {
	none, flat, other, colour := radial(""), radial(""), radial(""), radial("size")
	none.Sticks, flat.Size[2], other.Materials = nil, 0, nil
	for says, v := range map[string]Volume{"there are 0 voxels": none, "60 x 50 x 0 nm": flat, "there are 0 materials": other, `no colour "size"`: colour} {
		if _, err := Volume3D(v); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: want %q", err, says)
		}
	}
}

func BenchmarkVolume3D(b *testing.B) {
	v := radial(ByMaterial)
	for len(v.Sticks) < 3000 {
		v.Sticks = append(v.Sticks, v.Sticks...)
	}
	v.Sticks = v.Sticks[:3000]
	for b.Loop() {
		f, err := Volume3D(v)
		if err != nil {
			b.Fatal(err)
		}
		f.SVG()
	}
}
