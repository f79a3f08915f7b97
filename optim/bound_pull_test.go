// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/optim"
)

// A bound is warned of where the data would take the parameter far beyond it, by the same number of standard deviations in every unit of the
// data, whether their errors are known or not. The verdict has the same number.
func TestPullBeyondBounds(t *testing.T) {
	x := []float64{0, 1, 2, 3, 4}
	for _, known := range []bool{false, true} {
		for upper, want := range map[float64]string{0.97: "", 0.5: "b is at its bound"} {
			var pulls []float64
			for _, unit := range []float64{1e-3, 1, 1e3} {
				o := optim.Observed{Y: []float64{1, 2.1, 2.9, 4.2, 4.9}, Sigma: []float64{0.1, 0.1, 0.1, 0.1, 0.1}}
				for i := range o.Y {
					o.Y[i] *= unit
					o.Sigma[i] *= unit
				}
				if !known {
					o.Sigma = nil
				}
				params := inputs("a", "b")
				p, err := optim.FromModel(ad.Add(params[0], ad.Mul(params[1], ad.Const(x))), params, o)
				if err != nil {
					t.Fatal(err)
				}
				p.Start, p.Lower, p.Upper = []float64{0, 0}, []float64{-100 * unit, -100 * unit}, []float64{100 * unit, upper * unit}
				r, err := optim.LeastSquares(context.Background(), p, optim.Settings{RelativeSigma: !known})
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(r.Warnings, "; "); (got == "") != (want == "") || !strings.HasPrefix(got, want) {
					t.Errorf("unit %g, known errors %v, bound %g: %q", unit, known, upper, got)
				}
				for _, b := range check.FromFit(r).Bounds {
					pulls = append(pulls, b.Pull)
				}
			}
			if len(pulls) != 3 || !(pulls[0]/pulls[1] > 0.999 && pulls[0]/pulls[1] < 1.001 && pulls[2]/pulls[1] > 0.999 && pulls[2]/pulls[1] < 1.001) {
				t.Errorf("known errors %v, bound %g: the pull depends on the unit: %v", known, upper, pulls)
			}
		}
	}
}
