// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/models/g2"
)

// Diffusion in SI units has a tau0 far below 1e-6, and every relaxation time stands at its own q.
func TestPowerLawInSIUnits(t *testing.T) {
	model, _ := g2.ByName("power")
	for _, tau0 := range []float64{1e-20, 3e-9, 3e-5, 20} {
		c := g2.Curve{Bin: 1}
		for i := range 8 {
			q := 0.001 * float64(i+1)
			tau := tau0 * math.Pow(q, -2) * (1 + 0.01*float64(1-2*(i%2)))
			c.X, c.Y, c.Err = append(c.X, q), append(c.Y, tau), append(c.Err, 0.01*tau)
		}
		f, err := g2.FitOne(context.Background(), model, c, g2.Settings{})
		if err != nil || !f.OK() || math.Abs(f.X[0]/tau0-1) > 0.1 || math.Abs(f.X[1]-2) > 0.02 {
			t.Errorf("tau0 %g: %v, %v %s", tau0, f.X, err, f.Message)
		}
	}
}

// One relaxation time says nothing about a power law: it is an error, and not the same time at every q.
func TestPowerLawOfOneTime(t *testing.T) {
	model, _ := g2.ByName("power")
	f, err := g2.FitOne(context.Background(), model, g2.Curve{Bin: 1, X: []float64{0.01}, Y: []float64{2}, Err: []float64{0.1}}, g2.Settings{})
	if err == nil && f.OK() {
		t.Errorf("a power law of one point: %v +- %v", f.X, f.SD)
	}
	f, err = g2.FitOne(context.Background(), model, g2.Curve{Bin: 1, X: []float64{0.01, 0.02, 0.03}, Y: []float64{2}, Err: []float64{0.1}}, g2.Settings{})
	if err == nil && f.OK() {
		t.Errorf("one time for three q: %v +- %v", f.X, f.SD)
	}
}
