// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/internal/errtext"
)

var inf = math.Inf(1)

// halfWidth is the number of standard deviations on each side of an interval of
// that level: of the normal distribution where the errors are known, of Student's where
// they are estimated.
func (r *Result) halfWidth(level float64) (float64, error) {
	if !(level > 0 && level < 1) {
		return 0, fmt.Errorf("optim: the level is %g: want a number between 0 and 1", level)
	}
	p := 0.5 + level/2
	if r.Absolute {
		return distuv.UnitNormal.Quantile(p), nil
	}
	if r.DoF() <= 0 {
		return 0, fmt.Errorf("optim: %s for %s leave nothing to estimate the errors from: add data, or give their errors", errtext.Count(r.M, "residual"), errtext.Count(r.M-r.DoF(), "parameter"))
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(r.DoF())}.Quantile(p), nil
}

// allWidth is halfWidth for all combinations of k parameters at once (Scheffé).
func (r *Result) allWidth(level float64, k int) (float64, error) {
	if _, err := r.halfWidth(level); err != nil {
		return 0, err
	}
	if r.Absolute {
		return math.Sqrt(distuv.ChiSquared{K: float64(k)}.Quantile(level)), nil
	}
	d1, d2 := float64(k), float64(r.DoF())
	x := mathext.InvRegIncBeta(d1/2, d2/2, level)
	return math.Sqrt(d1 * (d2 * x / (d1 * (1 - x)))), nil
}
