// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package phasing_test

import (
	"context"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/sim/rsoxs/phasing"
)

// The magnitudes of a slit's transform, |sin(2 q)/sin(q/2)|, are those of four full voxels in a row.
func Example() {
	const n = 16
	image := make([]float64, n*n)
	for i := range image {
		half := math.Pi * float64(i%n-n/2) / n
		image[i] = 16
		if half != 0 {
			image[i] = math.Pow(math.Sin(4*half)/math.Sin(half), 2)
		}
	}
	support := make([]bool, n*n) // one row
	for i := range n / 2 {
		support[n/2*n+i] = true
	}
	p := phasing.Problem{Shape: [2]int{n, n}, Fields: 1, Support: support, Patterns: []phasing.Pattern{{Intensity: image, Components: [][]complex128{{1}}}}}
	r, err := phasing.Solve(context.Background(), p, phasing.Settings{Restarts: 5, Iterations: 200})
	if err != nil {
		panic(err)
	}
	sum := 0.0
	for _, v := range r.Best[0] {
		sum += v
	}
	fmt.Printf("%.2f voxels are filled, and the magnitudes agree to %.0f %%\n", sum, 100*r.Residual)
	// Output:
	// 4.00 voxels are filled, and the magnitudes agree to 0 %
}
