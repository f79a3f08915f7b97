// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime_test

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// Errors that allow for shared frames are the scatter of fits of many movies; those of independent entries are too small by up to a half. Where the
// model bends, standard deviations are those of lopsided intervals and so somewhat larger than the scatter. A few movies see coarse errors alone.
func TestSharedErrorsAreTheScatterOfMovies(t *testing.T) {
	tier.SlowOnly(t)
	if tier.Slow {
		sharedErrors(t, 300, 0.78, 1.12)
		return
	}
	sharedErrors(t, 6, 0.3, 1.9)
}

// sharedErrors compares the scatter of fits of movies with their errors, whose ratio is to be between two numbers.
func sharedErrors(t *testing.T, movies int, low, high float64) {
	s := sheared(24, 0)
	s.Model = transport.Static
	truth := []float64{4e4, 0.1, 0}
	settings := twotime.Settings{Start: truth, Fixed: []string{"D_offset"}}
	var sum, square, told, naive [4]float64
	inside, all := [4]int{}, float64(movies)
	for i := range movies {
		d, err := twotime.Simulate(context.Background(), s, twotime.Sample{Theta: truth, Contrast: []float64{0.5}, Offset: []float64{1}, Speckles: 1000, MeanCount: 1, Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			d.Noise = nil
		}
		sd := math.Sqrt(1.5 * 1.5 / 1000)
		sigma := make([]float64, 24*24)
		for k := range sigma {
			sigma[k] = sd
		}
		d.Sigma = [][]float64{sigma}
		fit, err := twotime.FitLeastSquares(context.Background(), *d, settings)
		if err != nil {
			t.Fatal(err)
		}
		e, err := fit.SharedErrors(context.Background(), *d, settings)
		if err != nil {
			t.Fatal(err)
		}
		if e.Effective < 12 || e.Effective > 60 {
			t.Errorf("%.0f effective entries of %d", e.Effective, fit.Points)
		}
		if p := e.Noise[0].Speckles; math.Abs(p/1000-1) > 0.6 || math.Abs(e.Noise[0].InverseCount-1) > 0.1 {
			t.Errorf("movie %d has %.0f speckles and 1/%.3f counts", i, p, e.Noise[0].InverseCount)
		}
		for k, v := range fit.X {
			sum[k] += v / all
			square[k] += v * v / all
			told[k] += e.SD[k] * e.SD[k] / all
			naive[k] += fit.SD[k] * fit.SD[k] / all
			want := []float64{0.5, 1, truth[0], truth[1]}[k]
			if math.Abs(v-want) < 1.645*e.SD[k] {
				inside[k]++
			}
		}
	}
	for k, name := range []string{"contrast", "offset", "D0", "alpha"} {
		spread := math.Sqrt(square[k] - sum[k]*sum[k])
		if r := spread / math.Sqrt(told[k]); r < low || r > high {
			t.Errorf("%s scatters %.2f times its errors", name, r)
		}
		if c := float64(inside[k]) / all; math.Abs(c-0.9) > 0.02+3*math.Sqrt(0.09/all) {
			t.Errorf("90 %% intervals have the truth of %s in %.0f %% of movies", name, 100*c)
		}
		t.Logf("%s: scatter over errors %.2f, over errors of independent entries %.2f, coverage %.2f", name, spread/math.Sqrt(told[k]), spread/math.Sqrt(naive[k]), float64(inside[k])/all)
	}
}
