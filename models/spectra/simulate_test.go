// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math/rand/v2"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// simulator makes noisy spectra of stars of a library, at the wavelengths of another star.
type simulator struct {
	like   []Spectrum
	states []*ad.State
	rng    *rand.Rand
	// continuum is the continuum of all spectra, over z from -1 to 1; nil for a parabola.
	continuum func(z float64) float64
	quiet     bool // whether there is no noise
}

func newSimulator(t testing.TB, lib *Library, like []Spectrum, seed uint64) *simulator {
	s := &simulator{like: like, rng: rand.New(rand.NewPCG(seed, 6))}
	for _, x := range like {
		templates, err := lib.Arm(x.Arm)
		if err != nil {
			t.Fatal(err)
		}
		arm, err := spectra.NewArm(spectra.ArmSettings{Template: templates.Lam, Linear: !templates.Log, Observed: x.Lam, Rotation: spectra.Rotation{None: !templates.Log}})
		if err != nil {
			t.Fatal(err)
		}
		vel, vsini, u := ad.Input("vel", 1), ad.Input("vsini", 1), ad.Input("u", 1, templates.Dim())
		log, outside := templates.LogFlux(u)
		p, err := ad.Compile([]*ad.Node{arm.Model(log, vel, vsini, nil), outside}, ad.Settings{Inputs: []*ad.Node{vel, vsini, u}})
		if err != nil {
			t.Fatal(err)
		}
		s.states = append(s.states, p.NewState())
	}
	return s
}

// spectra returns spectra of a star with parameters vel, vsini and those of the library, with a curved
// continuum about 1 and errors e.
func (s *simulator) spectra(t testing.TB, theta []float64, e float64, exposure string) (out []Spectrum) {
	for k, x := range s.like {
		state := s.states[k]
		state.Input(0)[0], state.Input(1)[0] = theta[0], theta[1]
		copy(state.Input(2), theta[2:])
		if err := state.Run(); err != nil {
			t.Fatal(err)
		}
		if state.Output(1)[0] > 0 {
			t.Skipf("the reference's library does not cover a star of %v", theta[2:])
		}
		one := Spectrum{Arm: x.Arm, Lam: x.Lam, Exposure: exposure}
		for p, m := range state.Output(0) {
			z := 2*float64(p)/float64(len(x.Lam)) - 1
			c, noise := 1+0.2*z-0.1*z*z, 0.0
			if s.continuum != nil {
				c = s.continuum(z)
			}
			if !s.quiet {
				noise = e * s.rng.NormFloat64()
			}
			one.Flux, one.Err = append(one.Flux, c*m+noise), append(one.Err, e)
		}
		out = append(out, one)
	}
	return out
}
