// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Table holds optical constants by photon energy.
type Table struct {
	Name      string
	Energies  []float64 // photon energies in eV, rising
	Constants []cyrsoxs.Constants
	Second    [][2]float64 // delta and beta along a second axis across the director, of molecules with three axes; nil for others
	Notes     []string     // sentences that say what was left out
}

// leastEnergy is the photon energy in eV below which rows of tables are placeholders.
const leastEnergy = 20

// Constants reads optical constants: a table as text whose columns are called Energy, DeltaPara, BetaPara, DeltaPerp and BetaPerp, in any
// order, with underscores or the name of the material among the words; delta and beta alone for an isotropic material; or a file such as
// Material1.txt of CyRSoXS. Columns DeltaPerp2 and BetaPerp2 are along a second axis across the director.
func Constants(name string) (*Table, error) {
	b, err := foreign.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("scatter: %w", err)
	}
	t := &Table{Name: name}
	if strings.Contains(string(b), "EnergyData") {
		m, err := cyrsoxs.ParseMaterial(b, name)
		if err != nil {
			return nil, err
		}
		t.Energies, t.Constants = m.Energies, m.Constants
	} else if err := t.columns(name); err != nil {
		return nil, err
	}
	return t, t.tidy()
}

// ofSecondAxis reports whether a column is along a second axis across the director.
func ofSecondAxis(column string) bool {
	return strings.Contains(strings.NewReplacer("_", "", " ", "").Replace(column), "perp2")
}

// constantOf says which number a column holds: 0 for delta, 1 for beta, -1 for another; and for which directions.
func constantOf(column string) (number int, para, perp bool) {
	switch {
	case strings.Contains(column, "delta"):
	case strings.Contains(column, "beta"):
		number = 1
	default:
		return -1, false, false
	}
	para, perp = strings.Contains(column, "para"), strings.Contains(column, "perp")
	if !para && !perp {
		return number, true, true
	}
	return number, para, perp
}

// columns reads a table as text.
func (t *Table) columns(name string) error {
	text, err := readTable(name)
	if err != nil {
		return err
	}
	e := text.column("energy", "e", "en", "photon energy", "energy_ev")
	at, second := [4]int{-1, -1, -1, -1}, [2]int{-1, -1} // in the order of the fields
	for i, n := range text.names {
		number, para, perp := constantOf(n)
		if number < 0 {
			continue
		}
		if ofSecondAxis(n) {
			second[number] = i
			continue
		}
		if para {
			at[number] = i
		}
		if perp {
			at[2+number] = i
		}
	}
	if e < 0 || slices.Contains(at[:], -1) {
		if at[1] >= 0 && at[0] < 0 {
			return defect(name, "compute delta from beta by the relations of Kramers and Kronig first", "the columns are %s: there is beta and no delta", strings.Join(text.names, ", "))
		}
		return defect(name, "begin with a line Energy DeltaPara BetaPara DeltaPerp BetaPerp", "the columns are %q: want an energy, and delta and beta parallel and perpendicular", text.names)
	}
	if (second[0] < 0) != (second[1] < 0) {
		return defect(name, "give both DeltaPerp2 and BetaPerp2, or neither", "the columns are %q: one of delta and beta along the second axis across the director is missing", text.names)
	}
	for _, r := range text.rows {
		if second[0] >= 0 {
			t.Second = append(t.Second, [2]float64{r[second[0]], r[second[1]]})
		}
		t.Energies = append(t.Energies, r[e])
		t.Constants = append(t.Constants, cyrsoxs.Constants{DeltaPara: r[at[0]], BetaPara: r[at[1]], DeltaPerp: r[at[2]], BetaPerp: r[at[3]]})
	}
	return nil
}

// tidy sorts the rows, and leaves out those that are placeholders or there twice.
func (t *Table) tidy() error {
	order := make([]int, 0, len(t.Energies))
	low := 0
	for i, e := range t.Energies {
		c := t.Constants[i]
		x := e + c.DeltaPara + c.BetaPara + c.DeltaPerp + c.BetaPerp
		if t.Second != nil {
			x += t.Second[i][0] + t.Second[i][1]
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return defect(t.Name, "complete the row", "row %d, at %g eV, has a number that is not finite", i+1, e)
		}
		if e < leastEnergy {
			low++
			continue
		}
		order = append(order, i)
	}
	if low > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s below %d eV left out", count(low, "row"), leastEnergy))
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case t.Energies[a] < t.Energies[b]:
			return -1
		case t.Energies[a] > t.Energies[b]:
			return 1
		}
		return 0
	})
	var energies []float64
	var constants []cyrsoxs.Constants
	var second [][2]float64
	for _, i := range order {
		if n := len(energies); n > 0 && t.Energies[i] == energies[n-1] {
			if t.Constants[i] != constants[n-1] || t.Second != nil && t.Second[i] != second[n-1] {
				return defect(t.Name, "keep one of them", "two rows at %g eV differ: %v and %v", t.Energies[i], constants[n-1], t.Constants[i])
			}
			t.Notes = append(t.Notes, fmt.Sprintf("the row at %g eV is there twice", t.Energies[i]))
			continue
		}
		energies, constants = append(energies, t.Energies[i]), append(constants, t.Constants[i])
		if t.Second != nil {
			second = append(second, t.Second[i])
		}
	}
	if len(energies) == 0 {
		return defect(t.Name, "give a table of optical constants", "no row is above %d eV", leastEnergy)
	}
	t.Energies, t.Constants, t.Second = energies, constants, second
	return nil
}

// At returns the constants at an energy in eV, linear between rows. An energy outside the table by more than 0.01 eV is an error that names
// both ranges.
func (t *Table) At(energy float64) (cyrsoxs.Constants, error) {
	low, high := t.Energies[0], t.Energies[len(t.Energies)-1]
	if !(energy >= low-sameEnergy && energy <= high+sameEnergy) {
		return cyrsoxs.Constants{}, defect(t.Name, "extend the table", "the constants go from %g to %g eV, and %g eV was asked for", low, high, energy)
	}
	m := cyrsoxs.Material{Energies: t.Energies, Constants: t.Constants}
	return m.At(energy), nil
}
