// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"math"
	"slices"
	"testing"
)

// twoTops is a mixture of two normals of sd 0.5 at x = -3 and 3, the second exp(-lower)
// times the first.
func twoTops(lower float64) Target {
	return Func(2, func(q, g []float64) float64 {
		side := func(at float64) float64 { return -2 * ((q[0]-at)*(q[0]-at) + q[1]*q[1]) }
		a, b := side(-3), side(3)-lower
		top := math.Max(a, b)
		u, v := math.Exp(a-top), math.Exp(b-top)
		g[0] = -4 * (u*(q[0]+3) + v*(q[0]-3)) / (u + v)
		g[1] = -4 * q[1]
		return top + math.Log(u+v)
	})
}

// No chain stays at a top that holds next to nothing of the mass; where two tops
// hold alike both are found.
func TestMinorTops(t *testing.T) {
	const chains = 12 // more than climbs
	for _, c := range []struct {
		lower float64
		both  bool
	}{{0, true}, {5, true}, {60, false}} {
		for seed := range uint64(5) {
			fit, err := Sample(context.Background(), twoTops(c.lower), Settings{Chains: chains, Warmup: 50, Draws: 5, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			var right []bool
			for k := range chains {
				right = append(right, fit.Unconstrained(k, 0)[0] > 0)
			}
			if slices.Contains(right, true) != c.both || !slices.Contains(right, false) {
				t.Errorf("second top lower by %g, seed %d: chains at it %v", c.lower, seed, right)
			}
		}
	}
}

// A low top that is wide and a high one that is narrow both stay.
func TestMinor(t *testing.T) {
	best := modeMass{height: 0, mass: 0}
	for _, c := range []struct {
		modeMass
		want bool
	}{{modeMass{-13, -13}, false}, {modeMass{-15, -15}, true}, {modeMass{-100, 0}, false}, {modeMass{0, -100}, false}, {modeMass{math.NaN(), -100}, false}, {modeMass{math.Inf(-1), math.Inf(-1)}, true}} {
		if got := c.dominated(best, 2); got != c.want {
			t.Errorf("%v is minor: %v, want %v", c.modeMass, got, c.want)
		}
	}
}

// What a chain draws does not depend on the chains beside it, also where they share
// climbs.
func TestChainsOfOneSeed(t *testing.T) {
	target := twoTops(60)
	cfg := Settings{Chains: 10, Warmup: 60, Draws: 20, Seed: 3}
	all := mustSample(t, target, cfg)
	cfg.Chains, cfg.Parallel = 1, 1
	for _, k := range []int{0, 3, 9} {
		cfg.FirstChain = k
		alone := mustSample(t, target, cfg)
		for i := range cfg.Draws {
			if !slices.Equal(alone.Unconstrained(0, i), all.Unconstrained(k, i)) {
				t.Fatalf("chain %d draws otherwise alone", k)
			}
		}
	}
}
