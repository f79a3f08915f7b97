// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"strings"
	"testing"
)

// Far from its bounds a parameter stretches as its derivative says, and near one by the standard deviation of the coordinate: for a share of
// 0.995 +- 0.02 that ends at 1, the mean of 200,000 draws from the cut normal distribution gives 1.094 for the logarithm of what is missing.
func TestStretchNearBounds(t *testing.T) {
	p := Param{Bounds: []float64{0, 1}}
	if got, want := p.stretch(0.5, 0.001), p.rate(0.5); math.Abs(got/want-1) > 1e-4 {
		t.Errorf("in the middle: %g, want %g", got, want)
	}
	if got := 0.02 * p.stretch(0.995, 0.02); math.Abs(got-1.094) > 0.05 {
		t.Errorf("near a bound: a standard deviation of %g, and %g by the derivative", got, 0.02*p.rate(0.995))
	}
	if got := p.stretch(1, 0.02); !(got > 0) || math.IsInf(got, 0) {
		t.Errorf("on a bound: %g", got)
	}
	free := Param{}
	if got := free.stretch(3, 1); got != 1 {
		t.Errorf("without bounds: %g", got)
	}
}

// Units say that pixels were added up.
func TestUnitsOfBinnedPixels(t *testing.T) {
	one, four := &Task{}, &Task{bin: 4}
	if got := []string{one.binned("pixels"), four.binned("pixels"), four.binned("counts/s"), four.binned("nm")}; strings.Join(got, ", ") != "pixels, pixels of 4 x 4, counts/s in 4 x 4 pixels, nm" {
		t.Error(got)
	}
}
