// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
)

// Standard deviations of Hessians, positive definite or not, are those of the reference, and so is what is said
// of them. Variances differ on purpose where the Hessian is bad: the reference leaves the negative ones of the
// inverse in its covariance, which ours has the squares of the standard deviations in place of.
func TestHessianErrorsGolden(t *testing.T) {
	var cases []struct {
		Hessian [][]float64 `json:"hessian_of_half_chisq"`
		Err     []golden.Float
		Covar   [][]golden.Float
		Bad     bool
	}
	golden.JSON(t, &cases, "spectra", "misc", "hessian_errors.json")
	if len(cases) == 0 {
		t.Fatalf("%d cases", len(cases))
	}
	same := func(a, b float64) bool {
		return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-10*math.Max(1, math.Abs(b))
	}
	for i, c := range cases {
		n := len(c.Err)
		var h []float64
		var list []int
		for k, row := range c.Hessian {
			for _, x := range row {
				h = append(h, 2*x)
			}
			list = append(list, k)
		}
		cov, good := inverse(h, n, list)
		if good == c.Bad {
			t.Errorf("case %d: good is %v", i, good)
		}
		for k, want := range c.Err {
			if sd := math.Sqrt(cov[k*n+k]); !same(sd, float64(want)) {
				t.Errorf("case %d: error %d is %v, want %v", i, k, sd, float64(want))
			}
			for l, want := range c.Covar[k] {
				w := float64(want)
				if k == l && c.Bad {
					w = float64(c.Err[k]) * float64(c.Err[k])
				}
				if !same(cov[k*n+l], w) {
					t.Errorf("case %d: covariance %d, %d is %v, want %v", i, k, l, cov[k*n+l], w)
				}
			}
		}
	}
}
