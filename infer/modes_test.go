// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
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

// Chains of a target without priors begin near 0. A mode that is far from there is told, as climbs from afar lead to it.
func TestModesFarFromZero(t *testing.T) {
	t.Parallel()
	pair := twoModes(3, 0.3)
	far := infer.Func(3, func(q, g []float64) float64 { // the first mode at 0, the second at 12
		lp, err := pair.LogProbGrad([]float64{q[0] - 6, q[1], q[2]}, g)
		if err != nil {
			return math.NaN()
		}
		return lp
	})
	told := 0
	for seed := range uint64(10) {
		fit, err := infer.Sample(context.Background(), far, infer.Settings{Seed: seed, Warmup: 200, Draws: 400})
		if err != nil {
			t.Fatal(err)
		}
		if missed := fit.MissedModes(); len(missed) == 1 && math.Abs(missed[0].At[0]-12) < 0.1 && !fit.Diagnose().OK() {
			told++
		}
	}
	if told < 7 { // eight places within 10 of 0 all lie on this side of 6 in 17 % of the runs
		t.Errorf("%d of 10 runs tell of the mode", told)
	}
}
