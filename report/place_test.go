// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/nexus"
)

// A point of the detector has q, azimuth, pixel and bin, and those of no bin and of masked pixels say so.
func TestPlacesOnTheDetector(t *testing.T) {
	q := &nexus.QMap{BeamX: 1, BeamY: 2, PixelSize: 1e-4, Distance: 1, Energy: 12.398419843320026 / (2 * math.Pi), // q of a pixel is 1e-4/angstrom
		Dynamic: nexus.Partition{Axis0: []float64{1e-4, 3e-4}, Axis1: []float64{45, 135, 225, 315}, Cells: []int{1}},
		Maps:    &nexus.Maps{Height: 3, Width: 3, Mask: []bool{true, true, false, true, true, true, true, true, true}, Dynamic: []int32{1, 0, 0, 0, 0, 0, 0, 0, 0}}}
	at := place{q, 3, 3}
	for want, p := range map[string][2]float64{
		"q 0.0002236 1/Å, azimuth 116.6 degrees, column 0, row 0, bin 1 (": {-1e-4, 2e-4},
		"masked":    {1e-4, 2e-4},
		"in no bin": {1e-4, -1e-9},
	} {
		if got := at.told(p[0], p[1]); !strings.Contains(got, want) {
			t.Errorf("%v: %s: want %s", p, got, want)
		}
	}
	if got := at.told(1, 1); strings.Contains(got, "bin") {
		t.Errorf("a point beside the detector is %s", got)
	}
	if n := len(ringsOf(q)); n != 3+4 {
		t.Errorf("%d rings and rays: want three circles and four rays", n)
	}
	q.Distance = 0
	if ringsOf(q) != nil {
		t.Error("there are rings without a geometry")
	}
	for _, c := range []struct{ centres, want []float64 }{{[]float64{0, 90, 180, 270}, []float64{45, 135, 225, 315}}, {[]float64{10, 20, 30}, []float64{15, 25, 35, 365}}} {
		got := rays(c.centres)
		if len(got) != len(c.want) {
			t.Fatalf("%v: %v", c.centres, got)
		}
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-9 {
				t.Errorf("%v: %v: want %v", c.centres, got, c.want)
			}
		}
	}
}
