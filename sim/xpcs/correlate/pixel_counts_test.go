// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate_test

import (
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
	"github.com/euryale-dev/euryale/tensor"
)

// Products of counts in neighbouring frames are 0 where a pixel is blind in the frame after one with counts, lower by the share of blind pixels, and
// not below those of independent frames otherwise.
func TestAdjacentFrames(t *testing.T) {
	for name, c := range map[string]struct {
		counted
		blind float64 // chance to miss all counts of the next frame
		below float64 // by which products are then lower
	}{
		"photons":  {counted{pixels: 1000, frames: 60, count: 0.3, modes: 2, decay: 1, uneven: true}, 0, 0},
		"speckles": {counted{pixels: 1000, frames: 60, count: 0.3, modes: 1, decay: 0.1}, 0, 0},
		"blind":    {counted{pixels: 1000, frames: 60, count: 0.3, modes: 2, decay: 1, uneven: true}, 1, 1},
		"partly":   {counted{pixels: 1000, frames: 200, count: 0.1, modes: 20, decay: 2}, 0.3, 0.28},
	} {
		frames, z := c.movie(), tensor.NewStream(5, 0, 0)
		for i := c.pixels; i < len(frames); i++ {
			if frames[i-c.pixels] > 0 && z.Float64() < c.blind {
				frames[i] = 0
			}
		}
		n := noise(t, c.array(frames), correlate.Settings{})
		below := 1 - n.Adjacent
		if c.blind == 0 && below > 3*n.AdjacentErr || c.blind > 0 && !(below > 5*n.AdjacentErr && math.Abs(below-c.below) < 4*n.AdjacentErr) {
			t.Errorf("%s: products of neighbouring frames are %g +- %g of those of others, with a chance of %g to miss counts", name, n.Adjacent, n.AdjacentErr, c.blind)
		}
	}
}

// Pixels that hardly scatter are named and leave the noise of the others as it is, also where the beam flickers.
func TestStuckPixels(t *testing.T) {
	for name, number := range map[string]func(v float32) float32{
		"constant": func(float32) float32 { return 50 },
		"low":      func(float32) float32 { return 5 },
		"pedestal": func(v float32) float32 { return v + 20 },
	} {
		c := counted{pixels: 600, frames: 100, count: 0.3, modes: 5, decay: 1, uneven: true, seed: 3}
		frames := c.movie()
		want := noise(t, c.array(frames), correlate.Settings{})
		for i := 500; i < len(frames); i += c.pixels {
			frames[i] = number(frames[i])
		}
		n := noise(t, c.array(frames), correlate.Settings{})
		if len(want.Stuck) > 0 || !slices.Equal(n.Stuck, []int{500}) || n.DeadTime != 0 || math.Abs(n.Ratio-want.Ratio) > 0.3*want.RatioErr || math.Abs(n.Adjacent-want.Adjacent) > 0.3*want.AdjacentErr {
			t.Errorf("%s: %+v: want pixel 500 stuck, and otherwise %+v", name, n, want)
		}
	}
}
