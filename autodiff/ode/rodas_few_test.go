// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ode

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// A chain of decays has the same solution in any unit of time: determinants of its matrix, which has the third power of it, neither
// overflow nor vanish. At rates of 1e110 every step was taken for one without an error, and the solution stayed at its start.
func TestFewStiffStatesInAnyUnitOfTime(t *testing.T) {
	decays := func(_ *ad.Node, y, p []*ad.Node) []*ad.Node {
		a, b := ad.Mul(p[0], y[0]), ad.Mul(p[1], y[1])
		return []*ad.Node{ad.Neg(a), ad.Sub(a, b), b}
	}
	for _, unit := range []float64{1e-110, 1, 1e110} {
		p := ad.Const([]float64{1000 * unit, unit}, 2)
		y := Solve(decays, ad.Const([]float64{1, 0, 0}, 3), 0, []float64{1e-3 / unit, 1 / unit}, p, Settings{Method: Rodas})
		out, err := ad.Eval(y, ad.Scale(unit, ad.Grad(ad.Index(y, 1, 1), p)[0]))
		if err != nil {
			t.Fatalf("unit %g: %v", unit, err)
		}
		want := 0.0 // derivative of the sum of the second state at both times by its rate
		for k, at := range []float64{1e-3, 1} {
			first := math.Exp(-1000 * at)
			second := 1000. / 999 * (math.Exp(-at) - first)
			want += second/999 - 1000./999*at*math.Exp(-at)
			for i, want := range []float64{first, second, 1 - first - second} {
				if got := out[0].Data().([]float64)[3*k+i]; math.Abs(got-want) > 1e-7 {
					t.Errorf("unit %g, time %g: state %d is %g, want %g", unit, at, i, got, want)
				}
			}
		}
		if got := out[1].Data().([]float64)[1]; math.Abs(got-want) > 1e-6 {
			t.Errorf("unit %g: the derivative by the second rate is %g, want %g", unit, got, want)
		}
	}
}

// The inverse of a matrix whose determinant overflows is not a number, so that a step with it is refused.
func TestInverseOfInfiniteDeterminant(t *testing.T) {
	huge, one := ad.Input("huge"), ad.Scalar(1)
	inverse := inverted([][]*ad.Node{{one, ad.Neg(huge)}, {huge, one}})
	prog, err := ad.Compile(inverse[0], ad.Settings{Inputs: []*ad.Node{huge}})
	if err != nil {
		t.Fatal(err)
	}
	s := prog.NewState()
	for _, x := range []float64{1e200, 2} {
		s.Input(0)[0] = x
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		if got, want := s.Output(0)[0], 1/(1+x*x); x == 2 && math.Abs(got-want) > 1e-15 || x != 2 && !math.IsNaN(got) {
			t.Errorf("with %g beside the diagonal the inverse begins with %g", x, got)
		}
	}
}
