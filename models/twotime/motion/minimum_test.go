// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package motion_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/twotime"
)

// Points three standard deviations from the minimum are flagged, and those where fits end are not.
func TestVerdictsOfPointsOffTheMinimum(t *testing.T) { offMinimum(t, 1) }

// offMinimum judges movies at their fits, and with one parameter 1, 2 and 3 standard deviations away.
func offMinimum(t *testing.T, movies int) {
	var flagged, all [4]int
	for seed := range movies {
		m := few(uint64(seed))
		m.pixels, m.angles = 1000, m.angles[:1]
		f := m.fit(t)
		for k, row := range f.Rows() {
			if row.Fixed {
				continue
			}
			for away := range flagged {
				at := f.Point()
				at.Theta = slices.Clone(at.Theta)
				at.Theta[k] += float64(away) * row.SD
				v, err := twotime.Judge(t.Context(), f.Problem.Data, at, []string{"D0", "alpha"}, f.Scaling, twotime.PosteriorSettings{Pixels: 1000})
				if err != nil {
					t.Fatal(err)
				}
				all[away]++
				if strings.Contains(v.String(), "not at a minimum") {
					flagged[away]++
				}
			}
		}
	}
	t.Logf("of %d points each, %v are flagged that are 0, 1, 2 and 3 standard deviations from the minimum", all[0], flagged)
	if flagged[0] > 0 || 10*flagged[1] > all[1] || 2*flagged[2] < all[2] || 20*flagged[3] < 19*all[3] {
		t.Errorf("of %d points each, %v are flagged that are 0, 1, 2 and 3 standard deviations from the minimum", all[0], flagged)
	}
}
