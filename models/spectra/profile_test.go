// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"math"
	"testing"
)

// A profile whose rise is a polynomial of the rotation has the ends and the limit of that polynomial.
func TestProfileOfPolynomials(t *testing.T) {
	for _, c := range []struct {
		name string
		x    float64
		rise func(v float64) float64
	}{
		{"at rest", 0, func(v float64) float64 { return v*v/300 + math.Pow(v/20, 4) }},
		{"at rest without curvature", 0, func(v float64) float64 { return math.Pow(v/30, 4) }},
		{"not at rest", 20, func(v float64) float64 { return math.Pow((v*v-400)/300, 2) }},
		{"hardly at rest", 12, func(v float64) float64 { return math.Pow((v*v-144)/300, 2) }},
	} {
		p := &profile{best: c.x * c.x, top: 500}
		for round := range 3 {
			for _, v := range p.next(round, 300/(math.Sqrt2*max(c.x, 1))) {
				p.add(v*v, c.rise(v))
			}
		}
		lower, upper := p.down(1), p.up(1)
		if math.Abs(c.rise(upper)-1) > 1e-6 || lower > 0 && math.Abs(c.rise(lower)-1) > 1e-6 || (lower == 0) != (c.rise(0) < 1) {
			t.Errorf("%s: from %v, %v above the minimum, to %v, %v above", c.name, lower, c.rise(lower), upper, c.rise(upper))
		}
		var below, all float64
		limit := p.below(0.95)
		for k := range 100000 {
			v := (float64(k) + 0.5) / 1000
			w := math.Exp(-c.rise(v) / 2)
			if all += w; v < limit {
				below += w
			}
		}
		if math.Abs(below/all-0.95) > 0.001 {
			t.Errorf("%s: %v of the posterior is below %v", c.name, below/all, limit)
		}
	}
}

// Stars that rotate slowly have profiles with all other parameters following, which agree with fits at fixed rotations;
// fast ones have none.
func TestRotationProfile(t *testing.T) {
	lib := goldenLibrary(t, "nn")
	lib.Arms = lib.Arms[:1]
	s := newSimulator(t, lib, anyMock(t).Spectra[:1], 8)
	fit := func(star Star, fixed map[string]float64) Fit {
		fitter, err := NewFitter(lib, Settings{Continuum: 6, Batch: 4, Fixed: fixed, NoVerdict: true})
		if err != nil {
			t.Fatal(err)
		}
		fits, err := fitter.Fit(context.Background(), []Star{star})
		if err != nil || fits[0].Err != nil {
			t.Fatal(err, fits[0].Err)
		}
		return fits[0]
	}
	for _, vsini := range []float64{0, 30, 200} {
		theta := []float64{20, vsini, 5300, 3.2, -0.8, 0.4}
		star := Star{Name: "star", Spectra: s.spectra(t, theta, 0.02, ""), Starts: []Start{{Vel: 20, Vsini: 40, Params: theta[2:]}}}
		free := fit(star, nil)
		r := free.Rotation
		t.Logf("vsini %g: %.4g +- %.4g, %+v", vsini, free.X[1], free.SD[1], r)
		if (r == nil) != (free.X[1] > slowerThan*free.SD[1]) {
			t.Errorf("vsini %g: %v +- %v has the profile %v", vsini, free.X[1], free.SD[1], r)
		}
		if r == nil {
			continue
		}
		for _, v := range []float64{r.Lower, r.Upper} {
			rise := fit(star, map[string]float64{Vsini: v}).ChiSquare - free.ChiSquare
			if v > 0 && math.Abs(rise-1) > 0.02 || v == 0 && rise > 1 {
				t.Errorf("vsini %g: at %v -2 log posterior is %v above its minimum", vsini, v, rise)
			}
		}
		if !(r.Upper < r.Below95) {
			t.Errorf("vsini %g: %+v", vsini, r)
		}
	}
}
