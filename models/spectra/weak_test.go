// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/check"
)

// Minima of a scan are those with a barrier on both sides, the lowest first and without the lowest of all.
func TestMinimaOfAScan(t *testing.T) {
	for _, c := range []struct {
		chi  []float64
		want []float64
	}{
		{[]float64{5, 0, 5, 2, 5, 1, 5}, []float64{5, 3}},
		{[]float64{0, 5, 4, 5, 5, 3, 9}, []float64{5, 2}},
		{[]float64{5, 0, 5, 4.8, 5, 5}, nil},             // no barrier
		{[]float64{40, 0, 40, 30, 40, 20}, []float64{5}}, // too high, and the end of the range
		{[]float64{9, 8, 7, 0, 7, 8, 9}, nil},
	} {
		vel := make([]float64, len(c.chi))
		for i := range vel {
			vel[i] = float64(i)
		}
		if got := minimaOf(vel, c.chi); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.chi, got, c.want)
		}
	}
}

// A parabola has its own standard deviation on both sides; a lopsided rise has one that is longer on its slow side, and a rise that
// never comes ends at the end of the range.
func TestVelocityRises(t *testing.T) {
	const sd = 2.0
	for _, c := range []struct {
		rise            func(v float64) float64
		down1, up1, up4 float64
		tolerance       float64
	}{
		{func(v float64) float64 { return v * v / 4 }, -2, 2, 4, 1e-6},
		{func(v float64) float64 { return v * v / 4 / math.Pow(1+math.Max(v, 0)/4, 2) }, -2, 4, math.NaN(), 0.1},
		{func(v float64) float64 { return v * v / 4 * math.Exp(math.Min(v, 0)/10) }, -2.25, 2, 4, 0.05},
	} {
		p := velocityRises{best: 10}
		for k := -4; k <= 8; k++ {
			if v := float64(k); k != 0 {
				p.add(10+v, c.rise(v))
			}
		}
		got := []float64{p.reach(1, sd, -1000) - 10, p.reach(1, sd, 1000) - 10, p.reach(4, sd, 1000) - 10}
		for k, want := range []float64{c.down1, c.up1, c.up4} {
			if !math.IsNaN(want) && math.Abs(got[k]-want) > c.tolerance {
				t.Errorf("reaches %v, want %v, %v and %v", got, c.down1, c.up1, c.up4)
			}
		}
	}
	flat := velocityRises{best: 0, points: [][2]float64{{-1, 0}, {1, 0}}}
	if got := flat.reach(1, sd, 7); got != 7 {
		t.Errorf("a flat rise reaches 1 at %g, want the end of the range", got)
	}
}

// A fit is told to be undetermined once if other velocities fit almost as well, also where something else says so of its velocity.
func TestOtherVelocitiesAreFlagged(t *testing.T) {
	others := []OtherVelocity{{-120, 0.5}, {300, 8}}
	f := sayOthers(Vel, others)
	if !strings.Contains(f.Text, "-120 km/s (0.5), 300 km/s (8.0)") || f.Kind != check.KindUnknown {
		t.Errorf("%+v", f)
	}
	p := VelocityProfile{Lower: -1, Upper: 2}
	if !p.Lopsided(0) || p.Lopsided(0.5) {
		t.Error("sides of 1 and 2 are lopsided, and those of 1.5 and 1.5 are not")
	}
}
