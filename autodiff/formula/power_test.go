// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
)

// A stretched exponential is differentiable at t = 0, where arithmetic meets 0 times infinity, and powers of 0 are what they should be.
func TestPowersOfZero(t *testing.T) {
	f, err := formula.Parse("exp(-(t/tau)^b)")
	if err != nil {
		t.Fatal(err)
	}
	tau, b := ad.Input("tau"), ad.Input("b")
	y, err := f.Node(map[string]*ad.Node{"t": ad.Const([]float64{0, 2}), "tau": tau, "b": b})
	if err != nil {
		t.Fatal(err)
	}
	prog, err := ad.Compile(append([]*ad.Node{y}, ad.Grad(ad.Sum(y), tau, b)...), ad.Settings{Inputs: []*ad.Node{tau, b}})
	if err != nil {
		t.Fatal(err)
	}
	for exponent, at0 := range map[float64]float64{0.6: 1, 1: 1, 2: 1, 0: math.Exp(-1), -1: 0} {
		s := prog.NewState()
		s.Input(0)[0], s.Input(1)[0] = 2.5, exponent
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		u := 2 / 2.5
		p := math.Pow(u, exponent)
		e := math.Exp(-p)
		want := []float64{e * exponent * p / 2.5, -e * p * math.Log(u)}
		if got := s.Output(0); got[0] != at0 || math.Abs(got[1]-e) > 1e-15 {
			t.Errorf("b = %g: %v, want %g and %g", exponent, got, at0, e)
		}
		for k, w := range want {
			if g := s.Output(1 + k)[0]; exponent >= 0 && math.Abs(g-w) > 1e-14 {
				t.Errorf("b = %g, derivative %d: %g, want %g", exponent, k, g, w)
			}
		}
	}
}
