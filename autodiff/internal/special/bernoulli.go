// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// BernoulliLogLik returns k log(p) + m log(1-p), where nothing of a count of 0 is taken.
func BernoulliLogLik(k, m, p float64) float64 {
	sum := 0.0
	if k != 0 {
		sum += k * subnormal.Log(p)
	}
	if m != 0 {
		sum += m * math.Log1p(-p)
	}
	return sum
}

// BernoulliScore returns the derivative of BernoulliLogLik by p.
func BernoulliScore(k, m, p float64) float64 {
	switch {
	case k == 0 && m == 0: // at the ends too
		return 0
	case k == 0: // at p = 0 too
		return -m / (1 - p)
	case m == 0:
		return k / p
	}
	return -math.FMA(k+m, p, -k) / (p * (1 - p))
}
