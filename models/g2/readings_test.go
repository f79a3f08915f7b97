// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"strings"
	"testing"
)

// Values that light of speckles cannot have are named, whatever the fit makes of them, and those that it can have are not.
func TestReadingsNameTheBaseline(t *testing.T) {
	model, err := ByName("single")
	if err != nil {
		t.Fatal(err)
	}
	for lift, named := range map[float64]bool{0: false, 1: false, 5: true} {
		found := false
		for _, f := range (Curve{X: []float64{1, 2, 3, 4}, Y: []float64{2 + lift, 1.5 + lift, 1.2 + lift, 1.1 + lift}}).readings(model) {
			found = found || strings.Contains(f.Text, "its baseline is far from 1")
		}
		if found != named {
			t.Errorf("a g2 that is %g too high is named: %t", lift, found)
		}
	}
}
