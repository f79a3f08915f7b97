// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import "math"

// LogAddExp returns log(exp(x) + exp(y)).
func LogAddExp(x, y float64) float64 {
	if x == y { // also equal infinities
		return x + math.Ln2
	}
	return math.Max(x, y) + math.Log1p(math.Exp(-math.Abs(x-y)))
}
