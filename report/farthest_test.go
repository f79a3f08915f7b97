// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import "testing"

// Of many points a picture has the extremes of each run, in order, and all of few.
func TestFarthest(t *testing.T) {
	order := make([]int, 100_000)
	for i := range order {
		order[i] = i
	}
	height := func(i int) float64 {
		switch i {
		case 54_321:
			return 9
		case 54_322:
			return -9
		}
		return float64(i*7919%1009)/1009 - 0.5
	}
	kept, note := farthest(order, height)
	found := 0
	for k, i := range kept {
		if i == 54_321 || i == 54_322 {
			found++
		}
		if k > 0 && i <= kept[k-1] {
			t.Fatalf("point %d comes after point %d", i, kept[k-1])
		}
	}
	if len(kept) > mostOfCurve || found != 2 || note == "" {
		t.Errorf("%d points with %d of 2 outliers, %q", len(kept), found, note)
	}
	if kept, note := farthest(order[:mostOfCurve], height); len(kept) != mostOfCurve || note != "" {
		t.Errorf("%d of %d points, %q", len(kept), mostOfCurve, note)
	}
}
