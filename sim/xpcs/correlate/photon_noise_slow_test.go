// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package correlate_test

import (
	"testing"

	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

// Of 1,000 movies of photons at most 1 % have a dead time, counts that lower those of the next frame, pixels that are stuck, a
// counter that is full, or readings that are no counts.
func TestPhotonNoiseOfManyRightMovies(t *testing.T) {
	alarms, all := 0, 0
	for _, count := range []float64{0.003, 0.01, 0.1, 1, 5, 30} {
		for _, decay := range []float64{0.001, 0.1, 1} {
			for kind := range 4 {
				for seed := range 17 {
					c := counted{pixels: 400, frames: 60, count: count, modes: 1 + seed%3, decay: decay, ballistic: kind == 1, uneven: kind == 2, seed: uint64(1000*kind + seed)}
					if kind == 3 { // few frames and pixels
						c.pixels, c.frames = 60, 12
					}
					n := noise(t, c.array(c.movie()), correlate.Settings{})
					if all++; n.DeadTime != 0 || 1-n.Adjacent > 5*n.AdjacentErr || len(n.Stuck) > 0 || n.Limit != 0 || n.Gap.Reading != 0 || n.Factor != 0 {
						alarms++
						t.Logf("%+v: %+v", c, n)
					}
				}
			}
		}
	}
	t.Logf("%d of %d movies of photons have a fault", alarms, all)
	if 100*alarms > all {
		t.Errorf("%d of %d movies of photons have a fault", alarms, all)
	}
}
