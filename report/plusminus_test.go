// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"testing"
)

func TestPlusMinus(t *testing.T) {
	for want, v := range map[string][2]float64{
		"1.464 +- 0.011":        {1.46384, 0.01134},
		"0.99977 +- 0.00086":    {0.99977, 0.00086},
		"12.3 +- 1.2":           {12.34, 1.23},
		"2.496e-05 +- 7.1e-07":  {2.496e-5, 7.1e-7},
		"1.2346e+06 +- 1.2e+03": {1234567, 1230},
		"6670 +- 120":           {6672, 118},
		"0.5 +- 0":              {0.5, 0},
		"0.5":                   {0.5, math.NaN()},
		"0.5 +- +Inf":           {0.5, math.Inf(1)},
		"0.00 +- 0.15":          {0.001, 0.15},
	} {
		if got := PlusMinus(v[0], v[1]); got != want {
			t.Errorf("PlusMinus(%g, %g) = %q, want %q", v[0], v[1], got, want)
		}
	}
}
