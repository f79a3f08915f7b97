// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// smallArm is an arm of a few pixels.
func smallArm(t *testing.T, edit func(*spectra.ArmSettings)) *spectra.Arm {
	t.Helper()
	s := spectra.ArmSettings{Name: "small", Continuum: 2, MinVel: -200, MaxVel: 200}
	for i := range 200 {
		s.Template = append(s.Template, 4990*math.Exp(2e-5*float64(i)))
	}
	for i := range 8 {
		s.Observed = append(s.Observed, 4996+float64(i))
	}
	if edit != nil {
		edit(&s)
	}
	a, err := spectra.NewArm(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// wavy gives n numbers that look like a spectrum.
func wavy(n int, phase float64) *ad.Node {
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.2 * math.Sin(0.3*float64(i)+phase)
	}
	return ad.Const(x, 1, n)
}

// A spectrum with a resolution matrix of its own and one of its arm is a mistake that says so.
func TestTwoResolutionsAreAMistake(t *testing.T) {
	one, err := spectra.NewResolution(0, 8, []float64{1, 1, 1, 1, 1, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	plain := smallArm(t, nil)
	own := smallArm(t, func(s *spectra.ArmSettings) { s.Resolution = one })
	vel, err1 := ad.Full(10, 1), ad.Full(0.1, 1, 8)
	for _, c := range []struct {
		arm  *spectra.Arm
		band *ad.Node
		bad  bool
	}{{plain, nil, false}, {plain, one.Node(), false}, {own, nil, false}, {own, one.Node(), true}} {
		e := spectra.Exposure{Arm: c.arm, Template: wavy(200, 0), Flux: ad.Exp(wavy(8, 1)), Err: err1, Band: c.band}
		for _, n := range []*ad.Node{spectra.NewLikelihood(vel, nil, e).ChiSquare, spectra.ContinuumOnly(e)[0].ChiSquare} {
			_, err := ad.Compile([]*ad.Node{n}, ad.Settings{})
			if (err != nil) != c.bad || c.bad && !strings.Contains(err.Error(), "both arm small and the exposure have a resolution matrix: give only one of them") {
				t.Errorf("%v: %v", c.bad, err)
			}
		}
	}
}

// Exposures with velocities of their own have the sum of their likelihoods, and the derivatives of each by its
// own velocity alone.
func TestVelocityOfAnExposure(t *testing.T) {
	arm, template := smallArm(t, nil), wavy(200, 0)
	a, b := ad.Input("a", 1), ad.Input("b", 1)
	exposure := func(vel *ad.Node, phase float64) spectra.Exposure {
		return spectra.Exposure{Arm: arm, Vel: vel, Template: template, Flux: ad.Exp(wavy(8, phase)), Err: ad.Full(0.1, 1, 8)}
	}
	both := spectra.NewLikelihood(nil, nil, exposure(a, 1), exposure(b, 2))
	first, second := spectra.NewLikelihood(a, nil, exposure(nil, 1)), spectra.NewLikelihood(b, nil, exposure(nil, 2))
	gradient, hessian := both.GaussNewton(a, b)
	g1, h1 := first.GaussNewton(a)
	g2, h2 := second.GaussNewton(b)
	p, err := ad.Compile([]*ad.Node{both.ChiSquare, gradient, hessian, spectra.Hessian(both.ChiSquare, a, b), ad.Add(first.ChiSquare, second.ChiSquare), g1, g2, h1, h2}, ad.Settings{Inputs: []*ad.Node{a, b}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	s.Input(0)[0], s.Input(1)[0] = -70, 40
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	of := s.Output
	near(t, "chi-square", of(0), of(4), 1e-14)
	near(t, "gradient", of(1), []float64{of(5)[0], of(6)[0]}, 1e-14)
	near(t, "Gauss-Newton matrix", of(2), []float64{of(7)[0], 0, 0, of(8)[0]}, 1e-14)
	if h := of(3); h[1] != 0 || h[2] != 0 || h[0] == 0 || h[3] == 0 {
		t.Errorf("Hessian %v", h)
	}
}

// The determinant of the normal matrix counts positively: a template that is brighter by a factor s leaves the
// residuals as they are, takes K coefficients down by s, and adds 2 K log s to -2 log L. With the wrong sign
// faint templates would be favoured.
func TestSignOfTheDeterminant(t *testing.T) {
	for _, k := range []int{1, 2, 4} {
		arm := smallArm(t, func(s *spectra.ArmSettings) { s.Continuum = k })
		var parts []*ad.Node
		const factor = 3
		for _, log := range []float64{0, math.Log(factor)} {
			e := spectra.Exposure{Arm: arm, Template: ad.Shift(wavy(200, 0), log), Flux: ad.Exp(wavy(8, 1)), Err: ad.Full(0.1, 1, 8)}
			l := spectra.NewLikelihood(ad.Full(10, 1), nil, e)
			parts = append(parts, l.ChiSquare, l.Spectra[0].TrueChiSquare)
		}
		p, err := ad.Compile(parts, ad.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		near(t, "residuals", s.Output(3), s.Output(1), 1e-12)
		near(t, "rise of -2 log L", []float64{s.Output(2)[0] - s.Output(0)[0]}, []float64{2 * float64(k) * math.Log(factor)}, 1e-12)
	}
}
