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

// Settled is MINPACK's test after a step. actual and predicted are relative decreases of the
// cost, ratio is their quotient, and size is the length of the scaled parameters. It returns
// None where the fit goes on.
func Settled(ftol, xtol, actual, predicted, ratio, radius, size float64) Status {
	flat := math.Abs(actual) <= ftol && predicted <= ftol && ratio <= 2
	small := radius <= xtol*size
	switch {
	case flat && small:
		return BothSettled
	case flat, math.Abs(actual) <= 0x1p-52 && predicted <= 0x1p-52 && ratio <= 2:
		return CostSettled
	case small, radius <= 0x1p-52*size:
		return StepSmall
	case radius < 1e-300:
		return Stuck
	}
	return None
}
