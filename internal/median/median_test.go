// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package median

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The median is the middle of the sorted numbers, for any number of them, with and without equal ones.
func TestMedian(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := 1; n < 200; n++ {
		for _, kinds := range []int{1, 2, 5, 1 << 40} {
			x := make([]float64, n)
			for i := range x {
				x[i] = float64(rng.IntN(kinds))
			}
			s := slices.Sorted(slices.Values(x))
			want := (s[(n-1)/2] + s[n/2]) / 2
			kept := slices.Clone(x)
			if got := Of(x); got != want || !slices.Equal(x, kept) {
				t.Fatalf("median of %v is %g, want %g", kept, got, want)
			}
		}
	}
	if !math.IsNaN(Of(nil)) {
		t.Error("median of nothing")
	}
}
