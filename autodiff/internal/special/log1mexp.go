// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// Log1mexp returns log(1 - exp(x)) for x < 0.
func Log1mexp(x float64) float64 {
	if x > -math.Ln2 {
		return subnormal.Log(-math.Expm1(x))
	}
	return math.Log1p(-math.Exp(x))
}
