// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/tier"
)

// fitterWith returns a Fitter with one prior.
func fitterWith(t *testing.T, lib *Library, name string, prior dist.Dist) *Fitter {
	t.Helper()
	fitter, err := NewFitter(lib, Settings{Continuum: 6, Batch: 1, Priors: map[string]dist.Dist{name: prior}, NoVerdict: true})
	if err != nil {
		t.Fatal(err)
	}
	return fitter
}

// The ends of a prior are bounds of the fit: starts beyond them are moved to them, and the fit ends where it does
// with the parameter fixed at the end, or where it does without the prior.
func TestBoundedPriors(t *testing.T) {
	t.Parallel()
	lib := firstArm(t)
	s := newSimulator(t, lib, anyMock(t).Spectra[:1], 8)
	theta := []float64{20, 45, 5300, 3.2, -0.8, 0.4}
	star := Star{Name: "star", Spectra: s.spectra(t, theta, 0.01, ""), Starts: []Start{{Vel: 20, Vsini: 40, Params: theta[2:]}}}
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
	free := fit(Settings{})
	for _, c := range []struct {
		k       int
		name    string
		prior   dist.Dist
		atBound float64 // NaN: the prior does not matter
	}{
		{k: 0, name: Vel, prior: dist.Uniform(25, 60), atBound: 25},
		{k: 0, name: Vel, prior: dist.Uniform(10, 30), atBound: math.NaN()},
		{k: 1, name: Vsini, prior: dist.Uniform(0, 30), atBound: 30},
		{k: 2, name: "teff", prior: dist.Uniform(5500, 5900), atBound: 5500},
		{k: 3, name: "logg", prior: dist.Uniform(3, 3.1), atBound: 3.1},
	} {
		got := fit(Settings{Priors: map[string]dist.Dist{c.name: c.prior}})
		want := free
		if !math.IsNaN(c.atBound) {
			want = fit(Settings{Fixed: map[string]float64{c.name: c.atBound}})
			if len(got.AtBound) == 0 || got.AtBound[0] != c.name || got.X[c.k] != c.atBound {
				t.Errorf("%s, %s: %v at bounds %v, want %v at %g", c.name, c.prior.Name, got.X, got.AtBound, c.name, c.atBound)
			}
		}
		if math.Abs(got.ChiSquare-want.ChiSquare) > 0.01 {
			t.Errorf("%s, prior %s: -2 log L is %v at %v, want %v at %v", c.name, c.prior.Name, got.ChiSquare, got.X, want.ChiSquare, want.X)
		}
	}
}

// A prior that goes on beyond the library does not take a posterior there.
func TestPosteriorStaysInLibrary(t *testing.T) {
	tier.SlowOnly(t)
	t.Parallel()
	lib := firstArm(t)
	s := newSimulator(t, lib, anyMock(t).Spectra[:1], 8)
	theta := []float64{20, 45, 5300, 3.2, -0.8, 0.4}
	star := Star{Name: "star", Spectra: s.spectra(t, theta, 0.05, ""), Starts: []Start{{Vel: 20, Vsini: 40, Params: theta[2:]}}}
	fitter := fitterWith(t, lib, "alpha", dist.Normal(1.5, 0.05))
	fits, err := fitter.Fit(context.Background(), []Star{star})
	if err != nil || fits[0].Err != nil {
		t.Fatal(err, fits[0].Err)
	}
	post, err := fitter.Sample(context.Background(), &star, &fits[0], infer.Settings{Chains: 2, Warmup: 100, Draws: 50, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	_, upper := fitter.bounds()
	for _, chain := range post.Draws("alpha") {
		for _, x := range chain {
			if !(x <= upper[5]) {
				t.Fatalf("alpha is %v, and the library ends at %v", x, upper[5])
			}
		}
	}
}

// Priors and fixed values that the library does not have are told.
func TestPriorsOutsideOfLibrary(t *testing.T) {
	lib := goldenLibrary(t, "grid")
	_, err := NewFitter(lib, Settings{Fixed: map[string]float64{"logg": 9}, Priors: map[string]dist.Dist{"teff": dist.Uniform(50000, 60000), Vel: dist.Uniform(2000, 3000)}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"logg is fixed at 9", "the prior of teff allows 50000 to 60000", "the prior of vel allows 2000 to 3000: want some of it within -1000 to 1000"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
	if _, err := NewFitter(lib, Settings{Priors: map[string]dist.Dist{"teff": dist.Normal(50000, 100)}}); err == nil || !strings.Contains(err.Error(), "has a probability of 0 from") {
		t.Errorf("a prior far from the library: %v", err)
	}
	if _, err := NewFitter(lib, Settings{Priors: map[string]dist.Dist{Vsini: dist.LogNormal(1, 1)}}); err != nil {
		t.Error(err)
	}
}

// Velocities of exposures that a scan has to find stay within their prior.
func TestBoundedPriorOfExposures(t *testing.T) {
	t.Parallel()
	lib := firstArm(t)
	s := newSimulator(t, lib, anyMock(t).Spectra[:1], 8)
	theta := []float64{20, 45, 5300, 3.2, -0.8, 0.4}
	star := Star{Name: "star", Spectra: append(s.spectra(t, theta, 0.01, "a"), s.spectra(t, theta, 0.01, "b")...), Starts: []Start{{Vel: 20, Vsini: 40, Params: theta[2:]}}}
	for _, c := range []struct{ lower, upper float64 }{{-40, 120}, {18.5, 21.5}} {
		fitter, err := NewFitter(lib, Settings{Continuum: 6, Batch: 1, PerExposure: true, NoVerdict: true, Priors: map[string]dist.Dist{Vel: dist.Uniform(c.lower, c.upper)}})
		if err != nil {
			t.Fatal(err)
		}
		fits, err := fitter.Fit(context.Background(), []Star{star})
		if err != nil || fits[0].Err != nil {
			t.Fatal(err, fits[0].Err)
		}
		for k, v := range fits[0].Velocities {
			if math.Abs(fits[0].X[k]-20) > 5*fits[0].SD[k] || math.Abs(v.Vel-fits[0].X[k]) > 0.2 || !(v.SD > 0) {
				t.Errorf("from %v to %v: vel[%d] is %v +- %v, its posterior %+v", c.lower, c.upper, k, fits[0].X[k], fits[0].SD[k], v)
			}
		}
	}
}
