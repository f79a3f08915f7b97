// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/infer"
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

// Fits and priors of power laws do not depend on the units of q and of relaxation times.
func TestPowerLawInAnyUnits(t *testing.T) {
	for _, c := range []struct {
		model    string
		exponent float64
	}{{"power", 2}, {"power", 3.5}, {"aps_power", 2}, {"aps_power", 3.5}} {
		model, _ := g2.ByName(c.model)
		var want g2.Fit
		for _, second := range []float64{1, 1e3, 1e9, 1e15} {
			for _, angstrom := range []float64{1, 10, 1e10} {
				curve := g2.Curve{Bin: 1}
				for i := range 9 {
					q := 2e-3 * math.Pow(15, float64(i)/8)
					tau := 1e-7 * math.Pow(q/1e-2, -c.exponent) * 1e4 * (1 + 0.03*math.Sin(float64(5*i)))
					curve.X, curve.Y, curve.Err = append(curve.X, q*angstrom), append(curve.Y, tau*second), append(curve.Err, 0.03*tau*second)
				}
				f, err := g2.FitOne(context.Background(), model, curve, g2.Settings{})
				if err != nil {
					t.Fatal(err)
				}
				if want.X == nil {
					want = f
				}
				if math.Abs(f.X[1]-want.X[1]) > 1e-5*math.Abs(want.X[1]) || math.Abs(f.ReducedChiSquared/want.ReducedChiSquared-1) > 1e-5 || len(f.Warnings) != len(want.Warnings) {
					t.Errorf("%s, exponent %g, s x %g, 1/A x %g: %v, chi2 %g, %q; want %v, chi2 %g, %q", c.model, c.exponent, second, angstrom, f.X, f.ReducedChiSquared, f.Warnings, want.X, want.ReducedChiSquared, want.Warnings)
				}
			}
		}
	}
}

// The default prior of tau0 does not move what the data say, in any unit.
func TestPriorOfPowerLawInAnyUnits(t *testing.T) {
	model, _ := g2.ByName("power")
	for _, second := range []float64{1, 1e15} {
		c := g2.Curve{Bin: 1}
		for i := range 9 {
			q := 2e7 * math.Pow(15, float64(i)/8)
			tau := second * 1e13 * math.Pow(q, -2) * (1 + 0.03*math.Sin(float64(5*i)))
			c.X, c.Y, c.Err = append(c.X, q), append(c.Y, tau), append(c.Err, 0.03*tau)
		}
		f, err := g2.FitOne(context.Background(), model, c, g2.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		s := sample(t, model, c, g2.Settings{}, infer.Settings{Warmup: 300, Draws: 300}).Summary()
		if r := s.Row("alpha"); math.Abs(r.Mean-f.X[1]) > 0.3*f.SD[1] {
			t.Errorf("s x %g: alpha %.4f +- %.4f, the fit has %.4f +- %.4f", second, r.Mean, r.SD, f.X[1], f.SD[1])
		}
	}
}

// Equal times without errors have no scatter that tells how well they determine a power law.
func TestEqualTimesWithoutErrors(t *testing.T) {
	for _, name := range []string{"power", "aps_power"} {
		model, _ := g2.ByName(name)
		f, err := g2.FitOne(context.Background(), model, g2.Curve{Bin: 1, X: []float64{0.01, 0.02, 0.03, 0.04}, Y: []float64{1, 1, 1, 1}}, g2.Settings{})
		if err != nil || f.Check.OK || !math.IsInf(f.SD[0], 1) {
			t.Errorf("%s: %v +- %v, %v, %v", name, f.X, f.SD, f.Check, err)
		}
	}
}
