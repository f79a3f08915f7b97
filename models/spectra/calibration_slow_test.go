// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package spectra

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// Posteriors of stars whose parameters are drawn from the prior are calibrated: the truth has every rank
// among the draws equally often. Rotation reaches from 0, so that many stars end at that bound.
func TestPosteriorsAreCalibrated(t *testing.T) {
	const count = 300
	lib := goldenLibrary(t, "nn")
	priors := map[string]dist.Dist{Vel: dist.Normal(0, 80), Vsini: dist.Exponential(1.0 / 30), "teff": dist.Normal(5500, 300), "logg": dist.Normal(3.5, 0.4), "feh": dist.Normal(-1, 0.3), "alpha": dist.Normal(0.4, 0.1)}
	fitter, err := NewFitter(lib, Settings{Continuum: 6, Priors: priors, NoVerdict: true})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	normal := func(mean, sd float64) float64 { return mean + sd*rng.NormFloat64() }
	stars, truth := make([]Star, count), make([][]float64, count)
	base := anyMock(t)
	for i := range stars {
		truth[i] = []float64{normal(0, 80), 30 * rng.ExpFloat64(), normal(5500, 300), normal(3.5, 0.4), normal(-1, 0.3), normal(0.4, 0.1)}
		stars[i] = Star{Name: fmt.Sprint("star ", i), Starts: []Start{{Vel: truth[i][0], Vsini: truth[i][1], Params: truth[i][2:]}}}
	}
	for k, x := range base.Spectra {
		templates := lib.Arms[k]
		arm, err := spectra.NewArm(spectra.ArmSettings{Template: templates.Lam, Observed: x.Lam})
		if err != nil {
			t.Fatal(err)
		}
		vel, vsini, u := ad.Input("vel", 1), ad.Input("vsini", 1), ad.Input("u", 1, 4)
		log, _ := templates.LogFlux(u)
		p, err := ad.Compile([]*ad.Node{arm.Model(log, vel, vsini, nil)}, ad.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		for i, v := range truth {
			s.Input(0)[0], s.Input(1)[0] = v[0], v[1]
			copy(s.Input(2), v[2:])
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			one := Spectrum{Arm: x.Arm, Lam: x.Lam}
			for p, m := range s.Output(0) {
				z := 2*float64(p)/float64(len(x.Lam)) - 1
				e := 0.02
				one.Flux, one.Err = append(one.Flux, (1+0.2*z-0.1*z*z)*m+e*rng.NormFloat64()), append(one.Err, e)
			}
			stars[i].Spectra = append(stars[i].Spectra, one)
		}
	}
	fits, err := fitter.Fit(context.Background(), stars)
	if err != nil {
		t.Fatal(err)
	}
	sbc, err := diag.NewSBC(fitter.Names(), 99)
	if err != nil {
		t.Fatal(err)
	}
	worstRHat, bounded := 0.0, 0
	err = fitter.SampleAll(context.Background(), stars, fits, infer.Settings{Chains: 2, Warmup: 150, Draws: 150, Seed: 9}, func(i int, post *infer.Fit, err error) {
		if err != nil {
			t.Errorf("%s: %v", stars[i].Name, err)
			return
		}
		summary := post.Summary()
		worstRHat = max(worstRHat, summary.MaxRHat())
		if slices.Contains(fits[i].AtBound, Vsini) {
			bounded++
		}
		var draws [][][]float64
		for _, name := range fitter.Names() {
			draws = append(draws, post.Draws(name))
		}
		if err := sbc.AddFit(i, truth[i], draws); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("largest R-hat %.3f; rotation at its bound in %d of %d fits", worstRHat, bounded, count)
	report, err := sbc.Test(diag.SBCSettings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report)
	if !report.Diagnose().OK() {
		t.Error(report.Diagnose())
	}
}
