// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package twotime_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/tensor"
)

// movies returns how many movies each likelihood is judged by.
func movies() int {
	if v, err := strconv.Atoi(os.Getenv("EURYALE_MOVIES")); err == nil {
		return v
	}
	return 1000
}

// prior is a belief that parameters of movies are drawn from: normal, of the logarithm, or of the absolute value.
type prior struct {
	name     string
	kind     byte // 'n', 'l' or 'h'
	mean, sd float64
}

func (p prior) draw(z *tensor.Stream) float64 {
	v := p.mean + p.sd*z.Normal()
	switch p.kind {
	case 'l':
		return math.Exp(v)
	case 'h':
		return math.Abs(v)
	}
	return v
}

func (p prior) declare(m map[string]dist.Dist) {
	switch p.kind {
	case 'l':
		m["log_"+p.name] = dist.Normal(p.mean, p.sd)
	case 'h':
		m[p.name] = dist.HalfNormal(p.sd)
	default:
		m[p.name] = dist.Normal(p.mean, p.sd)
	}
}

// study is a kind of movies.
type study struct {
	setup  transport.Setup
	priors []prior
}

var studies = map[transport.Model]study{
	transport.Static: {sheared(24, 0), []prior{{"D0", 'l', math.Log(4e4), 0.5}, {"alpha", 'n', 0, 0.3}, {"D_offset", 'h', 0, 5000}}},
	transport.Laminar: {sheared(24, 0, 60, 120), []prior{{"D0", 'l', math.Log(2e4), 0.5}, {"alpha", 'n', 0, 0.3}, {"D_offset", 'h', 0, 2500},
		{"gamma_dot_t0", 'l', math.Log(3e-4), 0.5}, {"beta", 'n', 0, 0.3}, {"gamma_dot_t_offset", 'h', 0, 3e-5}, {"phi0", 'n', 0, 10}}},
}

// judgeMovies draws parameters from the prior, simulates a small movie of each and correlates it, and samples the posterior. It returns the ranks of
// the truth, how often 90 % intervals have it, and how often the verdict disagrees with the right model.
func judgeMovies(t *testing.T, m transport.Model, l twotime.Likelihood, known bool, speckles int) (report diag.SBCReport, cover map[string]float64, alarms int) {
	t.Helper()
	const count = 1.0
	of := studies[m]
	s := of.setup
	s.Model = m
	p := twotime.Priors{Motion: map[string]dist.Dist{}, Contrast: twotime.Normal{Mean: 0.17, SD: 0.03}, Offset: twotime.Normal{Mean: 1.02, SD: 0.004}}
	for _, q := range of.priors {
		q.declare(p.Motion)
	}
	names := append(s.Names(), "contrast", "offset")
	sbc, err := diag.NewSBC(names, 99)
	if err != nil {
		t.Fatal(err)
	}
	cover, width := map[string]float64{}, map[string]float64{}
	z := tensor.NewStream(5, 1, 0)
	worst := 0.0
	for i := range movies() {
		sample := twotime.Sample{Speckles: speckles, MeanCount: count, Seed: uint64(i)}
		for _, q := range of.priors {
			sample.Theta = append(sample.Theta, q.draw(&z))
		}
		for range s.Angles {
			sample.Contrast, sample.Offset = append(sample.Contrast, max(0.03, 0.17+0.03*z.Normal())), append(sample.Offset, max(1, 1.02+0.004*z.Normal()))
		}
		d, err := twotime.Simulate(context.Background(), s, sample)
		if err != nil {
			t.Fatal(err)
		}
		if !known {
			d.Noise = nil
		}
		post, err := twotime.New(context.Background(), *d, p, twotime.PosteriorSettings{Likelihood: l, Seed: uint64(i)})
		if err != nil {
			t.Fatalf("movie %d: %v", i, err)
		}
		fit, err := infer.Sample(context.Background(), post, infer.Settings{Chains: 2, Warmup: 300, Draws: 300, Seed: uint64(i), TargetAccept: 0.9})
		if err != nil {
			t.Fatal(err)
		}
		if l == twotime.ByCells {
			v, err := post.Judge(context.Background(), fit, twotime.PosteriorSettings{})
			if err != nil {
				t.Fatal(err)
			}
			if v.Disagrees() {
				alarms++
			}
		}
		c, o := post.Scales(fit, uint64(i))
		var draws [][][]float64
		for _, name := range s.Names() {
			draws = append(draws, fit.Draws(name))
			worst = max(worst, diag.RHat(fit.Draws(name)))
		}
		draws = append(draws, c[0], o[0])
		truth := append(slices.Clone(sample.Theta), sample.Contrast[0], sample.Offset[0])
		if err := sbc.AddFit(i, truth, draws); err != nil {
			t.Fatal(err)
		}
		for k, v := range draws {
			all := slices.Concat(v...)
			slices.Sort(all)
			low, high := all[len(all)/20], all[len(all)-1-len(all)/20]
			if low <= truth[k] && truth[k] <= high {
				cover[names[k]] += 1 / float64(movies())
			}
			width[names[k]] += (high - low) / float64(movies())
		}
	}
	if report, err = sbc.Test(diag.SBCSettings{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("largest R-hat %.3f, %d verdicts disagree\n%v", worst, alarms, report)
	for _, name := range names {
		t.Logf("90 %% intervals have the truth of %s in %.1f %% of movies; mean width %.4g", name, 100*cover[name], width[name])
	}
	return report, cover, alarms
}

func TestPosteriorsOfMoviesAreCalibrated(t *testing.T) {
	for _, c := range []struct {
		model      transport.Model
		likelihood twotime.Likelihood
		known      bool
		speckles   int
	}{
		{transport.Static, twotime.ByCells, true, 2000}, {transport.Static, twotime.ByCells, false, 2000}, {transport.Static, twotime.ByFrames, true, 2000},
		{transport.Laminar, twotime.ByCells, false, 2000}, {transport.Static, twotime.ByCells, false, 300}, {transport.Static, twotime.ByCells, false, 1000},
		{transport.Static, twotime.ByPairs, true, 2000}, {transport.Static, twotime.Independent, true, 2000},
	} {
		t.Run(fmt.Sprintf("%s_%s_noise_known_%v_%d_speckles", c.model, c.likelihood, c.known, c.speckles), func(t *testing.T) {
			t.Parallel()
			report, cover, alarms := judgeMovies(t, c.model, c.likelihood, c.known, c.speckles)
			if c.likelihood == twotime.Independent || c.likelihood == twotime.ByPairs { // shown beside
				return
			}
			if !report.Diagnose().OK() {
				t.Error(report.Diagnose())
			}
			if alarms > movies()/50+2 {
				t.Errorf("%d of %d verdicts disagree with the right model", alarms, movies())
			}
			for name, v := range cover {
				if movies() >= 1000 && (v < 0.87 || v > 0.93) {
					t.Errorf("90 %% intervals of %s have the truth in %.1f %% of movies", name, 100*v)
				}
			}
		})
	}
}
