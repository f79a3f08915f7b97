// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/tier"
)

// twoModes is a mixture of two normal distributions of standard deviation 1 in n dimensions, the second one of the given weight
// and at a distance of 12 from the first.
func twoModes(n int, weight float64) infer.Target {
	return infer.Func(n, func(q, g []float64) float64 {
		a, b := 0.0, 0.0
		for i, v := range q {
			w := v
			if i == 0 {
				v, w = v+6, w-6
			}
			a, b = a-v*v/2, b-w*w/2
		}
		a, b = a+math.Log(1-weight), b+math.Log(weight)
		top := max(a, b)
		lp := top + math.Log(math.Exp(a-top)+math.Exp(b-top))
		p := math.Exp(b - lp)
		for i, v := range q {
			g[i] = -v
			if i == 0 {
				g[i] = -(1-p)*(v+6) - p*(v-6)
			}
		}
		return lp
	})
}

// Two modes that no chain can cross between are told, whether the chains are divided among them or not.
func TestMissedModes(t *testing.T) {
	t.Parallel()
	alone, told := 0, 0
	for seed := range uint64(60) {
		fit, err := infer.Sample(context.Background(), twoModes(3, 0.3), infer.Settings{Seed: seed, Warmup: 200, Draws: 400})
		if err != nil {
			t.Fatal(err)
		}
		left, right := 0, 0
		for c := range fit.Chains() {
			if fit.Column(0)[c][0] < 0 {
				left++
			} else {
				right++
			}
		}
		if left > 0 && right > 0 {
			if fit.Diagnose().OK() {
				t.Errorf("seed %d: chains in both modes pass", seed)
			}
			continue
		}
		alone++
		for _, a := range fit.Diagnose().Problems() {
			if a.Check == diag.CheckModes {
				told++
			}
		}
	}
	t.Logf("all chains in one mode in %d runs of 60, of which %d tell of the other", alone, told)
	if told < alone*9/10 {
		t.Errorf("of %d runs with all chains in one mode, only %d tell of the other", alone, told)
	}
}

// farMode has the standard normal distribution and another of the same weight at a place of its first parameter.
func farMode(dim int, at, sd float64) infer.Target {
	return infer.Func(dim, func(q, g []float64) float64 {
		a, b := -q[0]*q[0]/2, -(q[0]-at)*(q[0]-at)/2/sd/sd-math.Log(sd)
		most := max(a, b)
		lp := most + math.Log(math.Exp(a-most)+math.Exp(b-most))
		g[0] = -math.Exp(a-lp)*q[0] - math.Exp(b-lp)*(q[0]-at)/sd/sd
		for i := 1; i < dim; i++ {
			lp -= q[i] * q[i] / 2 * float64(i*i)
			g[i] = -q[i] * float64(i*i)
		}
		return lp
	})
}

// Chains of a target without priors begin near 0. A mode that is far from there is told, as points from afar lie beside it, or climbs from there lead to it.
func TestModesFarFromZero(t *testing.T) {
	t.Parallel()
	runs := tier.Of(5, 20)
	for _, c := range []struct {
		dim           int
		at, sd, share float64
	}{{3, 30, 1, 0.9}, {1, 100, 0.1, 0.7}, {10, 1000, 1, 0.4}, {40, 30, 1, 0.9}} {
		told := 0
		for seed := range uint64(runs) {
			fit, err := infer.Sample(context.Background(), farMode(c.dim, c.at, c.sd), infer.Settings{Seed: seed, Draws: 600})
			if err != nil {
				t.Fatal(err)
			}
			if missed := fit.MissedModes(); len(missed) == 1 && math.Abs(missed[0].At[0]-c.at) < 0.1 && !fit.Diagnose().OK() {
				told++
			}
		}
		if t.Logf("%+v: %d of %d runs tell of the mode", c, told, runs); float64(told) < c.share*float64(runs) {
			t.Errorf("%+v: %d of %d runs tell of the mode", c, told, runs)
		}
	}
}
