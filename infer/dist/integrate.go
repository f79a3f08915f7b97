// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import "gonum.org/v1/gonum/integrate/quad"

const integrationPoints = 24

var integrationNodes, integrationWeights = func() (x, w [integrationPoints]float64) {
	quad.Legendre{}.FixedLocations(x[:], w[:], -1, 1)
	return x, w
}()

// integrate returns the integral of a smooth f from a to b by Gauss-Legendre quadrature.
func integrate(f func(x float64) float64, a, b float64) float64 {
	half, sum := (b-a)/2, 0.0
	for i, x := range integrationNodes {
		sum += half * integrationWeights[i] * f(a+half*(1+x))
	}
	return sum
}
