// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Inputs and outputs lie side by side; temporaries share space once they are read.
func TestTemporariesShareSpace(t *testing.T) {
	x := ad.Input("x", 16)
	y := ad.Cumsum(x, 0)
	for range 3 {
		y = ad.Cumsum(y, 0)
	}
	expect(t, "memory", `
		array 1: v0, input, elements 0 to 16
		array 2: v4, output, elements 16 to 32
		array 3: v1, temporary, elements 32 to 48
		array 4: v2, temporary, elements 48 to 64
		array 5: v3, temporary, elements 32 to 48`,
		y)
}
