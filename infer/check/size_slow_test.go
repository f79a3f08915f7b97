// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package check

import (
	"math/rand/v2"
	"testing"
)

// The threshold farTooLarge tells outliers among right errors from errors that are all too small. Of data with right errors and up to three
// outliers of 6 to 15 standard deviations, at most one in twenty points, the size of the residuals comes first in at most 1 %; of data with
// outliers whose errors are a third too small or worse, it comes first in nearly all from 100 points on.
func TestSizeBeforeOutliersIsCalibrated(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 7))
	for _, n := range []int{20, 40, 100, 400, 1000} {
		const runs = 1000
		for _, factor := range []float64{1, 1.1, 1.2, 1.3, 1.5, 2} {
			first, told := 0, 0
			for range runs {
				d := noise(r, n, false)
				for i := range d.Z {
					d.Z[i] *= factor
				}
				for range 1 + r.IntN(min(3, n/20)) {
					d.Z[r.IntN(n)] += factor * (6 + 9*r.Float64())
				}
				v, err := Judge(d, Settings{})
				if err != nil {
					t.Fatal(err)
				}
				if !v.Has(KindOutliers) {
					continue
				}
				if told++; v.Flags[0].Kind == KindSize {
					first++
				}
			}
			share := float64(first) / float64(max(told, 1))
			t.Logf("%d points, errors %g times too small: the size comes before %d outliers in %.2f %%", n, factor, told, 100*share)
			if factor == 1 && share > 0.01 || factor >= 1.5 && n >= 100 && share < 0.95 {
				t.Errorf("%d points, errors %g times too small: %.2f %%", n, factor, 100*share)
			}
		}
	}
}
