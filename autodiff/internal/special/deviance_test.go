// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special_test

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// Of small arguments nothing is lost by adding 1 to them. The values are those of mpmath 1.4 with 40 digits.
func TestLogFactorialRestOfSmallNumbers(t *testing.T) {
	for k, want := range map[float64]float64{0: 0, 0x1p-100: 5.5013189264090097714e-29, 0x1p-30: 1.976005709978082081e-8, 0x1p-10: 0.0071826747551645112806} {
		if got := special.LogFactorialRest(k); !(math.Abs(got-want) <= 4e-16*want) {
			t.Errorf("LogFactorialRest(%g): %.17g, want %.17g", k, got, want)
		}
	}
}
