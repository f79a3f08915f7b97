// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/templates"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// With all parameters fixed, chi-squares are those of the reference's likelihood, for spectra with resolution
// matrices of their own and without.
func TestChiSquareOfFixedParametersGolden(t *testing.T) {
	var f struct {
		Cases []struct {
			Mock, Interpolator string
			NPoly              int
			RBF                bool
			Floor              float64 `json:"espec_systematic"`
			Params             []float64
			ChiSq              *float64
			Array              []float64 `json:"chisq_array_ref"`
		}
	}
	golden.JSON(t, &f, "spectra", "chain", "chain.json")
	seen := map[string]bool{}
	for _, c := range f.Cases {
		if c.ChiSq == nil || len(c.Params) != 2+len(paramNames) || c.Floor != 0 || !c.RBF {
			continue
		}
		star := mock(t, c.Mock)
		kind := "plain"
		if star.Spectra[0].Resolution != nil {
			kind = "resolution"
		} else if len(star.Spectra) > len(templates.Arms(t)) {
			kind = "exposures"
		}
		if kind += " " + c.Interpolator; seen[kind] || kind != "resolution grid" && kind != "exposures nn" {
			continue
		}
		seen[kind] = true
		lib := goldenLibrary(t, c.Interpolator)
		fixed := map[string]float64{Vel: c.Params[0], Vsini: c.Params[1]}
		for k, name := range lib.Params {
			fixed[name] = c.Params[2+k]
		}
		fitter, err := NewFitter(lib, Settings{Continuum: c.NPoly, FixedContinuum: true, Rotation: spectra.Rotation{Compat: true}, Fixed: fixed, Batch: 2, NoVerdict: true})
		if err != nil {
			t.Fatal(err)
		}
		star.Starts = []Start{{Params: c.Params[2:]}}
		fits, err := fitter.Fit(context.Background(), []Star{star})
		if err != nil || fits[0].Err != nil {
			t.Fatal(err, fits[0].Err)
		}
		fit := fits[0]
		if math.Abs(fit.ChiSquare / *c.ChiSq - 1) > 1e-9 {
			t.Errorf("%s: chi-square %v, want %v", kind, fit.ChiSquare, *c.ChiSq)
		}
		for i, want := range c.Array {
			tolerance := 1e-9
			if c.Interpolator == "nn" {
				tolerance = 2e-5 // the reference's network is float32
			}
			if math.Abs(fit.Spectra[i].ChiSquare/want-1) > tolerance {
				t.Errorf("%s: chi-square of spectrum %d is %v, want %v", kind, i, fit.Spectra[i].ChiSquare, want)
			}
		}
	}
	if len(seen) == 0 {
		t.Skip("no mock star has resolution matrices or several exposures")
	}
}

// A normal prior of the velocity or of the rotation moves the fit as the product of two normal distributions.
func TestPriorsOfVelocityAndRotation(t *testing.T) {
	lib := goldenLibrary(t, "nn")
	s := newSimulator(t, lib, anyMock(t).Spectra[:1], 8)
	theta := []float64{20, 45, 5300, 3.2, -0.8, 0.4}
	star := Star{Name: "star", Spectra: s.spectra(t, theta, 0.01, ""), Starts: []Start{{Vel: 20, Vsini: 40, Params: theta[2:]}}}
	for k, name := range []string{Vel, Vsini} {
		fixed := map[string]float64{}
		for i, other := range append([]string{Vel, Vsini}, lib.Params...) {
			if i != k {
				fixed[other] = theta[i]
			}
		}
		fit := func(priors map[string]dist.Dist) Fit {
			fitter, err := NewFitter(lib, Settings{Continuum: 6, Batch: 1, Fixed: fixed, Priors: priors, NoVerdict: true})
			if err != nil {
				t.Fatal(err)
			}
			fits, err := fitter.Fit(context.Background(), []Star{star})
			if err != nil || fits[0].Err != nil {
				t.Fatal(err, fits[0].Err)
			}
			return fits[0]
		}
		free := fit(nil)
		sd := free.SD[k]
		centre := free.X[k] + sd
		held := fit(map[string]dist.Dist{name: dist.Normal(centre, sd)})
		if math.Abs(held.X[k]-(free.X[k]+sd/2)) > 0.02*sd || math.Abs(held.SD[k]*math.Sqrt2/sd-1) > 0.02 {
			t.Errorf("%s is %v +- %v, with a prior of %v +- %v it is %v +- %v", name, free.X[k], sd, centre, sd, held.X[k], held.SD[k])
		}
		if want := held.ChiSquare + math.Pow((held.X[k]-centre)/sd, 2) + math.Log(2*math.Pi*sd*sd); math.Abs(-2*held.LogPosterior-want) > 1e-6 {
			t.Errorf("%s: -2 log posterior is %v, want %v", name, -2*held.LogPosterior, want)
		}
		if k == 0 && (math.Abs(held.Velocity.Vel-held.X[0]) > 0.01*sd || math.Abs(held.Velocity.SD/held.SD[0]-1) > 0.01) {
			t.Errorf("the posterior of the velocity is %+v, the fit %v +- %v", held.Velocity, held.X[0], held.SD[0])
		}
	}
}
