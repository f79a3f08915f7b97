// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime_test

import (
	"context"
	"testing"

	"github.com/euryale-dev/euryale/models/twotime"
)

// One contrast for all angles is right where contrasts are equal, and wrong where they are not.
func TestScalingsAreToldApart(t *testing.T) {
	s := sheared(30, 0, 45, 90, 135)
	theta := []float64{2e4, 0.1, 1000, 1e-4, 0, 1e-5, 0}
	for name, contrasts := range map[twotime.Scaling][]float64{twotime.Averaged: {0.5, 0.5, 0.5, 0.5}, twotime.Individual: {0.35, 0.5, 0.65, 0.5}} {
		d, err := twotime.Simulate(context.Background(), s, twotime.Sample{Theta: theta, Contrast: contrasts, Offset: []float64{1.01, 1.01, 1.01, 1.01}, Speckles: 1500, MeanCount: 2, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		all, err := twotime.CompareScalings(context.Background(), *d, twotime.Settings{Start: theta, Fixed: []string{"D_offset", "gamma_dot_t_offset"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 2 || all[0].Scaling != name || all[0].BIC != 0 || all[1].BIC < 5 {
			t.Errorf("of equal contrasts (%s): %s is best, %s is %.1f worse", name, all[0].Scaling, all[1].Scaling, all[1].BIC)
		}
	}
}
