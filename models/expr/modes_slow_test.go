// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package expr_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/euryale-dev/euryale/infer"
)

// No run passes whose draws lack more than 5 % of the posterior.
func TestNoPassWithoutModes(t *testing.T) {
	for _, c := range posteriorsOfSeveralModes() {
		c.check(t, 10)
	}
}

// Of 10 runs of each posterior with one hard mode none is said to miss another.
func TestHardModeIsOne(t *testing.T) {
	for name, text := range posteriorsOfOneMode {
		oneMode(t, name, text, 10)
	}
}

// Of 240 default and short runs of random frequencies, alone, with an amplitude and with a phase, at places that are whole numbers or
// nearly, none passes whose draws lack more than 5 % of the posterior.
func TestRandomFrequencies(t *testing.T) {
	lacking := 0
	for k := range uint64(40) {
		rng := rand.New(rand.NewPCG(k, 77))
		x := evenly(0, 1, 8+rng.IntN(25))
		for i := range x {
			x[i] += 0.05 * float64(k%2) * rng.NormFloat64()
		}
		highest, sigma := 6+20*rng.Float64(), 0.1+0.6*rng.Float64()
		w := highest * rng.Float64()
		y := measured(k, x, sigma, func(x float64) float64 { return math.Sin(w*x + 0.3) })
		place := func(v []float64) int { return int(60 * v[0] / highest) }
		for _, c := range []severalModes{
			{expr: "sin(w*x+0.3)", axes: []axis{uniform("w", 0, highest, 30000)}},
			{expr: "a*sin(w*x+0.3)", axes: []axis{uniform("w", 0, highest, 3000), positive("a", "halfnormal(2)", 3, 40)}},
			{expr: "sin(w*x+p)", axes: []axis{uniform("w", 0, highest, 2000), uniform("p", -3.14, 3.14, 60)}},
		} {
			c.sigma, c.x, c.y, c.mode = sigma, x, y, place
			c.name = fmt.Sprintf("%s with w = %g of %g", c.expr, w, highest)
			_, p := compile(t, c.document())
			weights := c.weights(t, p)
			for _, cfg := range []infer.Settings{{Seed: k}, {Seed: k, Warmup: 100, Draws: 100}} {
				fit, err := infer.Sample(context.Background(), p, cfg)
				if err != nil {
					t.Fatal(err)
				}
				if missing := c.missing(weights, fit); missing > 0.05 {
					if lacking++; fit.Diagnose().OK() {
						t.Errorf("%s, %d draws: a run passes that lacks %.2g of the posterior", c.name, cfg.Draws, missing)
					}
				}
			}
		}
	}
	t.Logf("of 240 runs %d lack more than 5 %% of the posterior", lacking)
}
