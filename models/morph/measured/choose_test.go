// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// Energies are chosen where the contrast is: an energy at which nothing differs from the matrix is not, and two are worth more than one.
func TestChooseEnergies(t *testing.T) {
	k := small(t, 3)
	blank := rsoxs.Constants{DeltaPara: 3e-4, BetaPara: 3e-4, DeltaPerp: 3e-4, BetaPerp: 3e-4}
	extended := func(table measured.Table) measured.Table {
		return measured.Table{Energies: append(slices.Clone(table.Energies), 286), Constants: append(slices.Clone(table.Constants), blank)}
	}
	m := *k.Model
	matrix := extended(*m.Matrix)
	m.Tables, m.Matrix = []measured.Table{extended(m.Tables[0]), extended(m.Tables[1])}, &matrix
	k.Model = &m
	k.Params = slices.DeleteFunc(k.Params, func(p measured.Param) bool { return p.Name == "resolution" })
	plan, err := k.Choose(2, 20)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(plan.Energies, []float64{284, 285}) || plan.Exposure != 10 || !slices.Contains(plan.Names, "radius") || slices.Contains(plan.Names, "background") {
		t.Errorf("%+v", plan)
	}
	if sd, without := plan.SD["radius"], plan.Without[0]["radius"]; !(without > sd) || math.IsNaN(sd) {
		t.Errorf("the radius has %g, and %g without the first energy", sd, without)
	}
	if _, err := k.Choose(5, 20); err == nil {
		t.Error("five energies of three")
	}
}
