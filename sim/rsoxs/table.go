// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"
	"math"
	"sort"
)

// Table holds the constants of one material at some energies.
type Table struct {
	Energies  []float64 // photon energies in eV, ascending
	Constants []Constants
}

// At returns the constants at an energy in eV by linear interpolation; outside the table it returns
// those at the nearer end.
func (t Table) At(energy float64) (Constants, error) {
	n := len(t.Energies)
	if n == 0 || n != len(t.Constants) || !finite(energy) || !finite(t.Energies...) {
		return Constants{}, fmt.Errorf("rsoxs: constants at %g eV cannot be read from a table of %d energies and %d constants: want finite numbers, as many of both", energy, n, len(t.Constants))
	}
	for i, e := range t.Energies[1:] {
		if !(e > t.Energies[i]) {
			return Constants{}, fmt.Errorf("rsoxs: energy %d of the table is %g after %g eV: want ascending energies", i+1, e, t.Energies[i])
		}
	}
	i := sort.SearchFloat64s(t.Energies, energy)
	switch {
	case i == n:
		return t.Constants[n-1], nil
	case i == 0 || t.Energies[i] == energy:
		return t.Constants[i], nil
	}
	f := (energy - t.Energies[i-1]) / (t.Energies[i] - t.Energies[i-1])
	a, b := t.Constants[i-1], t.Constants[i]
	mix := func(a, b float64) float64 { return a + f*(b-a) }
	return Constants{mix(a.DeltaPara, b.DeltaPara), mix(a.BetaPara, b.BetaPara), mix(a.DeltaPerp, b.DeltaPerp), mix(a.BetaPerp, b.BetaPerp)}, nil
}

// Tabulate returns the constants of materials at some energies in eV.
func Tabulate(energies []float64, tables ...Table) (Optics, error) {
	o := make(Optics, len(energies))
	for e, energy := range energies {
		for i, t := range tables {
			c, err := t.At(energy)
			if err != nil {
				return nil, fmt.Errorf("material %d: %w", i+1, err)
			}
			o[e] = append(o[e], c)
		}
	}
	return o, nil
}

// mean returns n - 1 averaged over all directions.
func (c Constants) mean() complex128 {
	return complex(-c.DeltaPara-2*c.DeltaPerp, c.BetaPara+2*c.BetaPerp) / 3
}

// BinaryContrast returns E^4 |n_a - n_b|^2 in eV^4 for two materials, with n averaged over all
// directions. This measures how strongly their mixture scatters at an energy E in eV.
func BinaryContrast(a, b Constants, energy float64) float64 {
	return math.Pow(energy, 4) * abs2(a.mean()-b.mean())
}

// Transmission returns the fraction of the intensity that leaves a film of a uniform
// material, for light along +Z with its field along +X. Energy in eV, thickness in
// nm; theta and psi are the angles of the director in radians.
//
//	T = exp(-4 pi beta t/wavelength),  beta = |Im (n_perp^2 + (n_para^2 - n_perp^2) s_x^2)|/2
func (c Constants) Transmission(energy, thickness, theta, psi float64) float64 {
	f := c.contrast()
	sx := math.Cos(psi) * math.Sin(theta)
	beta := math.Abs(imag(f.iso+f.axial)+imag(f.tensor)*sx*sx) / 2
	return math.Exp(-2 * beta * thickness * Wavenumber(energy))
}
