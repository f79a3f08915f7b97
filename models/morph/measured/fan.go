// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// towards returns the directions of the pixels, or those of a fan at a nominal energy: what the light hits stays where it is if the energy
// turns out to be another.
func (p *pass) towards(l *light) farfield.Directions {
	if len(p.lights) > 0 && p.Data.Fan == nil {
		return p.lights[0].direction
	}
	if p.Data.Fan == nil {
		return p.detector.Directions(p.pose())
	}
	x, y, z := p.Data.Fan.directions(l.energy)
	n := len(x)
	return farfield.Directions{X: ad.Const(x, n), Y: ad.Const(y, n), Z: ad.Const(z, n), SolidAngle: ad.Full(1, n)}
}

// directions returns the unit vectors of a fan at an energy in eV, less that of the beam.
func (f *Fan) directions(energy float64) (x, y, z []float64) {
	k := rsoxs.Wavenumber(energy)
	for i, q := range f.Q {
		s := q / k
		across := s * math.Sqrt(max(0, 1-s*s/4)) // the sine of the scattering angle
		sin, cos := math.Sincos(f.Chi[i])
		x, y, z = append(x, across*cos), append(y, across*sin), append(z, -s*s/2)
	}
	return x, y, z
}

// numberOf returns the number of an energy in names of parameters, from 1.
func (m *Model) numberOf(energy float64) int {
	return 1 + slices.IndexFunc(m.energies(), func(e float64) bool { return math.Abs(e-energy) < sameEnergy })
}
