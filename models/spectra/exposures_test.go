// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/tier"
)

// exposedStars are stars with the velocities of their exposures about 20 km/s, one row for each star.
func exposedStars(t testing.TB, lib *Library, arms int, offsets ...[]float64) (stars []Star, truth [][]float64) {
	s := newSimulator(t, lib, anyMock(t).Spectra[:arms], 11)
	for i, list := range offsets {
		theta := []float64{20, 30, 5300 + 40*float64(i), 3.2, -0.8, 0.4}
		star := Star{Name: fmt.Sprint("star ", i), Starts: []Start{{Vel: 20, Vsini: 20, Params: []float64{5400, 3, -1, 0.3}}}}
		for k, v := range list {
			own := slices.Clone(theta)
			own[0] += v
			star.Spectra = append(star.Spectra, s.spectra(t, own, 0.03, fmt.Sprint("night ", k))...)
		}
		stars, truth = append(stars, star), append(truth, theta)
	}
	return stars, truth
}

// Exposures with velocities of their own recover those of binaries and of constant stars with errors that are
// right, in one batch, and say which is which.
func TestVelocitiesPerExposure(t *testing.T) {
	tier.SlowOnly(t)
	t.Parallel()
	lib := goldenLibrary(t, "nn")
	binary, constant := []float64{-30, 30}, []float64{0, 0, 0}
	offsets := [][]float64{binary, constant, binary, constant, binary, {0}}
	for i := range tier.Of(1, 6) {
		offsets = append(offsets, []float64{-30 * float64(i+1), 32 * float64(i+1)})
	}
	stars, truth := exposedStars(t, lib, 1, offsets...)
	fitter, err := NewFitter(lib, Settings{Continuum: 6, Batch: 4, PerExposure: true})
	if err != nil {
		t.Fatal(err)
	}
	fits, err := fitter.Fit(context.Background(), stars)
	if err != nil {
		t.Fatal(err)
	}
	square, count := 0.0, 0.0
	for i, fit := range fits {
		if fit.Err != nil || !fit.Converged {
			t.Fatal(fit.Err, fit.Status)
		}
		m := len(offsets[i])
		if fit.Names[m-1] != fmt.Sprintf("vel[%d]", m-1) || fit.Names[m] != Vsini || len(fit.X) != m+5 || len(fit.Velocities) != m || fit.Exposures[m-1] != fmt.Sprint("night ", m-1) {
			t.Fatal(fit.Names, fit.Exposures)
		}
		for k, v := range offsets[i] {
			pull := (fit.X[k] - truth[i][0] - v) / fit.SD[k]
			square, count = square+pull*pull, count+1
			if v := fit.Velocities[k]; math.Abs(v.Vel-fit.X[k]) > 0.05*v.SD || !(math.Abs(v.SD/fit.held[k]-1) < 0.05) || v.SD > fit.SD[k]*1.02 {
				t.Errorf("%s: the posterior of velocity %d is %+v, its fit %v +- %v", fit.Star, k, v, fit.X[k], fit.SD[k])
			}
		}
		for k, x := range truth[i][1:] {
			if sd := fit.SD[m+k]; !math.IsNaN(sd) && !(math.Abs(fit.X[m+k]-x) < 4*sd) {
				t.Errorf("%s: %s is %v +- %v, want %v", fit.Star, fit.Names[m+k], fit.X[m+k], fit.SD[m+k], x)
			}
		}
		noted := slices.ContainsFunc(fit.Verdict.Notes, func(f check.Flag) bool { return f.Kind == KindVelocities })
		switch c := fit.Common; {
		case m == 1:
			if c != nil {
				t.Errorf("one exposure has a common velocity: %v", c)
			}
		case m == 2:
			if c == nil || c.Agree() || c.P > 1e-12 || !noted || !strings.Contains(c.String(), "2 exposures differ") {
				t.Errorf("a binary: %v", c)
			}
		default:
			if c == nil || !c.Agree() || c.DoF != 2 || noted || !strings.Contains(c.String(), "3 exposures agree") || !(math.Abs(c.Vel-20) < 4*c.SD) {
				t.Errorf("a constant star: %v", c)
			}
		}
		if fit.Verdict.Disagrees() {
			t.Errorf("%s: %v", fit.Star, fit.Verdict)
		}
	}
	if rms := math.Sqrt(square / count); !(rms > 0.7 && rms < 1.3) {
		t.Errorf("the pulls of %v velocities have size %v", count, rms)
	}
}

// For a constant star, the weighted mean of the velocities is the velocity of a fit with one, and the
// chi-square about it is what that fit's chi-square is above the other.
func TestCommonVelocityIsThatOfOneVelocity(t *testing.T) {
	t.Parallel()
	lib := goldenLibrary(t, "nn")
	stars, _ := exposedStars(t, lib, 1, []float64{0, 0.5})
	var chi [2]float64
	var common *CommonVelocity
	for i, per := range []bool{false, true} {
		fitter, err := NewFitter(lib, Settings{Continuum: 6, Batch: 1, PerExposure: per, NoVerdict: true})
		if err != nil {
			t.Fatal(err)
		}
		fits, err := fitter.Fit(context.Background(), stars)
		if err != nil || fits[0].Err != nil {
			t.Fatal(err, fits[0].Err)
		}
		if chi[i] = fits[0].ChiSquare; per {
			common = fits[0].Common
			continue
		}
		if fits[0].Common != nil || fits[0].Velocities != nil || fits[0].Names[0] != Vel {
			t.Error(fits[0].Names)
		}
		defer func(one Fit) {
			if !(math.Abs(common.Vel-one.X[0]) < 0.02*one.SD[0]) || !(math.Abs(common.SD/one.SD[0]-1) < 0.02) {
				t.Errorf("%v, a fit with one velocity has %v +- %v", common, one.X[0], one.SD[0])
			}
		}(fits[0])
	}
	if want := chi[0] - chi[1]; !(math.Abs(common.ChiSquare-want) < 0.02*want+0.01) {
		t.Errorf("%v, want chi-square %v", common, want)
	}
}

// Starts with a velocity for each exposure, fixed velocities, and the posterior of all.
func TestPerExposureStartsAndPosterior(t *testing.T) {
	tier.SlowOnly(t)
	t.Parallel()
	lib := goldenLibrary(t, "nn")
	stars, _ := exposedStars(t, lib, 1, []float64{-30, 30})
	star := stars[0]
	star.Starts = []Start{{Vels: []float64{-12, 52}, Vsini: 25, Params: star.Starts[0].Params}}
	s := Settings{Continuum: 6, Batch: 1, PerExposure: true, NoVerdict: true, Fixed: map[string]float64{"alpha": 0.4, "feh": -0.8, "logg": 3.2}}
	fitter, err := NewFitter(lib, s)
	if err != nil {
		t.Fatal(err)
	}
	fits, err := fitter.Fit(context.Background(), []Star{star})
	if err != nil || fits[0].Err != nil {
		t.Fatal(err, fits[0].Err)
	}
	fit := fits[0]
	post, err := fitter.Sample(context.Background(), &star, &fit, infer.Settings{Seed: 3, Chains: 2, Warmup: 100, Draws: 150})
	if err != nil {
		t.Fatal(err)
	}
	summary := post.Summary()
	for k, name := range fit.Names[:4] {
		row := summary.Row(name)
		if row == nil || math.Abs(row.Mean-fit.X[k]) > 0.5*fit.SD[k] || math.Abs(row.SD/fit.SD[k]-1) > 0.35 {
			t.Errorf("%s is %v +- %v in the fit: %+v", name, fit.X[k], fit.SD[k], row)
		}
	}
	err = fitter.SampleAll(context.Background(), []Star{star}, []Fit{{}}, infer.Settings{}, func(i int, post *infer.Fit, err error) {
		if err == nil || !strings.Contains(err.Error(), "star 0: spectra: the star has no fit from which sampling could start") {
			t.Errorf("draws without a fit: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	bad := map[string]Start{
		"1 velocities, but there are 2 exposures": {Vels: []float64{1}, Params: star.Starts[0].Params},
		"is infinite": {Vels: []float64{1, math.Inf(1)}, Params: star.Starts[0].Params},
	}
	for want, start := range bad {
		wrong := star
		wrong.Starts = []Start{start}
		if fits, err := fitter.Fit(context.Background(), []Star{wrong}); err != nil || fits[0].Err == nil || !strings.Contains(fits[0].Err.Error(), want) {
			t.Errorf("%v: want %q", fits[0].Err, want)
		}
	}
	s.PerExposure = false
	if fitter, err = NewFitter(lib, s); err != nil {
		t.Fatal(err)
	}
	if fits, err := fitter.Fit(context.Background(), []Star{star}); err != nil || fits[0].Err == nil || !strings.Contains(fits[0].Err.Error(), "set Settings.PerExposure") {
		t.Error(fits[0].Err)
	}
}
