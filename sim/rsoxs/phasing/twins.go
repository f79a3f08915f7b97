// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package phasing

import (
	"context"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/tensor"
)

// A sample that is the convolution of two figures has the magnitudes of the sample in which one of them is turned by half a turn
// (homometric structures). Random starts may all find the same of the two. The other shares one figure with the sample and the other one with
// the turned sample, so that starts halfway between these two lead to it more often.

// twinNoise are the random parts of such starts, relative to the largest value.
var twinNoise = []float64{0.1, 0.3, 0.6}

// towardsTwins iterates from starts halfway between a sample and itself turned, as many as there were random ones.
func (v *solver) towardsTwins(ctx context.Context, best *run) []*run {
	halfway := v.halfway(best)
	most := slices.Max(halfway[0])
	runs := make([]*run, v.Restarts)
	parallel.Do(v.Threads, v.Restarts, func(_, number int) {
		if ctx.Err() != nil {
			return
		}
		random := tensor.NewStream(v.Seed, purpose, uint32(v.Restarts+number+1))
		var fields [][]float64
		for _, h := range halfway {
			x := make([]float64, v.n)
			for i := range x {
				if u := random.Float64(); v.original[i] {
					x[i] = h[i] + twinNoise[number%len(twinNoise)]*most*(u-0.5)
				}
			}
			fields = append(fields, x)
		}
		runs[number] = v.runFrom(ctx, fields)
	})
	return runs
}

// halfway returns the mean of a sample and itself turned, moved to where the two have most in common.
func (v *solver) halfway(best *run) (out [][]float64) {
	best.transform()
	c := make([]complex128, v.n)
	for i, z := range best.f[0] { // the turned sample has the conjugate transform
		c[i] = z * z
	}
	best.fft.Complex128(c, c, false, &best.ws)
	shift, most := 0, math.Inf(-1)
	for i, z := range c {
		if real(z) > most {
			shift, most = i, real(z)
		}
	}
	sy, sx := shift/v.Shape[1], shift%v.Shape[1]
	for _, x := range best.fields {
		mean := make([]float64, v.n)
		for i, value := range x {
			o := v.opposite(i)
			y, c := (o/v.Shape[1]+sy)%v.Shape[0], (o%v.Shape[1]+sx)%v.Shape[1]
			mean[i] += value / 2
			mean[y*v.Shape[1]+c] += value / 2
		}
		out = append(out, mean)
	}
	return out
}
