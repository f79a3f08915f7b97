// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package constants_test

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/sim/rsoxs/constants"
)

// Delta of a resonance is negative below its energy and positive above it, where the light's refractive index is above and below 1.
func Example() {
	var energies, beta []float64
	for e := 200.0; e < 400; e += 0.1 {
		energies, beta = append(energies, e), append(beta, 2e-3/(1+math.Pow(e-285, 2)))
	}
	delta, err := constants.KramersKronig(energies, beta, []float64{283, 287}, constants.Continuation{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("delta is %.1e and %.1e\n", delta[0], delta[1])
	// Output:
	// delta is -8.0e-04 and 8.0e-04
}
