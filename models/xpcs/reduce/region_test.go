// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package reduce

import (
	"math"
	"strings"
	"testing"
)

func TestMistakes(t *testing.T) {
	v := []float64{1, 2, 3, 4}
	for want, call := range map[string]func() error{
		"use those of one detector": func() error { _, err := Wedge(v, v[:3], v, nil, Sector{0, 1, []float64{0, 1}}); return err },
		"at least 2":                func() error { _, err := Wedge(v, v, v, nil, Sector{0, 1, []float64{0}}); return err },
		"ascending":                 func() error { _, err := Wedge(v, v, v, nil, Sector{0, 1, []float64{1, 1}}); return err },
		"whole rows":                func() error { _, err := Ring(v, v, nil, 3, Annulus{Outer: 1}); return err },
		"positive radius":           func() error { _, err := Ring(v, v, nil, 2, Annulus{}); return err },
		"different azimuths":        func() error { _, err := Ring(v, v, make([]bool, 4), 2, Annulus{Outer: 9}); return err },
		"the window is 4":           func() error { _, _, err := Smooth(v, 4, 1); return err },
		"0 s apart":                 func() error { _, _, err := Spectrum(v, 0); return err },
		"curve 2 has no points":     func() error { _, err := Offset([][]float64{v, nil}); return err },
		"has no points":             func() error { _, err := Normalize(nil, ByMax); return err },
		"0 lines":                   func() error { _, err := (Profile{v, [][]float64{v}}).Subtract(Profile{Q: v}, 1); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
}

func TestResample(t *testing.T) {
	x, y := []float64{1, 2, 3, 5, 8}, make([]float64, 5)
	for i, v := range x {
		y[i] = v*v*v - 2*v
	}
	got, err := Resample(x, y, []float64{1.5, 4, 9})
	if err != nil || math.Abs(got[0]-0.375) > 1e-12 || math.Abs(got[1]-56) > 1e-12 || !math.IsNaN(got[2]) {
		t.Error(got, err)
	}
}
