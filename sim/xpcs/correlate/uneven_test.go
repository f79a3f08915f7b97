// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/parallel"
)

// Static bins count alike in g2, however few pixels they have, as those in corners of a detector and beside a beam stop. Errors are the scatter
// over movies there too.
func TestErrorsOfUnevenStaticBins(t *testing.T) {
	const side, frames, movies = 20, 60, 150
	maps := Maps{Height: side, Width: side, Dynamic: make([]int32, side*side), Static: make([]int32, side*side)}
	for i := range maps.Dynamic {
		maps.Dynamic[i], maps.Static[i] = 1, 4
		switch { // bins of 1, 2 and 25 pixels; the others in one
		case i == 0:
			maps.Static[i] = 1
		case i < 3:
			maps.Static[i] = 2
		case i < 28:
			maps.Static[i] = 3
		}
	}
	results, errs := make([]*Result, movies), make([]error, movies)
	parallel.Do(2, movies, func(_, i int) {
		results[i], errs[i] = Multitau(context.Background(), FromArray(wideSpeckles(frames, side, 0, 0.7, uint64(1000+i)), frames, side, side), maps, Settings{Covariance: true, Threads: 1})
	})
	if err := first(errs); err != nil {
		t.Fatal(err)
	}
	n := len(results[0].Delay)
	for _, k := range []int{0, 3, 6} {
		mean, square, variance := 0.0, 0.0, 0.0
		for _, r := range results {
			mean, square = mean+r.G2[k][0]/movies, square+r.G2[k][0]*r.G2[k][0]/movies
			variance += r.Cov[0][k*n+k] / movies
		}
		// The relative error of a standard deviation of 150 movies is 0.06.
		if ratio := math.Sqrt((square - mean*mean) / variance); !(0.7 < ratio && ratio < 1.3) {
			t.Errorf("delay %d: g2 scatters %.2f times as much as its errors say", results[0].Delay[k].Frames, ratio)
		}
	}
	if s := results[0].Samples[0] * results[0].Area[0]; !(s > 300 && s <= side*side) {
		t.Errorf("%g samples of %d pixels", s, side*side)
	}
}

// The weights of static bins of equal size are those of the plain estimate with n - S degrees of freedom.
func TestWeightsOfEvenStaticBins(t *testing.T) {
	for _, c := range []int{2, 10, common, 400} {
		w, samples := bin{count: []int{c, c, c}}.weights()
		if want := 1 / (9 * float64(c*(c-1))); math.Abs(w[1]/want-1) > 1e-12 || math.Abs(samples-float64(3*c)) > 1e-9 {
			t.Errorf("%d pixels: weight %g, want %g; %g samples", c, w[1], want, samples)
		}
	}
}
