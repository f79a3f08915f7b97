// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// A custom operation with an adjoint and a tangent has derivatives along directions, alone and in a batch, which
// least squares takes; without a tangent the message says what to set.
func TestCustomTangent(t *testing.T) {
	c := &ad.Custom{Name: "ratios", Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return in[0], nil },
		Forward: func(out []float64, in ...[]float64) error {
			for i, x := range in[0] {
				out[i] = x / in[1][0]
			}
			return nil
		},
		Adjoint: func(dIn [][]float64, g, out []float64, in ...[]float64) error {
			dIn[1][0] = 0
			for i, v := range g {
				dIn[0][i] = v / in[1][0]
				dIn[1][0] -= v * out[i] / in[1][0]
			}
			return nil
		}}
	derivative := func() ([][]float64, error) {
		x, y := ad.Input("x", 3), ad.Input("y")
		along := ad.JVP(ad.Square(ad.Call(c, ad.Exp(x), y)), []*ad.Node{x, y}, []*ad.Node{ad.Const([]float64{1, 0, 2}, 3), ad.Scalar(3)})
		j := ad.Jacobian(ad.Call(c, x, y), y)
		p, err := ad.Compile([]*ad.Node{along, j}, ad.Settings{Inputs: []*ad.Node{x, y}})
		if err != nil {
			return nil, err
		}
		s := p.NewState()
		copy(s.Input(0), []float64{0.1, 0.2, 0.3})
		s.Input(1)[0] = 2
		err = s.Run()
		return [][]float64{s.OutputFloat64(0), s.OutputFloat64(1)}, err
	}
	if _, err := derivative(); err == nil || !strings.Contains(err.Error(), "set Tangent") {
		t.Errorf("without a tangent: %v", err)
	}
	c.Tangent = func(dOut []float64, dIn [][]float64, out []float64, in ...[]float64) error {
		for i := range dOut {
			dOut[i] = (dIn[0][i] - out[i]*dIn[1][0]) / in[1][0]
		}
		return nil
	}
	got, err := derivative()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range []float64{1, 0, 2} {
		x := 0.1 * float64(i+1)
		y := math.Exp(x) / 2
		if want, have := 2*y*(y*v-y*3/2), got[0][i]; math.Abs(have-want) > 1e-14 {
			t.Errorf("along the direction, element %d: %g, want %g", i, have, want)
		}
		if want, have := -x/4, got[1][i]; math.Abs(have-want) > 1e-14 {
			t.Errorf("Jacobian, element %d: %g, want %g", i, have, want)
		}
	}
}
