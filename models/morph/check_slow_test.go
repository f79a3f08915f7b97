// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package morph_test

import (
	"math/rand/v2"
	"testing"
)

// Of 500 right inversions of relative errors, and of counts from few to many, at most
// 1 % and what chance adds are flagged.
func TestRightPatternsAreSeldomFlagged(t *testing.T) {
	for _, counts := range []float64{0, 1e3, 1e6, 1e10} {
		flagged, kinds := 0, map[string]int{}
		for k := range 500 {
			r := rand.New(rand.NewPCG(uint64(k), 99))
			b := ball{width: 1, counts: counts}
			v, _ := b.judged(t, b.measured(t, r, ballTruth, nil))
			if !v.OK {
				flagged++
				for _, f := range v.Flags {
					kinds[f.Kind]++
				}
			}
		}
		t.Logf("scale %g: %d of 500 flagged: %v", counts, flagged, kinds)
		if flagged > 13 { // 5 expected, four standard deviations
			t.Errorf("scale %g: %d of 500 right models flagged: %v", counts, flagged, kinds)
		}
	}
}
