// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
)

// Fits whose parameters all start on a bound, or at 0, reach the optimum of the bounded problem.
func TestStartsOnBounds(t *testing.T) {
	xs, ys := []float64{1, 2, 3, 4, 5}, []float64{2.1, 3.9, 6.2, 7.8, 10.1}
	inf := math.Inf(1)
	for _, c := range []struct {
		lower, upper []float64
		start        []float64
		scale        float64 // of y
		want         []float64
	}{
		{[]float64{0, -inf}, []float64{5, inf}, []float64{0, 0}, 1, []float64{0.05, 1.99}},
		{[]float64{0, 0}, []float64{inf, inf}, []float64{0, 0}, 1, []float64{0.05, 1.99}},
		{[]float64{0, 0}, []float64{inf, inf}, []float64{0, 0}, 1e6, []float64{0.05e6, 1.99e6}},
		{[]float64{0, 0}, []float64{inf, inf}, []float64{0, 0}, 1e-6, []float64{0.05e-6, 1.99e-6}},
		{[]float64{-inf, -inf}, []float64{0, 0}, []float64{0, 0}, 1, []float64{0, 0}},
		{[]float64{0, 0}, []float64{5, 1}, []float64{5, 1}, 1, []float64{3.02, 1}},
		{[]float64{0, 0}, []float64{5, 3}, []float64{5, 0}, 1, []float64{0.05, 1.99}},
	} {
		for _, method := range []optim.Method{optim.TRF, optim.Dogbox} {
			p := []*ad.Node{ad.Input("a"), ad.Input("b")}
			y := make([]float64, len(ys))
			for i, v := range ys {
				y[i] = v * c.scale / 0.1
			}
			r := ad.Sub(ad.Scale(10, ad.Add(p[0], ad.Mul(p[1], ad.Const(xs)))), ad.Const(y))
			prob, err := optim.FromGraph(r, p)
			if err != nil {
				t.Fatal(err)
			}
			prob.Lower, prob.Upper, prob.Start = c.lower, c.upper, c.start
			fit, err := optim.LeastSquares(t.Context(), prob, optim.Settings{Method: method})
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range c.want {
				if math.Abs(fit.X[i]-w) > 1e-4*c.scale {
					t.Errorf("%s from %v within %v to %v: %v after %d evaluations (%v), want %v", method, c.start, c.lower, c.upper, fit.X, fit.NFev, fit.Status, c.want)
					break
				}
			}
		}
	}
}
