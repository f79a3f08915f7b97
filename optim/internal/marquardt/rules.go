// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package marquardt

import "math"

// CostFarUp is the relative decrease that stands for a cost that is not finite, or at least
// a hundred times the last.
const CostFarUp = -100.0

// AdaptRadius returns the radius of the trust region and the multiplier after a step. actual
// is the relative decrease of the cost, ratio what it is of the predicted one, slope the
// relative slope of the cost along the step, and length that of the scaled step.
func AdaptRadius(radius, par, actual, ratio, slope, length float64) (float64, float64) {
	switch {
	case ratio <= 0.25:
		by := 0.5
		if actual < 0 {
			by = 0.5 * slope / (slope + 0.5*actual)
		}
		if actual == CostFarUp || !(by >= 0.1) {
			by = 0.1
		}
		return by * min(radius, 10*length), par / by
	case par == 0 || ratio >= 0.75:
		return 2 * length, par / 2
	}
	return radius, par
}

// Visible is the relative decrease of the cost that a first step should bring, where the data
// offer it. A region in which the model predicts less is too small to begin with.
const Visible = 1e-8

// Grow is the factor by which a first region that is too small is multiplied.
const Grow = 8

// Unfinished reports whether a relative decrease of the cost that the model still predicts is more than a tenth of a
// standard deviation of the parameters, for the given number of degrees of freedom.
func Unfinished(full float64, degrees int) bool {
	return full > max(1e-7, 0.01/float64(max(degrees, 1)))
}

// Settled is MINPACK's test after a step, but for one thing: where MINPACK takes the decrease
// of the cost that was predicted for the step, full is that of the step without a trust region.
// A small step that barely changes the cost says nothing if the region allowed no longer one.
// actual is the relative decrease of the cost, ratio what it is of the predicted one, and size
// the length of the scaled parameters. Settled returns None where the fit goes on.
func Settled(ftol, xtol, actual, full, ratio, radius, size float64) Status {
	flat := math.Abs(actual) <= ftol && full <= ftol && ratio <= 2
	small := radius <= xtol*size
	switch {
	case flat && small:
		return BothSettled
	case flat, math.Abs(actual) <= 0x1p-52 && full <= 0x1p-52 && ratio <= 2:
		return CostSettled
	case small, radius <= 0x1p-52*size:
		return StepSmall
	case radius < 1e-300:
		return Stuck
	}
	return None
}
