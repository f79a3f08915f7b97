// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
)

// The limit of a rotation that is not seen is that of the posterior along it, computed point by point.
func TestLimitOfRotation(t *testing.T) {
	tier.SlowOnly(t)
	t.Parallel()
	lib := goldenLibrary(t, "nn")
	s := newSimulator(t, lib, anyMock(t).Spectra[:1], 4)
	theta := []float64{20, 0, 5300, 3.2, -0.8, 0.4}
	fixed := map[string]float64{Vel: 20}
	for k, name := range lib.Params {
		fixed[name] = theta[2+k]
	}
	seen := 0
	for i := range tier.Of(4, 6) {
		star := Star{Name: "slow", Spectra: s.spectra(t, theta, 0.01, ""), Starts: []Start{{Vsini: 10, Params: theta[2:]}}}
		fitter, err := NewFitter(lib, Settings{Continuum: 6, Batch: 32, Fixed: fixed, NoVerdict: true})
		if err != nil {
			t.Fatal(err)
		}
		fits, err := fitter.Fit(context.Background(), []Star{star})
		if err != nil || fits[0].Err != nil {
			t.Fatal(err, fits[0].Err)
		}
		fit := fits[0]
		if len(fit.AtBound) == 0 {
			if len(fit.Limits) != 0 {
				t.Errorf("star %d: %v", i, fit.Limits)
			}
			continue
		}
		seen++
		limit := fit.Limits[0]
		l, err := fitter.layoutOf(&star)
		if err != nil {
			t.Fatal(err)
		}
		p, err := l.search(0)
		if err != nil {
			t.Fatal(err)
		}
		state := newPlaces(l, p)
		var below, all float64
		const points = 32 * 4
		top := 4 * limit.Limit95
		for from := 0; from < points; from += 32 {
			x := append([]float64{}, theta...)
			for i := range 32 {
				x[1] = (float64(from+i) + 0.5) / points * top
				if err := state.fill(i, &star); err != nil {
					t.Fatal(err)
				}
				state.set(i, x)
			}
			if err := state.run(); err != nil {
				t.Fatal(err)
			}
			for i, chi := range state.output(0) {
				w := math.Exp((fit.ChiSquare - chi) / 2)
				if all += w; (float64(from+i)+0.5)/points*top < limit.Limit95 {
					below += w
				}
			}
		}
		t.Logf("%v: slope %v; %.4f of the posterior is below", limit, state.output(1)[1], below/all)
		if limit.Name != Vsini || limit.Bound != 0 || !(math.Abs(below/all-0.95) < 0.01) {
			t.Errorf("star %d: %v: %v of the posterior is below", i, limit, below/all)
		}
	}
	if seen < tier.Of(1, 2) {
		t.Errorf("%d stars are at the bound", seen)
	}
}

// Limits of normal distributions that are cut off are those of integrals in two dimensions.
func TestLimitsOfNormalDistributions(t *testing.T) {
	for _, c := range []struct {
		name         string
		h            []float64
		slope, other float64 // slope inward
		upper        bool
		width        float64
	}{
		{"slope and curvature", []float64{3, 1.2, 1.2, 2}, 1.5, 0, false, math.Inf(1)},
		{"half a normal distribution", []float64{2, 0, 0, 2}, 0, 0, false, math.Inf(1)},
		{"upper bound", []float64{3, -0.8, -0.8, 1}, 0.7, 0, true, math.Inf(1)},
		{"almost exponential", []float64{1e-3, 0, 0, 1}, 5, 0, false, math.Inf(1)},
		{"narrow range", []float64{0.02, 0, 0, 1}, 0.1, 0, false, 3},
	} {
		sign, lower, upper := 1.0, []float64{0, -50}, []float64{c.width, 50}
		if c.upper {
			sign, lower, upper = -1, []float64{-c.width, -50}, []float64{0, 50}
		}
		d := &descent{at: []float64{0, 0}, lower: lower, upper: upper, fixed: make([]bool, 2), best: quadratic{g: []float64{sign * c.slope, 0}, h: c.h, slope: make([]float64, 2)}}
		fit := Fit{Names: []string{"a", "b"}, X: []float64{0, 0}, AtBound: []string{"a"}}
		fit.limits(c.h, d)
		limit := math.Abs(fit.Limits[0].Limit95)
		var below, all float64
		const n = 600
		top := math.Min(4*limit, c.width)
		for i := range n {
			a := (float64(i) + 0.5) / n * top
			for j := range n {
				b := 24 * ((float64(j)+0.5)/n - 0.5)
				x := sign * a
				w := math.Exp(-(c.slope*a + (c.h[0]*x*x+2*c.h[1]*x*b+c.h[3]*b*b)/2) / 2)
				if all += w; a < limit {
					below += w
				}
			}
		}
		if !(math.Abs(below/all-0.95) < 0.002) || (fit.Limits[0].Limit95 < 0) != c.upper {
			t.Errorf("%s: %v: %v of the density is on this side", c.name, fit.Limits[0], below/all)
		}
	}
	// A posterior that rises away from the bound says nothing.
	for _, x := range [][2]float64{{1, -1}, {0, 0}, {-1, -2}, {1, math.NaN()}} {
		if v := truncated95(x[0], x[1], math.Inf(1)); !math.IsNaN(v) {
			t.Errorf("slope %v and curvature %v give %v", x[0], x[1], v)
		}
	}
}

// Limits keep their digits where the minimum of the parabola is many standard deviations beyond the bound.
func TestLimitOfSteepSlopes(t *testing.T) {
	for _, from := range []float64{-3, 0, 5, 7.5, 8.2, 9, 20, 36.9, 37.1, 60} {
		limit := truncated95(2*from, 2, math.Inf(1))
		below, all := 0.0, 0.0
		const n = 20000
		for i := range n {
			u := (float64(i) + 0.5) / n * 5 * limit
			w := math.Exp(-from*u - u*u/2)
			if all += w; u < limit {
				below += w
			}
		}
		if !(math.Abs(below/all-0.95) < 0.0005) {
			t.Errorf("%v standard deviations beyond the bound, %v of the density is below the limit %v", from, below/all, limit)
		}
	}
}

// Where the library of a network ends at one value of a parameter, the parameter is at its bound, as with a grid: the
// penalty beyond says nothing of the star.
func TestLimitAtSideOfHull(t *testing.T) {
	tier.SlowOnly(t)
	t.Parallel()
	lib := goldenLibrary(t, "nn")
	lib.Arms = lib.Arms[:1]
	theta := []float64{20, 120, 5300, 3.2, -0.8, 0.75}
	star := Star{Name: "star", Starts: []Start{{Vel: 20, Vsini: 40, Params: theta[2:]}}}
	fit := func(settings Settings) Fit {
		settings.Continuum, settings.Batch, settings.NoVerdict = 6, 1, true
		fitter, err := NewFitter(lib, settings)
		if err != nil {
			t.Fatal(err)
		}
		fits, err := fitter.Fit(context.Background(), []Star{star})
		if err != nil || fits[0].Err != nil {
			t.Fatal(err, fits[0].Err)
		}
		return fits[0]
	}
	outside := 0
	for seed := range uint64(10) {
		star.Spectra = newSimulator(t, lib, anyMock(t).Spectra[:1], seed).spectra(t, theta, 0.04, "")
		free := fit(Settings{})
		if free.Outside == 0 {
			if len(free.AtBound) > 0 || !(free.SD[5] > 0.02) {
				t.Errorf("inside, at bounds %v, standard deviations %v", free.AtBound, free.SD)
			}
			continue
		}
		outside++
		if len(free.AtBound) != 1 || free.AtBound[0] != "alpha" || !math.IsNaN(free.SD[5]) {
			t.Errorf("%v: at bounds %v, standard deviations %v, want alpha at its bound", free.X, free.AtBound, free.SD)
			continue
		}
		if limit := free.Limits[0]; !(limit.Limit95 > 0 && limit.Limit95 < 0.75) {
			t.Errorf("alpha is above %v", limit.Limit95)
		}
		held := fit(Settings{Fixed: map[string]float64{"alpha": 0.8}})
		for k := range 5 {
			if math.Abs(free.SD[k]/held.SD[k]-1) > 0.02 {
				t.Errorf("%s: +- %v, with alpha held +- %v", free.Names[k], free.SD[k], held.SD[k])
			}
		}
	}
	if outside == 0 {
		t.Error("no fit ended outside of the library")
	}
}
