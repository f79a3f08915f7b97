// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// A covariance that is not positive definite when a graph runs gives a log density of -Inf with a gradient of 0, and the
// other elements of the batch keep theirs; as a constant it is an error.
func TestCovarianceThatIsNotPositiveDefinite(t *testing.T) {
	x, mu, good := []float64{0.5, 0.3}, []float64{0.1, -0.2}, []float64{2, 0.3, 0.3, 1}
	at := func(cov ...float64) (values []float64, gradients [][]float64) {
		c := ad.Input("cov", len(cov)/4, 2, 2)
		in := []*ad.Node{c, ad.Input("mu", 2), ad.Input("x", 2)}
		lp := dist.MultivariateNormal(in[1], c).LogProb(in[2])
		outs := append([]*ad.Node{lp}, ad.Grad(ad.Sum(ad.Where(ad.Greater(lp, ad.Scalar(math.Inf(-1))), lp, ad.Scalar(0))), in...)...)
		prog, err := ad.Compile(outs, ad.Settings{Inputs: in})
		if err != nil {
			t.Fatal(err)
		}
		s := prog.NewState()
		for i, v := range [][]float64{cov, mu, x} {
			copy(s.Input(i), v)
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		for k := range outs {
			gradients = append(gradients, append([]float64(nil), s.Output(k)...))
		}
		return gradients[0], gradients[1:]
	}
	alone, slopes := at(good...)
	both, got := at(append([]float64{1, 2, 2, 1}, good...)...)
	if !math.IsInf(both[0], -1) || both[1] != alone[0] {
		t.Errorf("log densities are %v: want -Inf and %v", both, alone[0])
	}
	for i := range 4 {
		if got[0][i] != 0 || got[0][4+i] != slopes[0][i] {
			t.Errorf("the gradient of the covariances is %v: want zeros and %v", got[0], slopes[0])
		}
	}
	for k := 1; k < 3; k++ {
		for i := range 2 {
			if got[k][i] != slopes[k][i] {
				t.Errorf("gradient %d is %v: want %v", k, got[k], slopes[k])
			}
		}
	}
	if err := dist.MultivariateNormal(ad.Const(mu), ad.Const([]float64{1, 2, 2, 1}, 2, 2)).Err(); err == nil {
		t.Error("a constant covariance that is not positive definite has no error")
	}
}
