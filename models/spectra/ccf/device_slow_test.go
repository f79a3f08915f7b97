// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package ccf

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/models/spectra"
)

// Guesses on a device are those of the processor, up to rounding, and nothing of the programs runs on the processor.
func TestGuessesOnDevice(t *testing.T) {
	pretend.Shared(t)
	var stars []spectra.Star
	for i := range 5 {
		stars = append(stars, smallStar(40*float64(i)-100, 10, uint64(i)))
	}
	for _, c := range []*Templates{small(t), kept(t, small(t))} {
		want := find(t, c, Settings{Batch: 4}, stars...)
		for i, g := range append(find(t, c, Settings{Batch: 4, Backend: ad.CUDA{Strict: true}}, stars...), find(t, c, Settings{Batch: 2, Threads: 2, Backend: ad.Several{{Device: 0, Weights: ad.Float16}, {Device: 1}}}, stars...)...) {
			if i %= len(stars); g.Err != nil || math.Abs(g.Vel-want[i].Vel) > 1e-3 || g.Template != want[i].Template || worst(g.Curve, want[i].Curve) > 1e-5 {
				t.Errorf("star %d on the device: template %d at %g km/s (%v), want %d at %g", i, g.Template, g.Vel, g.Err, want[i].Template, want[i].Vel)
			}
		}
	}
}
