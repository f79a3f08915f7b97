// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
)

const (
	// quiet is the reduced chi-square below which data have no noise: residuals of a thousandth of their errors. Noise of the size of the errors
	// leaves as little with a probability below 1e-17 for fewestQuiet degrees of freedom, and less for more.
	quiet = 1e-6
	// rounding is the reduced chi-square below which only rounding errors are left.
	rounding = 1e-30
	// fewestQuiet is the smallest number of degrees of freedom of which this is said.
	fewestQuiet = 6
)

// withoutNoise is the flag of data that have no noise of the size of their given errors, as those of a simulation have none. What is left are
// errors of rounding and interpolation, whose patterns say nothing of the model.
func (w *residuals) withoutNoise() (Flag, bool) {
	reduced := w.square / w.dof()
	if w.d.Relative || w.d.SigmaFitted || w.dof() < fewestQuiet || !(reduced < quiet && reduced > rounding) || w.exact() {
		return Flag{}, false
	}
	return Flag{Kind: KindUnjudged, Text: fmt.Sprintf("the residuals are %.2g of their errors on average, so the data have no noise, as those of a simulation have none, or the errors are about %.2g times too large", math.Sqrt(reduced), 1/math.Sqrt(reduced)),
		Remedy: "add noise of the size of the errors to simulated data; for measured data, check the errors"}, true
}
