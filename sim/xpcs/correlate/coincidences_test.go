// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate_test

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
	"github.com/euryale-dev/euryale/tensor"
)

// fewPhotons is movies of photons that come independently.
type fewPhotons struct {
	mean   float64 // of a pixel in a frame
	frames int
	gain   float32 // reading of a photon; 0: 1
	s      correlate.Settings
}

// correlated returns the correlation of a movie of 480 pixels in a bin of two static ones.
func (c fewPhotons) correlated(t *testing.T, seed int) *correlate.Result {
	t.Helper()
	const pixels = 480
	maps := correlate.Maps{Height: 1, Width: pixels, Dynamic: make([]int32, pixels), Static: make([]int32, pixels)}
	for i := range maps.Dynamic {
		maps.Dynamic[i], maps.Static[i] = 1, int32(1+i*2/pixels)
	}
	z := tensor.NewStream(uint64(seed), 7, 0)
	readings := make([]float32, c.frames*pixels)
	for at := -math.Log(1 - z.Float64()); at < c.mean*float64(len(readings)); at -= math.Log(1 - z.Float64()) {
		readings[int(at/c.mean)] += max(c.gain, 1)
	}
	s := c.s
	s.Photons, s.Covariance, s.Threads = true, true, 1
	r, err := correlate.Multitau(context.Background(), correlate.FromArray(readings, c.frames, 1, pixels), maps, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pulls returns the root of the mean square of what g2 departs from 1 in its errors, and in those of its covariance, over movies: the largest of all
// delays, and over all delays.
func (c fewPhotons) pulls(t *testing.T, movies int) (worst, all [2]float64) {
	t.Helper()
	var of [2][]float64
	for seed := range movies {
		r := c.correlated(t, seed)
		n := len(r.Delay)
		for i := range of {
			if of[i] == nil {
				of[i] = make([]float64, n)
			}
		}
		for k := range r.Delay {
			d, e, v := r.G2[k][0]-1, r.Err[k][0], r.Cov[0][k*n+k]
			if !(e > 0 && v > 0 && r.Coincidences[k][0] > 0) {
				t.Fatalf("%+v: an error of %g, a variance of %g with %g coincidences", c, e, v, r.Coincidences[k][0])
			}
			of[0][k] += d * d / (e * e)
			of[1][k] += d * d / v
		}
	}
	for i := range of {
		for _, sum := range of[i] {
			worst[i] = max(worst[i], math.Sqrt(sum/float64(movies)))
			all[i] += sum / float64(movies*len(of[i]))
		}
		all[i] = math.Sqrt(all[i])
	}
	return worst, all
}

var fewPhotonMovies = []fewPhotons{
	{mean: 0.02, frames: 60}, {mean: 0.004, frames: 300}, {mean: 0.01, frames: 20}, {mean: 0.001, frames: 3000}, {mean: 0.05, frames: 100}, {mean: 0.2, frames: 20},
	{mean: 0.02, frames: 60, gain: 100}, {mean: 0.02, frames: 60, s: correlate.Settings{Normalize: true}}, {mean: 0.02, frames: 120, s: correlate.Settings{Selection: correlate.Selection{Average: 2}}},
}

// Errors of g2 are those of the statistics of counts where photons are few: of movies with 0.4 coincidences at a delay and more, g2 departs from 1 by its
// error, and no error is 0.
func TestErrorsOfFewPhotons(t *testing.T) { errorsOfFewPhotons(t, 30, 0.7, 0.2) }

func errorsOfFewPhotons(t *testing.T, movies int, at, over float64) {
	for _, c := range fewPhotonMovies {
		worst, all := c.pulls(t, movies)
		t.Logf("%+v: %.2f of the errors, %.2f of the covariance, at one delay up to %.2f and %.2f", c, all[0], all[1], worst[0], worst[1])
		for i := range all {
			if math.Abs(all[i]-1) > over || worst[i] > 1+at {
				t.Errorf("%+v: g2 departs by %.2f errors, at one delay up to %.2f", c, all[i], worst[i])
			}
		}
	}
}

// A correlation that is not asked about photons has the scatter of pixels as its errors, and one of many photons has the same with and without.
func TestErrorsOfManyPhotons(t *testing.T) {
	c := usual()
	c.count = 2
	maps := correlate.Maps{Height: 1, Width: c.pixels, Dynamic: make([]int32, c.pixels)}
	for i := range maps.Dynamic {
		maps.Dynamic[i] = 1
	}
	m := c.array(c.movie())
	of := func(photons bool) *correlate.Result {
		r, err := correlate.Multitau(context.Background(), m, maps, correlate.Settings{Photons: photons, Covariance: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	with, without := of(true), of(false)
	for k := range with.Delay {
		if with.Err[k][0] != without.Err[k][0] {
			t.Errorf("delay %d: an error of %g, without photons %g", k, with.Err[k][0], without.Err[k][0])
		}
	}
	for i, v := range with.Cov[0] {
		if v != without.Cov[0][i] {
			t.Errorf("covariance %d: %g, without photons %g", i, v, without.Cov[0][i])
		}
	}
}
