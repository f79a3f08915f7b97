// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/sim/xpcs"
)

// A geometry comes back bit for bit, and what is unknown stays unknown.
func TestGeometryFiles(t *testing.T) {
	whole := xpcs.Geometry{Height: 512, Width: 1024, CenterRow: 1 / 3.0, CenterCol: -7.1, PixelSize: 75e-6, Distance: 5.1, Energy: 10.9,
		Convention: xpcs.SinTwo, SwingHorizontal: 0.1, SwingVertical: -0.2, Roll: 0.3}
	var b bytes.Buffer
	if err := WriteGeometry(&b, whole); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadGeometry(b.Bytes()); err != nil || got != whole {
		t.Errorf("%v: %+v, want %+v", err, got, whole)
	}
	b.Reset()
	if err := WriteGeometry(&b, xpcs.Geometry{CenterRow: math.NaN(), CenterCol: 4}); err != nil {
		t.Fatal(err)
	}
	got, err := ReadGeometry(b.Bytes())
	if err != nil || !math.IsNaN(got.CenterRow) || got.CenterCol != 4 || !math.IsNaN(got.Energy) || strings.Contains(b.String(), "energy") {
		t.Errorf("%v: %+v", err, got)
	}
	if WriteGeometry(&b, xpcs.Geometry{SwingVertical: math.Inf(1)}) == nil {
		t.Error("an infinite angle is written")
	}
	b.Reset()
	if err := WriteSetup(&b, Setup{Geometry: whole, Dynamic: [2]int{12, 3}}); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadSetup(b.Bytes()); err != nil || got.Geometry != whole || got.Dynamic != [2]int{12, 3} {
		t.Errorf("%v: %+v", err, got)
	}
	if got, err := ReadGeometry(b.Bytes()); err != nil || got != whole {
		t.Errorf("the geometry of a setup: %v: %+v", err, got)
	}
	for text, want := range map[string]string{`{"kind": "other"}`: `"other"`, `{"kind": "euryale geometry", "version": 2}`: "version 2", `{"beam": 1}`: "beam", `{"kind": "euryale geometry", "version": 1, "dynamic_bins": [3]}`: "two positive", "nothing": "calibration"} {
		if _, err := ReadGeometry([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
