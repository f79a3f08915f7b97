// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Absorption is a table of absorption spectra: beta, or what is in proportion to it, by photon energy.
type Absorption struct {
	Energies []float64 // photon energies in eV, as the file has them
	// Beta is that of an isotropic material, Para and Perp are those along and across the director; nil where the file has none.
	Beta, Para, Perp []float64
	// Angles are those of the electric field from the director in degrees, with a spectrum of each, [angle][energy].
	Angles  []float64
	Spectra [][]float64
}

var angleInName = regexp.MustCompile(`^(?:[a-z_ ]*?)(-?\d+(?:\.\d+)?)\s*(?:deg|degrees|°)?$`)

// OpenAbsorption reads a table as text whose first column, or the one called Energy, has energies in eV. The others are one spectrum;
// BetaPara and BetaPerp; or spectra whose columns are called by angles in degrees, such as 20, theta_55 or 90deg.
func OpenAbsorption(name string) (*Absorption, error) {
	text, err := readTable(name)
	if err != nil {
		return nil, err
	}
	energy := max(0, text.column("energy", "e", "en", "photon energy", "energy_ev"))
	values := func(column int) (out []float64) {
		for _, r := range text.rows {
			out = append(out, r[column])
		}
		return out
	}
	a := &Absorption{Energies: values(energy)}
	for i := range text.rows[0] {
		title := ""
		if text.names != nil {
			title = strings.ToLower(text.names[i])
		}
		angle := angleInName.FindStringSubmatch(title)
		switch {
		case i == energy:
		case strings.Contains(title, "para"):
			a.Para = values(i)
		case strings.Contains(title, "perp"):
			a.Perp = values(i)
		case angle != nil:
			x, err := strconv.ParseFloat(angle[1], 64)
			if err != nil {
				return nil, defect(name, "call the column by an angle in degrees", "column %d is called %s", i+1, title)
			}
			a.Angles, a.Spectra = append(a.Angles, x), append(a.Spectra, values(i))
		case a.Beta == nil && (title == "" || strings.Contains(title, "beta") || strings.Contains(title, "abs") || len(text.rows[0]) == 2):
			a.Beta = values(i)
		default:
			return nil, defect(name, "call columns Beta, BetaPara and BetaPerp, or by angles in degrees", "column %d is called %q", i+1, title)
		}
	}
	if kinds := []bool{a.Beta != nil, a.Para != nil && a.Perp != nil, len(a.Angles) > 1}; !slices.Contains(kinds, true) || a.Beta != nil && (a.Para != nil || a.Angles != nil) || a.Para != nil && a.Angles != nil {
		return nil, defect(name, "keep an energy and one spectrum, BetaPara and BetaPerp, or spectra at two angles or more", "the columns are %q", text.names)
	}
	for i, r := range text.rows {
		for _, x := range r {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, defect(name, "complete the row", "row %d, at %g eV, has a number that is not finite", i+1, a.Energies[i])
			}
		}
	}
	return a, nil
}
