// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// Log1psq returns log(1 + x^2).
func Log1psq(x float64) float64 {
	if math.Abs(x) > 1e8 {
		return 2 * subnormal.Log(math.Abs(x))
	}
	return math.Log1p(x * x)
}

// Log1psqSlope returns its derivative.
func Log1psqSlope(x float64) float64 {
	if math.Abs(x) > 1 {
		return 2 / (x + 1/x)
	}
	return 2 * x / (1 + x*x)
}
