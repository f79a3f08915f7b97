// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math/rand/v2"
	"testing"
)

// Errors that were estimated from the data are too large or too small by places: that is no evidence against the model, which a note
// says. Departures and outliers are found nevertheless.
func TestSigmaEstimated(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	flagged := 0
	for k := range 200 {
		d := noise(r, 600, false)
		d.Directions, d.SigmaEstimated = nil, k%2 == 0
		for i := range d.Z {
			d.Z[i] /= 1.1 + 0.3*float64(i)/600
		}
		v, err := Judge(d, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if d.SigmaEstimated && len(v.Notes) == 0 || !d.SigmaEstimated && v.OK {
			t.Errorf("estimated %v: %s", d.SigmaEstimated, v)
		}
		if d.SigmaEstimated && !v.OK {
			flagged++
			t.Log(v)
		}
		d.Z[300] += 9
		if v, err := Judge(d, Settings{}); err != nil || !v.Has(KindOutliers) {
			t.Errorf("estimated %v: no outlier: %v %v", d.SigmaEstimated, v, err)
		}
	}
	if flagged > 5 { // 1 expected
		t.Errorf("%d of 100 right models were flagged", flagged)
	}
}
