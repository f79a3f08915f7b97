// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/models/morph/measured"
)

// profilesAt returns the profiles of a task at its start.
func profilesAt(t *testing.T, k *measured.Task) []measured.Profile {
	t.Helper()
	var x []float64
	for _, p := range k.Params {
		x = append(x, p.Start)
	}
	images, err := k.Images(x)
	if err != nil {
		t.Fatal(err)
	}
	list, err := k.Profiles(x, images)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Along q, residuals at the truth are standard normal numbers, and the anisotropy of the data is that of the model where many photons are
// counted; what is reduced has the same profiles as its pixels.
func TestProfiles(t *testing.T) {
	k := smallOf(t, 5, true)
	q, chi := middles(0.03, 0.03, 11), middles(-180, 30, 12)
	d, _, err := measured.FromFile(reducedOf(k, func(i int) []float64 { return k.Model.Data.Frames[i].Counts }, q, chi), measured.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	for name, task := range map[string]*measured.Task{"pixels": k, "bins": without(k, d, "centre_x", "centre_y")} {
		list := profilesAt(t, task)
		if len(list) != 2 || list[0].Energy != 284 || list[1].Energy != 285 {
			t.Fatalf("%s: %+v", name, list)
		}
		square, n, strongest, far := 0.0, 0.0, 0.0, 0.0
		for _, p := range list {
			if len(p.Q) != len(p.A) || len(p.Q) != len(p.Model) || len(p.Q) != len(p.Residual) {
				t.Fatalf("%s: %d q, %d and %d anisotropies, %d residuals", name, len(p.Q), len(p.A), len(p.Model), len(p.Residual))
			}
			for i, z := range p.Residual {
				if math.IsNaN(z) {
					continue
				}
				square, n = square+z*z, n+1
				if p.Q[i] > 0.1 && p.Q[i] < 0.25 {
					strongest, far = max(strongest, math.Abs(p.Model[i])), max(far, math.Abs(p.A[i]-p.Model[i]))
				}
			}
		}
		if x := square / n; !(x > 0.4 && x < 1.8) || !(strongest > 0.05) || !(far < 0.3) {
			t.Errorf("%s: the mean square of %g residuals is %g; the anisotropy reaches %g and is off by %g", name, n, square/n, strongest, far)
		}
	}
}
