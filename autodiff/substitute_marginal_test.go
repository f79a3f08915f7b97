// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Gradients of a marginal likelihood follow what has been put in place of its Nodes.
func TestSubstituteInLinearMarginal(t *testing.T) {
	x := ad.Input("x")
	basis := ad.Const([]float64{1, 1, 1, 1, -1, -0.3, 0.4, 1}, 2, 4)
	shape := ad.Exp(ad.Mul(x, ad.Const([]float64{0.1, -0.2, 0.3, 0.5})))
	m := ad.NewLinearMarginal(shape, ad.Const([]float64{1, 0.7, 1.4, 2}), basis)
	outs := []*ad.Node{m.ChiSquare(), ad.Sum(m.Coefficients()), ad.Sum(m.Leverage()), ad.Sum(ad.Square(m.Continuum()))}
	y := ad.Input("y")
	for i, out := range ad.Substitute(outs, []*ad.Node{x}, []*ad.Node{ad.Sin(y)}) {
		first := ad.Grad(out, y)[0]
		p, err := ad.Compile([]*ad.Node{out, first, ad.Grad(first, y)[0]}, ad.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(p.Inputs()); n != 1 {
			t.Fatalf("output %d uses %v", i, p.Inputs())
		}
		s := p.NewState()
		at := func(v float64) []float64 {
			s.Input(0)[0] = v
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			return []float64{s.Output(0)[0], s.Output(1)[0], s.Output(2)[0]}
		}
		const h = 1e-5
		down, here, up := at(0.4-h), at(0.4), at(0.4+h)
		for k := range 2 {
			if slope := (up[k] - down[k]) / (2 * h); math.Abs(here[k+1]-slope) > 1e-7*math.Max(1, math.Abs(slope)) {
				t.Errorf("output %d, derivative %d: %v, want %v", i, k+1, here[k+1], slope)
			}
		}
	}
}
