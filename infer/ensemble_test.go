// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/tier"
)

// Moments of a correlated normal distribution with scales from 1 to 10, by each move alone
// and by all; the same draws for any number of goroutines.
func TestEnsemble(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 4
	target := correlated(n)
	density := func(q []float64) float64 {
		lp, _ := target.Clone().LogProbGrad(q, make([]float64, n))
		return lp
	}
	var first []float64
	for name, c := range map[string]infer.EnsembleSettings{
		"all": {}, "stretch": {Stretch: 1}, "differential": {Differential: 1}, "walk": {Walk: 1, Stretch: 0.1},
	} {
		c.Seed, c.Draws = 1, tier.Of(1000, 2000)
		fit, err := infer.Ensemble(context.Background(), n, density, c)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range fit.Summary().Rows {
			sd := scaleOf(i, n)
			if z, s := (r.Mean-3)/r.MCSEMean, (r.SD-sd)/r.MCSESD; math.Abs(z) > 5 || math.Abs(s) > 5 {
				t.Errorf("%s: %s is %g +- %g, want 3 +- %g (%.1f and %.1f standard errors)", name, r.Name, r.Mean, r.SD, sd, z, s)
			}
		}
		if name == "all" {
			first = fit.Column(2)[5]
			c.Parallel = 1
			again, err := infer.Ensemble(context.Background(), n, density, c)
			if err != nil || !slices.Equal(again.Column(2)[5], first) {
				t.Errorf("draws depend on the number of goroutines (%v)", err)
			}
		}
	}
}

func TestEnsembleErrors(t *testing.T) {
	flat := func(q []float64) float64 { return -q[0] * q[0] }
	for word, c := range map[string]infer.EnsembleSettings{"even number above 6": {Walkers: 6}, "numbers of at least 0": {Walk: -1}} {
		if _, err := infer.Ensemble(context.Background(), 3, flat, c); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("error %v, want %q", err, word)
		}
	}
	nan := func([]float64) float64 { return math.NaN() }
	if _, err := infer.Ensemble(context.Background(), 1, nan, infer.EnsembleSettings{}); err == nil {
		t.Error("a density that is never finite: no error")
	}
}
