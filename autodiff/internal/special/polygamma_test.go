// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special_test

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// Close to their poles the functions keep all digits. The values are those of mpmath 1.4 with 40 digits.
func TestPolygammaNearPoles(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"digamma(-3 - 2^-30)", special.Digamma(-3 - 0x1p-30), 1073741825.2561176656},
		{"digamma(-100 + 2^-40)", special.Digamma(-100 + 0x1p-40), -1099511627771.3898381},
		{"trigamma(-3 - 2^-30)", special.Polygamma(1, -3-0x1p-30), 1152921504606846979},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-15*math.Abs(c.want)) {
			t.Errorf("%s: %.17g, want %.17g", c.name, c.got, c.want)
		}
	}
}
