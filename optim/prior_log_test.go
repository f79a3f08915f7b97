// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/optim"
)

// With x measured as 3 +- 1 and log x as 0 +- 0.5, the minimum satisfies x - 3 + 4 log(x)/x = 0, whichever derivatives the problem has.
func TestLogGaussian(t *testing.T) {
	problem := func() *optim.Problem {
		return &optim.Problem{M: 1, N: 1, Names: []string{"x"}, Start: []float64{2}, Residual: func(r, x []float64) error {
			r[0] = x[0] - 3
			return nil
		}}
	}
	dense, products, sparse := problem(), problem(), problem()
	dense.Jacobian = func(j, x []float64) error { j[0] = 1; return nil }
	products.JVP = func(out, x, v []float64) error { out[0] = v[0]; return nil }
	products.VJP = func(out, x, u []float64) error { out[0] = u[0]; return nil }
	sparse.Sparsity = &optim.Sparsity{Row: []int{0, 1}, Column: []int{0}}
	sparse.SparseJacobian = func(values, x []float64) error { values[0] = 1; return nil }
	for name, p := range map[string]*optim.Problem{"differences": problem(), "dense": dense, "products": products, "sparse": sparse} {
		r, err := optim.LeastSquares(context.Background(), p, optim.Settings{Priors: []optim.Prior{optim.LogGaussian("x", 0, 0.5)}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if x := r.X[0]; math.Abs(x-3+4*math.Log(x)/x) > 1e-3 {
			t.Errorf("%s: x = %g", name, x)
		}
	}
}
