// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// A q in another unit is the same q in 1/angstrom after reading.
func TestUnitsOfQ(t *testing.T) {
	for unit, per := range map[string]float64{
		"Å⁻¹": 1, "1/A": 1, "A^-1": 1, "1/Å": 1, "Å^-1": 1, "1/angstrom": 1, "Angstrom^-1": 1, "$\\AA^{-1}$": 1, "A-1": 1, "": 1,
		"1/nm": 10, "nm^-1": 10, "nm⁻¹": 10, "1 / nm": 10, "nm**-1": 10, "1/µm": 1e4, "1/um": 1e4, "1/m": 1e10, "m^-1": 1e10, "1/cm": 1e8,
	} {
		name := filepath.Join(t.TempDir(), "r.hdf")
		r := sample(3, 2)
		r.QMap.Units = []string{unit, "deg"}
		if err := Write(name, r); err != nil {
			t.Fatal(err)
		}
		got := open(t, name)
		if q, want := got.QMap.Q(3), r.QMap.Q(3)/per; math.Abs(q-want) > 1e-15*want {
			t.Errorf("%q: q is %v, want %v 1/angstrom", unit, q, want)
		}
		if per != 1 && got.QMap.Units[0] != "Å⁻¹" {
			t.Errorf("%q: the unit after reading is %q", unit, got.QMap.Units[0])
		}
	}
}

func TestUnknownUnitsOfQ(t *testing.T) {
	for _, unit := range []string{"deg", "nm", "1/s", "furlong^-1"} {
		name := filepath.Join(t.TempDir(), "r.hdf")
		r := sample(3, 1)
		r.QMap.Units = []string{unit, "deg"}
		if err := Write(name, r); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), "/xpcs/qmap/map_units") || !strings.Contains(err.Error(), `"`+unit+`"`) {
			t.Errorf("%q: %v", unit, err)
		}
	}
	x := sample(3, 1) // whose first axis is no q
	x.QMap.Names, x.QMap.Units = []string{"x", "y"}, []string{"pixel", "pixel"}
	name := filepath.Join(t.TempDir(), "r.hdf")
	if err := Write(name, x); err != nil {
		t.Fatal(err)
	}
	if got := open(t, name); got.QMap.Q(3) != x.QMap.Q(3) {
		t.Error(got.QMap.Q(3))
	}
}
