// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import "math"

// Softplus returns log(1 + exp(x)).
func Softplus(x float64) float64 { return math.Log1p(math.Exp(-math.Abs(x))) + max(x, 0) }

// Sigmoid returns 1/(1 + exp(-x)).
func Sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// SigmoidSlope returns the derivative s(1-s) of s = Sigmoid(x).
func SigmoidSlope(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	s := e / (1 + e)
	return s * (1 - s)
}
