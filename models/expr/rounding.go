// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim"
)

// coarse is the distance of neighbouring 64-bit numbers, in units of the range of y, from which rounding to them may be what residuals consist of.
const coarse = 1e-9

// roundingVariance is the variance of the rounding of y to 64-bit numbers where these are coarse for its range, as for 1e15 + x, and otherwise 0.
func roundingVariance(y []float64) float64 {
	if len(y) == 0 {
		return 0
	}
	most := linalg.MaxAbs(y)
	step := math.Nextafter(most, math.Inf(1)) - most
	if span := slices.Max(y) - slices.Min(y); !(step > coarse*span) || span == 0 {
		return 0
	}
	return step * step / 12
}

// fewLeft is the number of degrees of freedom up to which residuals may be smaller than the rounding of y by chance.
const fewLeft = 4

// coarseDecimals is the step of decimals, in units of the range of y, from which they may be rounded.
const coarseDecimals = 1e-5

// tellRounding warns where residuals are smaller than the rounding of y, so that they do not show it: that of 64-bit numbers, which errors then take for the scatter, and that of the decimals with which y
// is written.
func (p *Problem) tellRounding(r *optim.Result, s optim.Settings) {
	if !s.RelativeSigma || p.Sigma != "" || !p.plainFit() || r.DoF() < 1 {
		return
	}
	scatter := math.Sqrt(r.ReducedChiSquared())
	if s.LeastScale > 0 && scatter*scatter < s.LeastScale {
		r.Warnings = append(r.Warnings, fmt.Sprintf("residuals are smaller than the rounding of %s to 64-bit numbers, which are %.2g apart there: errors are those of this rounding; subtract the offset before numbers are written, if there is more to know", p.Y, math.Sqrt(12*s.LeastScale)))
		return
	}
	y, err := p.Observed()
	if err != nil || r.DoF() > fewLeft {
		return
	}
	step := check.StepOf(y)
	rounding := step / math.Sqrt(12)
	if span := slices.Max(y) - slices.Min(y); scatter < 0.3*rounding && step > coarseDecimals*span {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s is written in steps of %.2g, and residuals scatter by %.2g with %d %s of freedom: if it was rounded to these steps, errors are too small; --sigma %.2g takes this rounding for errors", p.Y, step, scatter, r.DoF(), errtext.Agree(r.DoF(), "degree", "degrees"), rounding))
	}
}
