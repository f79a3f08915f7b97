// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"testing"
)

// A pixel that counted nothing is no pixel that is left out.
func TestZerosAreNotLeftOut(t *testing.T) {
	got := seen([][]float64{{0, 3, math.NaN()}}, 2)[0]
	if got[0] != 2 || got[1] != 3 || !math.IsNaN(got[2]) {
		t.Error(got)
	}
}
