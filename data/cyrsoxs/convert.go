// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import "math"

// ToEuler returns a volume of vectors as a volume of Euler angles:
//
//	Vfrac = unaligned + |s|^2, S = |s|^2 / Vfrac, Theta = acos(s_z / |s|), Psi = atan2(s_y, s_x)
//
// S is 0 where Vfrac is 0, Theta is pi/2 and Psi is 0 where s is 0. If decimals is positive, S is
// rounded to that number of decimals: NRSS rounds to 6. A volume of Euler angles is returned
// unchanged.
func (m *Morphology) ToEuler(decimals int) *Morphology {
	if m.Type == Euler {
		return m
	}
	out := *m
	out.Type, out.Phases = Euler, make([]Phase, len(m.Phases))
	for i := range m.Phases {
		from, to := &m.Phases[i], &out.Phases[i]
		double := from.Unaligned.Float64 != nil || from.Alignment.Float64 != nil
		for _, p := range parts[Euler] {
			*p.field(to) = newField(m.Voxels(), double)
		}
		for v := range m.Voxels() {
			x, y, z := from.Alignment.At3(v)
			square := x*x + y*y + z*z
			vfrac := from.Unaligned.At(v) + square
			to.Vfrac.set(v, vfrac)
			to.Theta.set(v, math.Pi/2)
			if vfrac > 0 {
				s := square / vfrac
				if decimals > 0 {
					s = round(s, decimals)
				}
				to.S.set(v, s)
			}
			if square > 0 {
				to.Theta.set(v, math.Acos(z/math.Sqrt(square)))
				to.Psi.set(v, math.Atan2(y, x))
			}
		}
	}
	return &out
}

// ToVector returns a volume of Euler angles as a volume of vectors, which scatters in the same way:
//
//	s = sqrt(Vfrac S) (cos Psi sin Theta, sin Psi sin Theta, cos Theta), unaligned = Vfrac (1 - S)
//
// A volume of vectors is returned unchanged.
func (m *Morphology) ToVector() *Morphology {
	if m.Type == Vector {
		return m
	}
	out := *m
	out.Type, out.Phases = Vector, make([]Phase, len(m.Phases))
	for i := range m.Phases {
		from, to := &m.Phases[i], &out.Phases[i]
		double := from.Vfrac.Float64 != nil
		to.Alignment, to.Unaligned = newField(3*m.Voxels(), double), newField(m.Voxels(), double)
		for v := range m.Voxels() {
			vfrac, s := from.Vfrac.At(v), from.S.At(v)
			to.Unaligned.set(v, vfrac*(1-s))
			sinT, cosT := math.Sincos(from.Theta.At(v))
			sinP, cosP := math.Sincos(from.Psi.At(v))
			length := math.Sqrt(vfrac * s)
			for k, d := range [3]float64{cosP * sinT, sinP * sinT, cosT} {
				to.Alignment.set(3*v+k, length*d)
			}
		}
	}
	return &out
}

// At3 returns the vector of voxel i of an alignment; it is zero if IsZero.
func (f Field) At3(i int) (x, y, z float64) {
	return f.At(3 * i), f.At(3*i + 1), f.At(3*i + 2)
}
