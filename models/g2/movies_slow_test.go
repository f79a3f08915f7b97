// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package g2

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
	"github.com/euryale-dev/euryale/sim/xpcs/speckle"
	"github.com/euryale-dev/euryale/tensor"
)

const (
	movieSide   = 32
	movieFrames = 400
	movieStep   = 1e-3 // s
)

// movieCurve simulates a small movie of one bin and correlates it. mean is that of the counts of a pixel.
func movieCurve(t *testing.T, seed uint64, tau, contrast, mean float64) Curve {
	t.Helper()
	const n = movieSide * movieSide
	s := speckle.Sample{Height: movieSide, Width: movieSide, Tau: make([]float64, n), Mean: make([]float64, n), FrameTime: movieStep, Static: 1 - math.Sqrt(contrast), Seed: seed}
	maps := correlate.Maps{Height: movieSide, Width: movieSide, Dynamic: make([]int32, n)}
	for i := range n {
		s.Tau[i], s.Mean[i], maps.Dynamic[i] = tau, mean, 1
	}
	m, err := speckle.New(s)
	if err != nil {
		t.Fatal(err)
	}
	frames := make([]float32, movieFrames*n)
	m.Frames(frames)
	r, err := correlate.Multitau(context.Background(), correlate.FromArray(frames, movieFrames, movieSide, movieSide), maps, correlate.Settings{Covariance: true})
	if err != nil {
		t.Fatal(err)
	}
	c := Curve{Bin: 1, Cov: r.Cov[0], Skew: r.Skew[0], Samples: n}
	for k, d := range r.Delay {
		c.X, c.Y, c.Err = append(c.X, float64(d.Frames)*movieStep), append(c.Y, r.G2[k][0]), append(c.Err, r.Err[k][0])
	}
	return c
}

// TestErrorsAreTheScatterOfMovies compares the standard errors of g2 and the correlations of its points, as one movie tells them, with the scatter over
// movies of the same sample: within 15 % and 0.15.
func TestErrorsAreTheScatterOfMovies(t *testing.T) {
	const movies = 400
	first := movieCurve(t, 0, 6e-3, 0.5, 0.5)
	n := len(first.X)
	mean, second, told := make([]float64, n), make([]float64, n*n), make([]float64, n*n)
	for i := range movies {
		c := movieCurve(t, uint64(i)+1, 6e-3, 0.5, 0.5)
		for a := range n {
			mean[a] += c.Y[a] / movies
			for b := range n {
				second[a*n+b] += c.Y[a] * c.Y[b] / movies
				told[a*n+b] += c.Cov[a*n+b] / movies
			}
		}
	}
	cov := func(a, b int) float64 { return second[a*n+b] - mean[a]*mean[b] }
	for a := range n {
		if bias := mean[a] - 1 - 0.5*math.Exp(-2*first.X[a]/6e-3); math.Abs(bias) > 5*math.Sqrt(cov(a, a)/movies)+2e-3 {
			t.Errorf("g2 after %g s is off by %.4f", first.X[a], bias)
		}
		if ratio := math.Sqrt(told[a*n+a] / cov(a, a)); math.Abs(ratio-1) > 0.15 {
			t.Errorf("after %g s errors are %.3f of the scatter", first.X[a], ratio)
		}
		for b := range a {
			got, want := told[a*n+b]/math.Sqrt(told[a*n+a]*told[b*n+b]), cov(a, b)/math.Sqrt(cov(a, a)*cov(b, b))
			if math.Abs(got-want) > 0.25 {
				t.Errorf("points at %g and %g s: correlation %.2f, over movies %.2f", first.X[a], first.X[b], got, want)
			}
		}
	}
}

// TestPosteriorsOfMoviesAreCalibrated draws samples from the prior, simulates and correlates a small movie of each, and checks that the truth has every rank among
// the draws of its posterior equally often.
func TestPosteriorsOfMoviesAreCalibrated(t *testing.T) {
	const movies = 320
	model, err := ByName("single")
	if err != nil {
		t.Fatal(err)
	}
	s := Settings{Fixed: map[string]float64{"baseline": 1}, Priors: map[string]dist.Dist{"tau": dist.LogNormal(math.Log(8e-3), 0.6), "contrast": dist.Uniform(0.2, 0.9)}}
	sbc, err := diag.NewSBC([]string{"tau", "contrast"}, 99)
	if err != nil {
		t.Fatal(err)
	}
	stream := tensor.NewStream(11, 1, 0)
	worst := 0.0
	for i := range movies {
		tau, contrast := 8e-3*math.Exp(0.6*stream.Normal()), 0.2+0.7*stream.Float64()
		c := movieCurve(t, uint64(i), tau, contrast, 0.4)
		m, err := Posterior(model, c, s)
		if err != nil {
			t.Fatal(err)
		}
		post, err := m.Compile()
		if err != nil {
			t.Fatal(err)
		}
		f, err := FitOne(context.Background(), model, c, s)
		if err != nil {
			t.Fatal(err)
		}
		cfg := infer.Settings{Chains: 2, Warmup: 300, Draws: 300, Seed: uint64(i)}
		if cfg.Init, err = Starts(post, f, s, 2, uint64(i)); err != nil {
			t.Fatal(err)
		}
		fit, err := infer.Sample(context.Background(), post, cfg)
		if err != nil {
			t.Fatal(err)
		}
		worst = max(worst, fit.Summary().MaxRHat())
		if err := sbc.AddFit(i, []float64{tau, contrast}, [][][]float64{fit.Draws("tau"), fit.Draws("contrast")}); err != nil {
			t.Fatal(err)
		}
	}
	report, err := sbc.Test(diag.SBCSettings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("largest R-hat %.3f\n%v", worst, report)
	if !report.Diagnose().OK() {
		t.Error(report.Diagnose())
	}
}
