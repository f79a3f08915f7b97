// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package twotime_test

import (
	"context"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/twotime"
)

// fullSize is a flow seen at 23 angles in 1000 frames.
func fullSize(t *testing.T, speckles int) (*twotime.Data, []float64) {
	t.Helper()
	var angles []float64
	for k := range 23 {
		angles = append(angles, -90+180*float64(k)/23)
	}
	s := sheared(1000, angles...)
	truth := []float64{1000, -0.2, 200, 1e-4, 0.1, 1e-5, 4}
	sample := twotime.Sample{Theta: truth, Speckles: speckles, MeanCount: 0.5, Seed: 1}
	for k := range angles {
		sample.Contrast, sample.Offset = append(sample.Contrast, 0.2+0.01*math.Sin(float64(k))), append(sample.Offset, 1.01)
	}
	d, err := twotime.Simulate(context.Background(), s, sample)
	if err != nil {
		t.Fatal(err)
	}
	return d, truth
}

var flowPriors = twotime.Priors{Motion: map[string]dist.Dist{
	"log_D0": dist.Normal(math.Log(1000), 1), "alpha": dist.Normal(0, 0.5), "D_offset": dist.HalfNormal(500),
	"log_gamma_dot_t0": dist.Normal(math.Log(1e-4), 1), "beta": dist.Normal(0, 0.5), "gamma_dot_t_offset": dist.HalfNormal(1e-4), "phi0": dist.Normal(0, 10),
}, Offset: twotime.Normal{Mean: 1, SD: 0.03}}

// TestPosteriorAtFullSize samples the default likelihood of a measurement of full size, without limits of time.
func TestPosteriorAtFullSize(t *testing.T) {
	d, truth := fullSize(t, 1024)
	d.Noise = nil
	began := time.Now()
	post, err := twotime.New(context.Background(), *d, flowPriors, twotime.PosteriorSettings{Threads: runtime.NumCPU()})
	if err != nil {
		t.Fatal(err)
	}
	ready := time.Since(began)
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f s for the covariance and the mode, %.1f s for four chains", ready.Seconds(), (time.Since(began) - ready).Seconds())
	t.Log(fit.Summary())
	for k, name := range d.Setup.Names() {
		draws := fit.Draws(name)
		mean, sd := meanAndSD(diag.Flatten(draws))
		if r := diag.RHat(draws); r > 1.01 {
			t.Errorf("%s: R-hat %.3f", name, r)
		}
		if math.Abs(mean-truth[k]) > 4*sd {
			t.Errorf("%s is %g +- %g, truth %g", name, mean, sd, truth[k])
		}
	}
	began = time.Now()
	v, err := post.Judge(context.Background(), fit, twotime.PosteriorSettings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f s for the verdict: %v", time.Since(began).Seconds(), v)
	if v.Disagrees() {
		t.Error("the verdict disagrees with the right model")
	}
	began = time.Now()
	settings := twotime.Settings{Start: truth, Threads: runtime.NumCPU()}
	least, err := twotime.FitLeastSquares(context.Background(), *d, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f s for least squares: %v", time.Since(began).Seconds(), least.X[46:])
	began = time.Now()
	e, err := least.SharedErrors(context.Background(), *d, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f s for its errors %v, %.0f effective entries of %d", time.Since(began).Seconds(), e.SD[46:], e.Effective, least.Points)
}

// TestPairsAtFullSize samples the likelihood of all pairs, from where the chains of the cells end.
func TestPairsAtFullSize(t *testing.T) {
	d, truth := fullSize(t, 1024)
	d.Precision = 32
	s := twotime.PosteriorSettings{Threads: runtime.NumCPU()}
	began := time.Now()
	cells, err := twotime.New(context.Background(), *d, flowPriors, s)
	if err != nil {
		t.Fatal(err)
	}
	first, err := infer.Sample(context.Background(), cells, infer.Settings{Seed: 1, Warmup: 500, Draws: 100})
	if err != nil {
		t.Fatal(err)
	}
	s.Likelihood = twotime.ByPairs
	pairs, err := twotime.New(context.Background(), *d, flowPriors, s)
	if err != nil {
		t.Fatal(err)
	}
	ready := time.Since(began)
	fit, err := infer.Sample(context.Background(), pairs, infer.Settings{Seed: 2, From: first, Warmup: 150, Draws: 400})
	if err != nil {
		t.Fatal(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%.0f s to begin with, %.0f s for four chains of all pairs raised to %.3g; %.0f MB from the system for %.0f MB of correlations",
		ready.Seconds(), (time.Since(began) - ready).Seconds(), pairs.Power, float64(m.Sys)/1e6, 23*8.)
	t.Log(fit.Summary())
	for k, name := range d.Setup.Names() {
		draws := fit.Draws(name)
		mean, sd := meanAndSD(diag.Flatten(draws))
		if r := diag.RHat(draws); r > 1.01 {
			t.Errorf("%s: R-hat %.3f", name, r)
		}
		if math.Abs(mean-truth[k]) > 4*sd {
			t.Errorf("%s is %g +- %g, truth %g", name, mean, sd, truth[k])
		}
	}
}
