// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"testing"
)

// What an information does not determine, alone or together, has infinite variances, and all others keep theirs.
func TestInverseOfWhatIsDetermined(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct{ a, want []float64 }{
		"regular":        {[]float64{4, 2, 2, 4}, []float64{1. / 3, -1. / 6, -1. / 6, 1. / 3}},
		"one is unknown": {[]float64{4, 0, 2, 0, 0, 0, 2, 0, 4}, []float64{1. / 3, 0, -1. / 6, 0, inf, 0, -1. / 6, 0, 1. / 3}},
		"only a sum is":  {[]float64{1, 1, 0, 1, 1, 0, 0, 0, 4}, []float64{inf, 0, 0, 0, inf, 0, 0, 0, 0.25}},
		"of three, a sum of two is, and the third": {[]float64{9, 9e-6, 0, 9e-6, 9e-12, 0, 0, 0, 1e8}, []float64{inf, 0, 0, 0, inf, 0, 0, 0, 1e-8}},
	} {
		n := int(math.Sqrt(float64(len(c.a))))
		for i, v := range inverse(c.a, n) {
			if w := c.want[i]; v != w && !(math.Abs(v-w) < 1e-12*math.Abs(w)) {
				t.Errorf("%s: element %d is %g, want %g", name, i, v, w)
			}
		}
	}
}
