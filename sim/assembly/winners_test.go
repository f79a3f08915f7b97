// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The largest inputs come in order, the lower number first among equals, by every way
// of finding them.
func TestTop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		m := rapid.IntRange(0, n).Draw(t, "m")
		kinds := rapid.SampledFrom([]float64{1, 5, 1000}).Draw(t, "kinds")
		shift := rapid.SampledFrom([]float64{0, -2, 0.5}).Draw(t, "shift")
		x := make([]float64, n)
		src := newRandomStream(rapid.Uint64().Draw(t, "seed"), 1, 0)
		for j := range x {
			x[j] = rounded(float64(src.below(int(kinds)))*1.05 + shift)
		}
		want := make([]int32, n)
		for j := range want {
			want[j] = int32(j)
		}
		slices.SortStableFunc(want, func(a, b int32) int { return cmp.Compare(x[b], x[a]) })
		if got := top(x, m); !slices.Equal(got, want[:m]) {
			t.Fatalf("%v: top %d are %v, want %v", x, m, got, want[:m])
		}
	})
}
