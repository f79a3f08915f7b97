// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// Table holds the optical constants of a material by photon energy, between whose rows they are linear.
type Table struct {
	Energies  []float64 // photon energies in eV, which rise
	Constants []rsoxs.Constants
	// Second holds delta and beta along a second axis across the director, for molecules with three optical axes; nil for others.
	Second [][2]float64
}

// check returns an error unless there is a row for each energy and the energies rise.
func (t Table) check(name string) error {
	if len(t.Energies) == 0 || len(t.Energies) != len(t.Constants) {
		return fmt.Errorf("measured: the constants of %s have %d energies and %d rows: want as many of each, at least one", name, len(t.Energies), len(t.Constants))
	}
	if t.Second != nil && len(t.Second) != len(t.Energies) {
		return fmt.Errorf("measured: the constants of %s have %d energies and %d rows along the second axis: want as many of each", name, len(t.Energies), len(t.Second))
	}
	for i, e := range t.Energies {
		if i > 0 && !(e > t.Energies[i-1]) {
			return fmt.Errorf("measured: the energies of the constants of %s do not rise from row %d to %d: %g, %g eV", name, i, i+1, t.Energies[i-1], e)
		}
	}
	return nil
}

// reach is how far from the nominal energy, in eV, a calibration may move it.
const reach = 2

// at returns the constants near a nominal energy as a vector of 4, or of 6 for three axes, at the energy that is shift (a scalar, or nil) above it.
//
// Gradient: with respect to the shift, except where it meets a row of the table.
func (t Table) at(name string, energy float64, shift *ad.Node) (*ad.Node, error) {
	if err := t.check(name); err != nil {
		return nil, err
	}
	n := len(t.Energies)
	lo, hi := t.Energies[0], t.Energies[n-1]
	const near = 0.01 // energies of files are rounded
	if energy < lo-near || energy > hi+near {
		return nil, fmt.Errorf("measured: the constants of %s go from %g to %g eV, and a frame was taken at %g eV: extend the table", name, lo, hi, energy)
	}
	if shift == nil || n == 1 {
		i := slices.IndexFunc(t.Energies, func(e float64) bool { return math.Abs(e-energy) <= near })
		if i < 0 {
			return ad.Const(t.linear(energy)), nil
		}
		return ad.Const(t.row(i)), nil
	}
	if shift != nil && (energy-reach < lo || energy+reach > hi) {
		return nil, fmt.Errorf("measured: the constants of %s go from %g to %g eV; to search for energy_shift at %g eV they must reach %g eV to both sides: extend the table or hold energy_shift", name, lo, hi, energy, float64(reach))
	}
	// A sum of bends: linear from the first row, with a change of the slope at each further one.
	first := max(0, slices.IndexFunc(t.Energies, func(e float64) bool { return e > energy-reach })-1)
	at := ad.Shift(shift, energy)
	out := ad.Const(t.row(first))
	slope := make([]float64, out.Size())
	for i := first; i+1 < n && t.Energies[i] < energy+reach; i++ {
		a, b, change := t.row(i), t.row(i+1), make([]float64, len(slope))
		for c := range a {
			s := (b[c] - a[c]) / (t.Energies[i+1] - t.Energies[i])
			change[c], slope[c] = s-slope[c], s
		}
		beyond := ad.Shift(at, -t.Energies[i])
		if i > first {
			beyond = ad.ReLU(beyond)
		}
		out = ad.Add(out, ad.Mul(beyond, ad.Const(change)))
	}
	return out, nil
}

// contrast returns an error if all materials have the same constants as what surrounds them, vacuum if there is no matrix, at all energies, so
// that nothing scatters.
func (m *Model) contrast() error {
	var around []float64
	for _, e := range m.energies() {
		around = make([]float64, 6)
		if m.Matrix != nil {
			around = m.Matrix.near(e)
		}
		for i := range m.Tables {
			row := m.Tables[i].near(e)
			for k, x := range row {
				if k >= len(around) || x != around[k] {
					return nil
				}
			}
		}
	}
	what := "those of vacuum"
	if m.Matrix != nil {
		what = "those of the surrounding material"
	}
	return fmt.Errorf("measured: the constants of all materials equal %s at all energies, so that nothing scatters: check the files of \"constants\" and their order", what)
}

// near returns the constants at a nominal energy; nil outside of the table.
func (t Table) near(energy float64) []float64 {
	x, err := t.at("", energy, nil)
	if err != nil {
		return nil
	}
	v, err := ad.Numbers(x)
	if err != nil {
		return nil
	}
	return v[0]
}

// linear returns the constants between two rows.
func (t Table) linear(energy float64) []float64 {
	i := min(max(1, slices.IndexFunc(t.Energies, func(e float64) bool { return e >= energy })), len(t.Energies)-1)
	a, b := t.row(i-1), t.row(i)
	w := (energy - t.Energies[i-1]) / (t.Energies[i] - t.Energies[i-1])
	for k, x := range a {
		a[k] = x + w*(b[k]-x)
	}
	return a
}

// row returns the constants of a row in the order of farfield.Tensor.
func (t Table) row(i int) []float64 {
	c := t.Constants[i]
	out := []float64{c.DeltaPara, c.BetaPara, c.DeltaPerp, c.BetaPerp}
	if t.Second != nil {
		out = append(out, t.Second[i][:]...)
	}
	return out
}
