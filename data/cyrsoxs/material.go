// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"fmt"
	"math"
	"slices"
)

// Constants are the optical constants of a uniaxial material at one energy: its
// refractive index is n = 1 - delta + i beta, para along the extraordinary axis
// and perp across it. All zero is vacuum.
type Constants struct {
	DeltaPara, BetaPara, DeltaPerp, BetaPerp float64
}

// Material is a table of optical constants over energy. The zero value is
// vacuum, at any energy.
type Material struct {
	Name      string      // name of the file or substance, used in messages
	Energies  []float64   // energies in eV, in the order of the file
	Constants []Constants // optical constants at each energy
}

// IsVacuum reports whether the Material has no table.
func (m *Material) IsVacuum() bool { return len(m.Energies) == 0 }

// At returns the constants at an energy (eV) by linear interpolation between the nearest energies of
// the table; outside the table it returns those at the nearer end. The order of the table does not
// matter.
func (m *Material) At(energy float64) Constants {
	if m.IsVacuum() {
		return Constants{}
	}
	below, above := -1, -1
	for i, e := range m.Energies {
		switch {
		case e == energy:
			return m.Constants[i]
		case e < energy && (below < 0 || e > m.Energies[below]):
			below = i
		case e > energy && (above < 0 || e < m.Energies[above]):
			above = i
		}
	}
	switch {
	case below < 0 && above < 0: // energy is NaN
		nan := math.NaN()
		return Constants{nan, nan, nan, nan}
	case below < 0:
		return m.Constants[above]
	case above < 0:
		return m.Constants[below]
	}
	e0, e1, a, b := m.Energies[below], m.Energies[above], m.Constants[below], m.Constants[above]
	between := func(y0, y1 float64) float64 {
		slope := (y1 - y0) / (e1 - e0)
		return float64(slope*(energy-e0)) + y0 // rounded twice, as NumPy does
	}
	return Constants{
		between(a.DeltaPara, b.DeltaPara), between(a.BetaPara, b.BetaPara),
		between(a.DeltaPerp, b.DeltaPerp), between(a.BetaPerp, b.BetaPerp),
	}
}

// Sample returns a table of the values of At at other energies (eV).
func (m *Material) Sample(energies []float64) *Material {
	out := &Material{Name: m.Name, Energies: slices.Clone(energies)}
	for _, e := range energies {
		out.Constants = append(out.Constants, m.At(e))
	}
	return out
}

// energyTolerance is the largest allowed difference between the energies of settings and table, in
// eV.
const energyTolerance = 1e-3

// find returns the row of an energy; it tries the row with the same index first.
func (m *Material) find(i int, energy float64) (int, bool) {
	if i < len(m.Energies) && math.Abs(m.Energies[i]-energy) <= energyTolerance {
		return i, true
	}
	best := nearest(m.Energies, energy)
	return best, best >= 0 && math.Abs(m.Energies[best]-energy) <= energyTolerance
}

// nearest returns the index of the value closest to x, or -1 if there are none.
func nearest(all []float64, x float64) int {
	best := -1
	for i, v := range all {
		if best < 0 || math.Abs(v-x) < math.Abs(all[best]-x) {
			best = i
		}
	}
	return best
}

// Optics returns the constants of every energy (eV) and material without interpolation: the tables
// must contain the energies within 0.001 eV. CyRSoXS requires them in the order of the settings;
// here, another order is a warning, and so is a negative beta, with which matter would amplify light. The
// error names every missing energy.
func Optics(all []*Material, energies []float64) (constants [][]Constants, warnings []string, err error) {
	var bad mistakes
	if meant := inKeV(all, energies); meant != nil {
		bad.add("energies", fmt.Sprintf("energies are in eV: %v", meant), "%v are in none of the tables of constants, whose energies are 1000 times as large: are they in keV?", energies)
		return nil, nil, bad.in("")
	}
	constants = make([][]Constants, len(energies))
	for i := range constants {
		constants[i] = make([]Constants, len(all))
	}
	for j, m := range all {
		if m.IsVacuum() {
			continue
		}
		moved := false
		for i, e := range energies {
			row, ok := m.find(i, e)
			if !ok {
				bad.missing(m, j, e)
				continue
			}
			moved = moved || row != i
			constants[i][j] = m.Constants[row]
		}
		if moved {
			warnings = append(warnings, fmt.Sprintf("%s: energies are not in the order of the settings: looked up by value (CyRSoXS stops)", m.title(j)))
		}
	}
	if bad != nil {
		return nil, warnings, bad.in("")
	}
	return constants, append(warnings, Amplifiers(all, constants, energies)...), nil
}

// Amplifiers says of each material with a negative beta, by energy and material in constants, where it is negative.
func Amplifiers(all []*Material, constants [][]Constants, energies []float64) (told []string) {
	for j, m := range all {
		if text := amplifies(constants, j, energies); text != "" {
			told = append(told, m.title(j)+": "+text)
		}
	}
	return told
}

// amplifies is a sentence on the negative beta of material j, or "" if there is none.
func amplifies(constants [][]Constants, j int, energies []float64) string {
	n, first := 0, ""
	for i, row := range constants {
		key, beta := "BetaPara", row[j].BetaPara
		if beta >= 0 {
			key, beta = "BetaPerp", row[j].BetaPerp
		}
		if beta >= 0 {
			continue
		}
		if n == 0 {
			first = fmt.Sprintf("%s is %g at %v eV", key, beta, energies[i])
		}
		n++
	}
	if n == 0 {
		return ""
	}
	if n > 1 {
		first += fmt.Sprintf(", and beta is negative at %d of %d energies", n, len(energies))
	}
	return first + ": matter that absorbs has a positive beta (n = 1 - delta + i beta); check the sign"
}

// leastEnergy in eV is an energy below which nothing scatters soft X-rays; a decimal comma leaves digits that are read as one.
const leastEnergy = 10

// inKeV returns energies times 1000 if all tables have those and not the energies themselves, and nil otherwise.
func inKeV(all []*Material, energies []float64) (meant []float64) {
	for _, e := range energies {
		meant = append(meant, 1000*e)
	}
	tables := 0
	for _, m := range all {
		if m.IsVacuum() {
			continue
		}
		tables++
		for i, e := range meant {
			if math.Abs(m.Energies[nearest(m.Energies, e)]-e) > 1e-3*e {
				return nil
			}
			if _, ok := m.find(i, energies[i]); ok {
				return nil
			}
		}
	}
	if tables == 0 {
		return nil
	}
	return meant
}

func (b *mistakes) missing(m *Material, j int, energy float64) {
	near := m.Energies[nearest(m.Energies, energy)]
	try := "add the energy to the table (in Go, Material.Sample interpolates)"
	if energy < leastEnergy {
		try = "numbers in a list are separated by commas, so that a decimal comma makes two of one: write 285.2 with a point"
	}
	b.add(m.title(j), try, "it has no energy %v eV; the nearest is %v eV", energy, near)
}

func (m *Material) title(j int) string {
	if m.Name == "" {
		return fmt.Sprintf("material %d", j+1)
	}
	return m.Name
}

// Check returns everything that is wrong with the table, joined.
func (m *Material) Check() error { return m.mistakes().in(m.Name) }

func (m *Material) mistakes() mistakes {
	var bad mistakes
	if len(m.Energies) != len(m.Constants) {
		bad.add("", "give equal numbers", "there are %d energies and %d rows of constants", len(m.Energies), len(m.Constants))
		return bad
	}
	rows := map[float64]Constants{}
	for i, e := range m.Energies {
		c := m.Constants[i]
		old, twice := rows[e]
		switch {
		case !finite(e) || e <= 0:
			bad.add("", "give energies in eV", "the energy %v is not a positive number", e)
		case !finite(c.DeltaPara, c.BetaPara, c.DeltaPerp, c.BetaPerp):
			bad.add("", "give finite numbers", "the constants %+v at %v eV are not finite", c, e)
		case twice && old != c:
			bad.add("", "keep one of them", "the energy %v eV has two sets of constants", e)
		}
		rows[e] = c
	}
	return bad
}
