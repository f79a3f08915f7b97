// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"
	"testing"
)

// BesselRatio ends for all orders: it is 0 for those at which its largest value, 1/(2^nu Gamma(nu+1)), is below all
// numbers, 0 at infinity, and NaN for orders below 0.
func TestBesselRatioOfAnyOrder(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range [][3]float64{{inf, inf, 0}, {inf, 1e300, 0}, {1e18, 1e300, 0}, {160, 0, 0}, {0, inf, 0}, {0.5, -inf, 0}, {0, 0, 1}, {-1, 2, nan}, {nan, 1, nan}, {1, nan, nan}} {
		if got := BesselRatio(c[0], c[1]); got != c[2] && !(got != got && c[2] != c[2]) {
			t.Errorf("BesselRatio(%g, %g) = %g, want %g", c[0], c[1], got, c[2])
		}
	}
}
