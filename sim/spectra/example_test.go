// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// A star with one absorption line is found at its velocity by Newton steps with the Gauss-Newton matrix.
func Example() {
	knots := make([]float64, 400)
	logFlux := make([]float64, len(knots))
	for i := range knots {
		knots[i] = 4980 * math.Exp(3e-5*float64(i))
		x := (knots[i] - 5010) / 1.5
		logFlux[i] = -0.5 * math.Exp(-x*x/2)
	}
	var observed, flux, sigma []float64
	for lam := 5000.0; lam < 5020; lam += 0.4 {
		x := (lam*math.Exp(-math.Atanh(40/spectra.SpeedOfLight)) - 5010) / 1.5
		observed = append(observed, lam)
		flux = append(flux, (3+0.01*(lam-5000))*math.Exp(-0.5*math.Exp(-x*x/2)))
		sigma = append(sigma, 0.03)
	}
	arm, err := spectra.NewArm(spectra.ArmSettings{Template: knots, Observed: observed, Continuum: 2, MinVel: -300, MaxVel: 300})
	if err != nil {
		fmt.Println(err)
		return
	}
	vel := ad.Input("vel")
	like := spectra.NewLikelihood(vel, nil, spectra.Exposure{Arm: arm, Template: ad.Const(logFlux), Flux: ad.Const(flux), Err: ad.Const(sigma)})
	gradient, hessian := like.GaussNewton(vel)
	prog, err := ad.Compile([]*ad.Node{like.Spectra[0].TrueChiSquare, gradient, hessian}, ad.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := prog.NewState()
	for range 6 {
		if err := s.Run(); err != nil {
			fmt.Println(err)
			return
		}
		s.Input(0)[0] -= s.Output(1)[0] / s.Output(2)[0]
	}
	fmt.Printf("%.1f +- %.1f km/s, chi-square %.3f\n", s.Input(0)[0], math.Sqrt(2/s.Output(2)[0]), s.Output(0)[0])
	// Output: 40.0 +- 1.2 km/s, chi-square 0.000
}
