// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate_test

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

// changed returns a movie whose counts were changed.
func (c counted) changed(counts []float32, f func(n float64) float64) correlate.Movie {
	frames := make([]float32, len(counts))
	for i, v := range counts {
		frames[i] = float32(f(float64(v)))
	}
	return c.array(frames)
}

// A counter that is full is told with its limit and the share of the readings there, and is not taken for a dead time.
func TestLimitsOfCounters(t *testing.T) {
	for _, c := range []struct{ mean, limit float64 }{{0.5, 2}, {2, 3}, {2, 6}, {2, 2}, {10, 7}, {10, 15}, {10, 31}, {50, 63}, {200, 255}} {
		for _, modes := range []int{1, 50} {
			m := counted{pixels: 1000, frames: 24, count: c.mean, modes: modes, decay: 0.3, seed: 4}
			if c.mean > 100 {
				m.pixels = 300
			}
			share := 0.0
			movie := m.changed(m.movie(), func(n float64) float64 {
				if n >= c.limit {
					share += 1 / float64(m.pixels*m.frames)
				}
				return min(n, c.limit)
			})
			n := noise(t, movie, correlate.Settings{})
			if told := n.Limit == c.limit; n.DeadTime != 0 || n.Gap.Reading != 0 || share > 0.005 && !told || told && math.Abs(n.AtLimit-share) > 0.02*share+1e-4 {
				t.Errorf("mean %g, %d modes, %.3g %% at the limit %g: %+v", c.mean, modes, 100*share, c.limit, n)
			}
		}
	}
}

// A counter of one bit cannot be told from a dead time, and both are given.
func TestCounterOfOneBit(t *testing.T) {
	m := counted{pixels: 1000, frames: 60, count: 0.3, modes: 50, decay: 3, seed: 4}
	n := noise(t, m.changed(m.movie(), func(n float64) float64 { return min(n, 1) }), correlate.Settings{})
	if n.Limit != 1 || n.AtLimit != n.Mean || !(n.DeadTime > 0) {
		t.Errorf("%+v", n)
	}
	m.count = 0.003 // where no pixel counts twice
	if n := noise(t, m.array(m.movie()), correlate.Settings{}); n.Limit != 0 || n.DeadTime != 0 {
		t.Errorf("few counts: %+v", n)
	}
}

// Counts that were scaled and rounded are no counts of photons and have no dead time.
func TestReadingsThatAreNoCounts(t *testing.T) {
	for _, mean := range []float64{0.5, 2, 10, 50} {
		for _, modes := range []int{1, 50} {
			m := counted{pixels: 1000, frames: 24, count: mean, modes: modes, decay: 0.3, seed: 5}
			counts := m.movie()
			for _, gain := range []float64{0.5, 0.7, 0.9, 1.1, 1.3, 2.5} {
				n := noise(t, m.changed(counts, func(n float64) float64 { return math.Round(gain * n) }), correlate.Settings{})
				if n.DeadTime != 0 || n.Limit != 0 || gain > 0.5 && gain != 0.9 && mean > 1 && n.Gap.Reading == 0 {
					t.Errorf("mean %g, %d modes, gain %g: %+v", mean, modes, gain, n)
				}
			}
		}
	}
}
