// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate_test

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
	"github.com/euryale-dev/euryale/tensor"
)

// The correlation of saturated intensities of two modes is contrast (g + Saturation g^2) to within higher powers of g.
func TestSaturation(t *testing.T) {
	const e, pairs = 0.5, 400000
	covariance := func(g float64) (cov, mean float64) {
		z := tensor.NewStream(5, 1, 0)
		var product, first, second float64
		for range pairs {
			var a, b float64
			for range 4 {
				u, v := z.Normal(), z.Normal()
				w := math.Sqrt(g)*u + math.Sqrt(1-g)*v
				a, b = a+u*u/4, b+w*w/4
			}
			a, b = a/(1+e*a), b/(1+e*b)
			product, first, second = product+a*b/pairs, first+a/pairs, second+b/pairs
		}
		return product - first*second, (first + second) / 2
	}
	one, mean := covariance(0.35)
	two, _ := covariance(0.7)
	// a (g + s g^2) at g and 2 g
	ratio := two / one
	s := (ratio - 2) / (0.35 * (4 - ratio))
	contrast := one / (0.35 * (1 + 0.35*s)) / (mean * mean)
	got := correlate.Saturation(contrast, e/(1+e))
	if math.Abs(got-s) > 0.02 || !(got > 0.02) {
		t.Errorf("the part that decays as g^2 is %.4f of the other at a contrast of %.3f, simulated %.4f", got, contrast, s)
	}
	if v := correlate.Saturation(0.5, 0); v != 0 {
		t.Errorf("without a dead time it is %g", v)
	}
	for _, c := range []float64{1e-3, 0.05, 1, 1.3} {
		for _, lost := range []float64{1e-3, 0.5, 1} {
			if v := correlate.Saturation(c, lost); !(v >= 0 && v < 2) {
				t.Errorf("at a contrast of %g and %g lost it is %g", c, lost, v)
			}
		}
	}
}
