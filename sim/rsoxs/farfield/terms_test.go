// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package farfield

import (
	"math"
	"testing"
)

// Chebyshev series of waves hold their tolerance in thick boxes, too, where their first terms are many.
func TestSeriesHoldTheirTolerance(t *testing.T) {
	for _, a := range []float64{0, 0.3, 2, 17, 80} {
		for _, tolerance := range []float64{3e-5, 1e-8, 1e-12} {
			n := seriesTerms(a, tolerance)
			re, im := make([]float64, n), make([]float64, n)
			for k := range n {
				im[k], re[k] = math.Sincos(a * math.Cos(math.Pi*(float64(k)+0.5)/float64(n)))
			}
			re, im = chebyshev(re), chebyshev(im)
			worst := 0.0
			for u := -1.0; u <= 1; u += 0.01 {
				c, s := 0.0, 0.0
				for j := range n {
					x := math.Cos(float64(j) * math.Acos(u))
					c, s = c+re[j]*x, s+im[j]*x
				}
				worst = max(worst, math.Hypot(c-math.Cos(a*u), s-math.Sin(a*u)))
			}
			if !(worst < 3*tolerance) {
				t.Errorf("a wave of %g rad to each side is off by %.2g with %d terms, want %g", a, worst, n, tolerance)
			}
		}
	}
}
