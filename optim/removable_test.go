// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
)

// A stretched exponential has no derivative that arithmetic can give at t = 0, where it is 0 times infinity; a fit through that point is exact all the same.
func TestRemovableSingularities(t *testing.T) {
	x := []float64{0, 0.5, 1, 2, 3, 5, 8, 12}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = 5 * math.Exp(-math.Pow(v/2.3, 0.6))
	}
	in := inputs("a", "tau", "b")
	p, err := optim.FromModel(ad.Mul(in[0], ad.Exp(ad.Neg(ad.Pow(ad.Div(ad.Const(x), in[1]), in[2])))), in, optim.Observed{Y: y})
	if err != nil {
		t.Fatal(err)
	}
	p.Start = []float64{4, 2, 0.8}
	r, err := optim.LeastSquares(context.Background(), p, optim.Settings{})
	if err != nil || math.Abs(r.X[0]-5)+math.Abs(r.X[1]-2.3)+math.Abs(r.X[2]-0.6) > 1e-8 {
		t.Fatal(err, r)
	}
	j := make([]float64, p.M*p.N)
	if err := p.Jacobian(j, []float64{5, 2.3, 0.6}); err != nil || j[len(x)] != 0 || j[2*len(x)] != 0 {
		t.Error(err, j)
	}
}
