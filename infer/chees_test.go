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

// Moments of a correlated normal distribution and of eight schools, from many short chains;
// the same draws for any number of goroutines.
func TestChEES(t *testing.T) {
	ctx := context.Background()
	fit, err := infer.ChEES(ctx, correlated(20), infer.ChEESSettings{Seed: 1, Draws: tier.Of(150, 0)})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range fit.Summary().Rows {
		sd := scaleOf(i, 20)
		if z, s := (r.Mean-3)/r.MCSEMean, (r.SD-sd)/r.MCSESD; math.Abs(z) > 5 || math.Abs(s) > 5 || !(r.RHat < 1.02) {
			t.Errorf("%s is %g +- %g, want 3 +- %g (%.1f and %.1f standard errors, R-hat %g)", r.Name, r.Mean, r.SD, sd, z, s, r.RHat)
		}
	}
	m := infer.NewModel("schools")
	hierarchy(m, infer.NonCentred())
	post := compiled(t, m)
	one, err := infer.ChEES(ctx, post, infer.ChEESSettings{Seed: 2, Draws: 200, Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	two, err := infer.ChEES(ctx, post, infer.ChEESSettings{Seed: 2, Draws: 200, Parallel: 2})
	if err != nil || !slices.Equal(one.Draws("mu")[3], two.Draws("mu")[3]) {
		t.Errorf("draws depend on the number of goroutines (%v)", err)
	}
	for name, want := range map[string][2]float64{"mu": {4.36, 3.32}, "tau": {3.59, 3.22}, "theta[A]": {6.19, 5.62}} { // posteriordb
		r := one.Summary().Row(name)
		if z := (r.Mean - want[0]) / r.MCSEMean; math.Abs(z) > 5 || math.Abs(r.SD-want[1]) > 5*r.MCSESD+0.01 || !(r.RHat < 1.02) {
			t.Errorf("%s is %.3f +- %.3f, want %v (%.1f standard errors, R-hat %g)", name, r.Mean, r.SD, want, z, r.RHat)
		}
	}
	w, s := one.Gradients()
	t.Logf("%d + %d gradients, %.4f effective draws per gradient", w, s, one.Summary().MinESS()/float64(w+s))
}

func TestChEESErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := infer.ChEES(ctx, correlated(2), infer.ChEESSettings{Chains: 2}); err == nil || !strings.Contains(err.Error(), "at least 8 chains") {
		t.Errorf("two chains: %v", err)
	}
	cancel()
	if fit, err := infer.ChEES(ctx, correlated(2), infer.ChEESSettings{}); err == nil || fit == nil {
		t.Errorf("cancelled: %v", err)
	}
}
