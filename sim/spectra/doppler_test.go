// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"math"
	"sort"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// A shifted template is its spline at the wavelengths that the velocity makes, on both kinds of grid, with the
// derivative dx/dvel = -x/(c (1-b^2)); the nearest knot is the one that follows.
func TestDopplerShift(t *testing.T) {
	logs, lines := logGrid(4980, 8e-5, 300), make([]float64, 300)
	flux := make([]float64, 300)
	for i := range lines {
		lines[i] = 4980 + 0.4*float64(i)
		flux[i] = 1 + 0.3*math.Sin(float64(i)/3)
	}
	obs := make([]float64, 50)
	for i := range obs {
		obs[i] = 5005 + 0.7*float64(i)
	}
	logFlux := make([]float64, len(flux))
	for i, v := range flux {
		logFlux[i] = math.Log(v)
	}
	for _, linear := range []bool{false, true} {
		knots := logs
		if linear {
			knots = lines
		}
		grid, err := spectra.NewGrid(knots, !linear)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []float64{-500, -33.3, 0, 0.01, 700} {
			b := v / spectra.SpeedOfLight
			x := make([]float64, len(obs))
			for k, lam := range obs {
				x[k] = lam * math.Sqrt((1-b)/(1+b))
			}
			p, err := grid.At(x)
			if err != nil {
				t.Fatal(err)
			}
			vel := ad.Scalar(v)
			model := func(nearest bool) *ad.Node {
				arm, err := spectra.NewArm(spectra.ArmSettings{Template: knots, Linear: linear, Observed: obs, Continuum: 2, Nearest: nearest,
					Rotation: spectra.Rotation{None: true}, MinVel: -600, MaxVel: 800})
				if err != nil {
					t.Fatal(err)
				}
				return arm.Model(ad.Const(logFlux), vel, nil, nil)
			}
			y := model(false)
			got := eval(t, y, ad.JVP(y, []*ad.Node{vel}, []*ad.Node{ad.Scalar(1)}), p.Derivative(ad.Const(flux), 0), p.Derivative(ad.Const(flux), 1), model(true))
			near(t, "shifted", got[0], got[2], 1e-11)
			for k := range x {
				got[3][k] *= -x[k] / (spectra.SpeedOfLight * (1 - b*b))
			}
			near(t, "slope", got[1], got[3], 1e-9)
			for k := range x {
				i := sort.SearchFloat64s(knots, x[k])
				if want := flux[i]; math.Abs(got[4][k]-want) > 1e-13 && math.Abs(x[k]-knots[i-1]) > 1e-9 {
					t.Fatalf("linear=%v, %g km/s, point %d: nearest %g, want %g", linear, v, k, got[4][k], want)
				}
			}
		}
	}
}
