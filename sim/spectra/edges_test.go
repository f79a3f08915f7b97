// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/sim/spectra"
)

// Rows of DESI's matrix that an end cuts have the median sum of the rows that none cuts, whatever stands in them.
func TestEdgesOfDESIResolution(t *testing.T) {
	const diagonals, n, half = 5, 24, 2
	for _, edge := range []float64{1, 0.1, 30} {
		in := make([]float64, diagonals*n)
		for k := range diagonals {
			for j := range n {
				x := float64(k-half) / 1.1
				in[k*n+j] = (1 + 0.02*float64(j)) * math.Exp(-x*x/2)
				if j < half || j >= n-half {
					in[k*n+j] *= edge
				}
			}
		}
		r, err := spectra.DESIResolution(in, diagonals, 0.5, 0.8)
		if err != nil {
			t.Fatal(err)
		}
		var sums []float64
		for i := range n {
			sum := 0.0
			for k := range diagonals {
				sum += r.Band[k*n+i]
			}
			sums = append(sums, sum)
		}
		inner := slices.Sorted(slices.Values(sums[half : n-half]))
		want := (inner[len(inner)/2-1] + inner[len(inner)/2]) / 2
		for _, i := range []int{0, 1, n - 2, n - 1} {
			if math.Abs(sums[i]/want-1) > 1e-12 {
				t.Errorf("edge %g: row %d has the sum %v, and the inner rows have the median %v", edge, i, sums[i], want)
			}
		}
	}
}
