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

// errorCDF is the distribution function of an estimate in units of its standard error.
func (r *Result) errorCDF() func(x float64) float64 {
	if r.Absolute {
		return distuv.UnitNormal.CDF
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(r.DoF())}.CDF
}

// boundedWidth is the root of the rise of chi-square that estimates of a value, which is below and above from its bounds, do not pass with the probability of the level. Lengths are in units of the
// standard error, cdf is the distribution of an estimate without bounds, and width is the root without bounds.
//
// Where an estimate x would pass a bound at a distance d, the best fit is at the bound, and the rise (x - value)^2 - (x - bound)^2 reaches t^2 at |x - value| = (t^2/d + d)/2.
func boundedWidth(cdf func(float64) float64, level, width, below, above float64) float64 {
	reach := func(t, d float64) float64 {
		if t <= d {
			return t
		}
		return (t*t/d + d) / 2
	}
	lo, hi := 0.0, width
	for range 50 {
		t := (lo + hi) / 2
		if cdf(reach(t, below))-cdf(-reach(t, above)) < level {
			lo = t
		} else {
			hi = t
		}
	}
	return hi
}
