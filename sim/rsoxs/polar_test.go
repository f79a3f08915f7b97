// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import "testing"

// The map of circles is that of NRSS, and its means are the curves.
func TestPolar(t *testing.T) {
	ref := readReduced(t)
	for name, id := range ref.Cases {
		p := ref.pattern(t, id)
		d, err := Reduction{}.NewReducer(p)
		if err != nil {
			t.Fatal(err)
		}
		polar, chi, err := d.Polar(p)
		if err != nil {
			t.Fatal(err)
		}
		n := len(chi) * d.n
		same(t, name+" polar", polar.Float64s()[:n], ref.arrays[name+"_polar"].Float64s())
		same(t, "chi", chi, ref.arrays["chi"].Float64s())
		same(t, "q", d.Q(0), ref.arrays["q_perp"].Float64s())
	}
}
