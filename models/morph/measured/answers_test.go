// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
)

// A fit says which parameters its data determine, from which energies, and that the interpolation is exact enough.
func TestAnswers(t *testing.T) {
	k := small(t, 3)
	k.Params = append(k.Params, measured.Param{Name: "purity", Start: 0.98, Mean: 0.98, SD: 1e-4, Bounds: []float64{0.5, 1}})
	s, err := k.Fit(t.Context(), optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	id := k.Identify(s)
	if share := id.Prior["purity"]; share < 0.9 || share > 1 {
		t.Errorf("the prior has a share of %g in purity, which is all but held by it", share)
	}
	strong := 0
	for i := range s.Names {
		for k := range i {
			if n := len(s.Names); math.Abs(s.Cov[i*n+k]) > 0.9*s.SD[i]*s.SD[k] {
				strong++
			}
		}
	}
	if len(id.Correlations) != strong {
		t.Errorf("%d correlations are above 0.9, and %v are told", strong, id.Correlations)
	}
	if len(id.Undetermined) > 0 {
		t.Errorf("undetermined: %v", id.Undetermined)
	}
	exact, err := k.Interpolation(s)
	if err != nil {
		t.Fatal(err)
	}
	for name, sd := range exact {
		if !(sd < 0.1) {
			t.Errorf("interpolation moves %s by %g standard deviations", name, sd)
		}
	}
	by, err := k.ByEnergy(s)
	if err != nil || len(by) != 2 {
		t.Fatal(by, err)
	}
	i := slices.Index(s.Names, "radius")
	if a, b := by[0].Alone["radius"], by[1].Alone["radius"]; !(a > s.SD[i]) || !(b > s.SD[i]) || math.Abs(by[0].Without["radius"]/b-1) > 1e-6 {
		t.Errorf("the radius has %g from all, %g and %g from each, %g without the first", s.SD[i], a, b, by[0].Without["radius"])
	}
	left := 0
	for _, u := range k.Used() {
		left += u.Used
	}
	if left != s.Pixels {
		t.Errorf("%d numbers are used, and the frames say %d", s.Pixels, left)
	}
}

// What data do not determine ends a fit and is told: which parameters move together, and what chi-square says to it.
func TestUndetermined(t *testing.T) {
	k := smallOf(t, 3, true)
	for _, name := range []string{"scale_1", "scale_2"} {
		k.Params = append(k.Params, measured.Param{Name: name, Start: 0.1, Bounds: []float64{-2, 2}})
	}
	s, err := k.Fit(t.Context(), optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if id := k.Identify(s); len(id.Undetermined) != 1 || !strings.Contains(id.Undetermined[0], "log_scale by") || !strings.Contains(id.Undetermined[0], "and of scale_2 by") {
		t.Errorf("scales of both energies beside that of all: %q", id.Undetermined)
	}
}
