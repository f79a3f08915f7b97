// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
	"github.com/euryale-dev/euryale/sim/xpcs/speckle"
)

// agedMovie correlates a movie of eight bins, in which every stride-th frame of a longer one of a constant sample is taken: strides
// of 1 and 2 in the halves make relaxation times that halve.
func agedMovie(t *testing.T, seed uint64, first, second int, parts int) (*nexus.Multitau, []float64) {
	t.Helper()
	const side, bins, frames = 24, 8, 400
	n := side * side
	all := frames / 2 * (first + second)
	s := speckle.Sample{Height: side, Width: side, Tau: make([]float64, n), Mean: make([]float64, n), FrameTime: 1, Static: 0.3, Seed: seed}
	maps := correlate.Maps{Height: side, Width: side, Dynamic: make([]int32, n)}
	for i := range n {
		b := i / (n / bins)
		s.Tau[i], s.Mean[i], maps.Dynamic[i] = 3*math.Sqrt(float64(first*second))*math.Pow(1.1, float64(b)), 2, int32(b+1)
	}
	m, err := speckle.New(s)
	if err != nil {
		t.Fatal(err)
	}
	long := make([]float32, all*n)
	m.Frames(long)
	short := make([]float32, 0, frames*n)
	for k := range frames {
		at := k * first
		if k >= frames/2 {
			at = frames/2*first + (k-frames/2)*second
		}
		short = append(short, long[at*n:(at+1)*n]...)
	}
	r, err := correlate.Multitau(context.Background(), correlate.FromArray(short, frames, side, side), maps, correlate.Settings{Normalize: true, Parts: parts})
	if err != nil {
		t.Fatal(err)
	}
	matrix := func(rows [][]float64) *nexus.Matrix {
		out := &nexus.Matrix{Rows: len(rows), Cols: bins}
		for _, row := range rows {
			out.Data = append(out.Data, row...)
		}
		return out
	}
	mt := &nexus.Multitau{G2: matrix(r.G2)}
	for _, p := range r.Parts {
		rows := p.G2
		for len(rows) < len(r.G2) {
			row := make([]float64, bins)
			for i := range row {
				row[i] = math.NaN()
			}
			rows = append(rows, row)
		}
		mt.Partial, mt.PartialFrames = append(mt.Partial, matrix(rows)), append(mt.PartialFrames, float64(p.Frames))
	}
	var delays []float64
	for _, d := range r.Delay {
		delays = append(delays, float64(d.Frames))
	}
	return mt, delays
}

// A sample that ages is named as such, and one that does not is not, however short its movie.
func TestAgeingIsNamed(t *testing.T) {
	for _, c := range []struct{ first, second, parts int }{{1, 1, 2}, {2, 2, 4}, {1, 1, 5}, {1, 2, 2}, {2, 1, 2}, {1, 2, 4}, {2, 1, 5}, {2, 3, 2}} {
		movies, told := tier.Of(3, 1000), 0
		if c.first != c.second {
			movies = min(movies, 20)
		}
		for seed := range movies {
			m, delays := agedMovie(t, uint64(seed), c.first, c.second, c.parts)
			a, ok := ageing(m, delays, delays[len(delays)-1])
			if ok {
				told++
			}
			if ok && c.first != c.second && (a.Text[len("the sample becomes ")] == 's') != (c.first > c.second) {
				t.Errorf("every frame %d, then %d: %s", c.first, c.second, a.Text)
			}
		}
		t.Logf("every frame %d, then %d, in %d parts: told in %d of %d movies", c.first, c.second, c.parts, told, movies)
		if c.first == c.second && told > 1+movies/100 || c.first*2 == c.second && told < movies*9/10 {
			t.Errorf("every frame %d, then %d, in %d parts: told in %d of %d movies", c.first, c.second, c.parts, told, movies)
		}
	}
}
