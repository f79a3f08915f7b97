// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package morph_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/morph"
)

// Truths drawn from the prior rank uniformly among the draws of posteriors of counts:
// where most pixels count nothing, at medium ones and at nearly 1e9. The counts are
// drawn here and not by the model, so that what the model adds to a mean is seen.
func TestPosteriorsOfCountsAreCalibrated(t *testing.T) {
	const fits, ranks = 200, 49
	for _, level := range []float64{30, 1e4, 8e8} {
		b := ball{width: 2, small: true}
		radius, aligned := dist.Uniform(8, 12), dist.Beta(2, 2)
		brightest := 0.0
		for _, v := range b.pattern(t, ballTruth).Float64s() {
			if v > brightest { // not NaN, where nothing is seen
				brightest = v
			}
		}
		b.counts = level / brightest
		place := map[string][]int{}
		for k := range fits {
			r := rand.New(rand.NewPCG(uint64(k), 77))
			truth := []float64{8 + 4*r.Float64(), 6, median3(r)}
			d := b.measured(t, r, truth, nil)
			v := b.inversion(t, d, []float64{10, 6, 0.5})
			v.Params = []morph.Param{{Name: "radius", Start: []float64{10}, Prior: &radius}, {Name: "aligned", Start: []float64{0.5}, Prior: &aligned}}
			v.Build = func(p []*ad.Node) morph.Scene { return b.scene([]*ad.Node{p[0], ad.Scalar(6), p[1]}) }
			fit, err := v.Sample(context.Background(), infer.Settings{Chains: 1, Seed: uint64(k), Warmup: 200, Draws: 10 * ranks, Parallel: 1})
			if err != nil {
				t.Fatal(err)
			}
			for name, x := range map[string]float64{"radius": truth[0], "aligned": truth[2]} {
				rank := 0
				for i, v := range fit.Draws(name)[0] {
					if i%10 == 0 && v < x {
						rank++
					}
				}
				place[name] = append(place[name], rank)
			}
		}
		for name, list := range place {
			u, err := diag.TestUniform(list, ranks+1, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%g counts, %s: p of chi-square %.3g, of the ECDF %.3g, lean %+.2g", level, name, u.PChi, u.PECDF, u.Lean)
			if math.Min(u.PChi, u.PECDF) < 0.01/6 {
				t.Errorf("%g counts: ranks of %s are not uniform: %+v", level, name, u)
			}
		}
	}
}

// median3 is the median of three uniform numbers, a Beta(2, 2) one.
func median3(r *rand.Rand) float64 {
	a, b, c := r.Float64(), r.Float64(), r.Float64()
	return max(min(a, b), min(max(a, b), c))
}
