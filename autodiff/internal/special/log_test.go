// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// TestLogOfSubnormals compares logarithms of numbers below the normal range with k ln 2 + log(m) of their parts.
func TestLogOfSubnormals(t *testing.T) {
	for _, x := range []float64{5e-324, 4e-320, 1e-310, 0x1p-1022, 1e-300, 0.5, 3} {
		m, k := math.Frexp(x)
		want := float64(k)*math.Ln2 + math.Log(m)
		if got := subnormal.Log(x); math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("Log(%g) is %.15g, want %.15g", x, got, want)
		}
		if got := subnormal.Log10(x) * math.Ln10; math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("Log10(%g) is %.15g, want %.15g", x, got/math.Ln10, want/math.Ln10)
		}
		if m < 1 && x < 1e-300 && math.Abs(Lgamma(x)+want) > 1e-12*math.Abs(want) {
			t.Errorf("Lgamma(%g) is %.15g, want %.15g", x, Lgamma(x), -want)
		}
	}
}
