// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// A real spectrum has the reference's chi-square at every
// velocity, for every continuum, and that of a continuum without a star.
func TestSDSSGolden(t *testing.T) {
	if !golden.Has(t, "spectra", "sdss", "sdss.json") {
		t.Skip("this set has no spectrum of SDSS")
	}
	var f struct {
		Cases []struct {
			NPoly     int
			RBF       bool
			Continuum float64   `json:"continuum_chisq"`
			Reduced   float64   `json:"continuum_redchisq"`
			Vel       []float64 `json:"vel_grid"`
			ChiSq     []float64
			Coeffs    []float64 `json:"coeffs_v0"`
		}
	}
	golden.JSON(t, &f, "spectra", "sdss", "sdss.json")
	x, shape := npy(t, "sdss/spec.npy") // wavelengths, flux, inverse variances, errors
	n := shape[1]
	flux, sd := ad.Const(x[n:2*n]), ad.Const(x[3*n:])
	template, _ := npy(t, "sdss/templ.npy")
	lam, _ := npy(t, "sdss/templ_lam.npy")
	logFlux := make([]float64, len(template))
	for i, v := range template {
		logFlux[i] = math.Log(v)
	}
	scans := 0
	for _, c := range f.Cases {
		if len(c.Vel) == 0 {
			continue
		}
		scans++
		t.Run(fmt.Sprintf("%d %v", c.NPoly, c.RBF), func(t *testing.T) {
			arm, err := spectra.NewArm(spectra.ArmSettings{Template: lam, Observed: x[:n], Continuum: c.NPoly, Chebyshev: !c.RBF, Rotation: spectra.Rotation{None: true}, MinVel: slices.Min(c.Vel), MaxVel: slices.Max(c.Vel)})
			if err != nil {
				t.Fatal(err)
			}
			vel := ad.Input("vel")
			exposure := spectra.Exposure{Arm: arm, Flux: flux, Err: sd}
			star := exposure.Compare(arm.Model(ad.Const(logFlux), vel, nil, nil))
			alone := spectra.ContinuumOnly(exposure)[0]
			p, err := ad.Compile([]*ad.Node{star.ChiSquare, star.Coefficients, ad.Sum(ad.Square(alone.Residuals))}, ad.Settings{Inputs: []*ad.Node{vel}})
			if err != nil {
				t.Fatal(err)
			}
			s := p.NewState()
			chi := make([]float64, len(c.Vel))
			for i, v := range c.Vel {
				s.Input(0)[0] = v
				if err := s.Run(); err != nil {
					t.Fatal(err)
				}
				if chi[i] = s.Output(0)[0]; v == 0 {
					near(t, "coefficients", s.Output(1), c.Coeffs, 1e-7)
				}
			}
			near(t, "chi-square", chi, c.ChiSq, 1e-9)
			near(t, "continuum alone", s.Output(2), []float64{c.Continuum}, 1e-9)
			if pixels := c.Continuum / c.Reduced; math.Abs(pixels-float64(n)) > 1e-6 {
				t.Errorf("the reference has %v pixels of %d", pixels, n)
			}
		})
	}
	if scans == 0 {
		t.Error("there are no scans")
	}
}
