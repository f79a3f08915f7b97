// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// sheared is a small measurement of a flow.
func sheared(frames int, angles ...float64) transport.Setup {
	s := transport.Setup{Model: transport.Laminar, Q: 0.0054, Gap: 2e6, Angles: angles}
	for i := range frames {
		s.Times = append(s.Times, 0.1*(float64(i)+0.5))
	}
	return s
}

func simulated(t *testing.T, s transport.Setup, theta []float64, count float64, seed uint64) *twotime.Data {
	t.Helper()
	sample := twotime.Sample{Theta: theta, Speckles: 1500, MeanCount: count, Seed: seed}
	for range s.Angles {
		sample.Contrast, sample.Offset = append(sample.Contrast, 0.5), append(sample.Offset, 1.01)
	}
	d, err := twotime.Simulate(context.Background(), s, sample)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var staticPriors = twotime.Priors{Motion: map[string]dist.Dist{"log_D0": dist.Normal(math.Log(2e4), 1), "alpha": dist.Normal(0, 0.3), "D_offset": dist.HalfNormal(5000)},
	Offset: twotime.Normal{Mean: 1.01, SD: 0.01}}

// judgeAtMode judges the static model of data at the mode.
func judgeAtMode(t *testing.T, d *twotime.Data, seed uint64) check.Verdict {
	t.Helper()
	post, err := twotime.New(context.Background(), *d, staticPriors, twotime.PosteriorSettings{Seed: seed, Pixels: 2000})
	if err != nil {
		t.Fatal(err)
	}
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Chains: 1, Warmup: 150, Draws: 100, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	v, err := post.Judge(context.Background(), fit, twotime.PosteriorSettings{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVerdictsOfTheRightModelAreGood(t *testing.T) {
	s := sheared(24, 0)
	s.Model = transport.Static
	const movies = 2 // TestFitsOfMovies has many
	for _, known := range []bool{true, false} {
		alarms := 0
		for i := range movies {
			d := simulated(t, s, []float64{2e4, 0.1, 1000}, 0.5, uint64(i))
			if !known {
				d.Noise = nil
			}
			if v := judgeAtMode(t, d, uint64(i)); v.Disagrees() {
				alarms++
				t.Logf("movie %d: %v", i, v)
			}
		}
		if alarms > 1 {
			t.Errorf("noise known %v: %d of %d verdicts disagree with the right model", known, alarms, movies)
		}
	}
}

func TestVerdictsNameWhatIsWrong(t *testing.T) {
	s := sheared(24, 0, 30, 60, 90)
	s.Model = transport.Static
	static := []float64{2e4, 0.1, 1000}
	for name, c := range map[string]struct {
		data func() *twotime.Data
		want string
	}{
		"flow": {func() *twotime.Data {
			flow := s
			flow.Model = transport.Laminar
			d := simulated(t, flow, append(static, 3e-4, 0, 1e-6, 0), 10, 3)
			d.Setup.Model = transport.Static
			return d
		}, "direction"},
		"contrast": {func() *twotime.Data {
			d := simulated(t, s, static, 10, 3)
			n := len(s.Times)
			for _, c2 := range d.C2 {
				for i := range n {
					for j := range n {
						c2[i*n+j] = 1.01 + (c2[i*n+j]-1.01)*(1-0.3*float64(i+j)/float64(2*n))
					}
				}
			}
			return d
		}, "contrast"},
		"offset": {func() *twotime.Data {
			d := simulated(t, s, static, 10, 3)
			n := len(s.Times)
			for _, c2 := range d.C2 {
				for k := range c2 {
					c2[k] += 0.12 * float64(k/n+k%n) / float64(2*n)
				}
			}
			return d
		}, "offset"},
	} {
		t.Run(name, func(t *testing.T) {
			v := judgeAtMode(t, c.data(), 1)
			if !v.Disagrees() || !strings.Contains(v.String(), c.want) {
				t.Errorf("the verdict does not name the %s:\n%v", c.want, v)
			}
			t.Log(v)
		})
	}
}

func TestVerdictsSayWhenPriorsDisagree(t *testing.T) {
	s := sheared(24, 0)
	s.Model = transport.Static
	d := simulated(t, s, []float64{2e4, 0.1, 1000}, 2, 3)
	p := staticPriors
	p.Contrast = twotime.Normal{Mean: 0.8, SD: 0.02} // it is 0.5
	post, err := twotime.New(context.Background(), *d, p, twotime.PosteriorSettings{})
	if err != nil {
		t.Fatal(err)
	}
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Chains: 1, Warmup: 150, Draws: 100})
	if err != nil {
		t.Fatal(err)
	}
	v, err := post.Judge(context.Background(), fit, twotime.PosteriorSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if !v.Disagrees() || !strings.Contains(v.String(), "contrast[0]") {
		t.Errorf("the verdict does not name the prior of contrast:\n%v", v)
	}
}

// Entries without a usable standard deviation are left out and counted: a few are noted, more are flagged, and infinite ones were asked for.
func TestEntriesWithoutErrorsAreTold(t *testing.T) {
	s := sheared(24, 0)
	s.Model = transport.Static
	theta := []float64{2e4, 0.1, 1000}
	for name, c := range map[string]struct {
		put   []float64
		note  bool
		count int
	}{
		"none":     {nil, false, 0},
		"infinite": {[]float64{math.Inf(1), math.Inf(1)}, false, 0},
		"a few":    {[]float64{0, -1, math.NaN()}, true, 3},
		"more":     {make([]float64, 20), false, 20},
	} {
		d := simulated(t, s, theta, 0.5, 3)
		d.Sigma = [][]float64{slices.Repeat([]float64{0.02}, 24*24)}
		for k, v := range c.put {
			d.Sigma[0][k*24+k+1] = v
		}
		v, err := twotime.Judge(t.Context(), *d, twotime.Point{Theta: theta, Contrast: []float64{0.5}, Offset: []float64{1.01}}, []string{"D0", "alpha", "D_offset"}, twotime.Individual, twotime.PosteriorSettings{Pixels: 2000})
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%d of 276 pairs of c2 were left out", c.count)
		among := func(all []check.Flag) bool {
			return slices.ContainsFunc(all, func(f check.Flag) bool { return strings.HasPrefix(f.Text, want) })
		}
		if noted, flagged := among(v.Notes), among(v.Flags); noted != (c.count > 0 && c.note) || flagged != (c.count > 0 && !c.note) {
			t.Errorf("%s: noted %v, flagged %v: %v", name, noted, flagged, v)
		}
	}
}
