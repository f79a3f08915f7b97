// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"fmt"
	"math"
)

// DefaultTolerance is the largest allowed deviation from 1 of the sum of a voxel's volume fractions,
// as in NRSS.
const DefaultTolerance = 1e-5 + 1e-8

// HalfTolerance is the tolerance for volumes that came from half precision.
const HalfTolerance = 1e-3

// Check returns everything that is wrong with a volume, joined, one mistake per field. Fields must
// be present, finite and of the volume's shape, order parameters and fractions must be between 0 and
// 1, and the fractions of each voxel must sum to 1 within the tolerance (0: DefaultTolerance).
// Angles are not restricted.
func (m *Morphology) Check(tolerance float64) error {
	bad := m.shapes()
	if bad != nil {
		return bad.in("")
	}
	if tolerance == 0 {
		tolerance = DefaultTolerance
	}
	for i := range m.Phases {
		for _, p := range parts[m.Type] {
			bad.values(m, fmt.Sprintf("Mat_%d_%s", i+1, p.key), *p.field(&m.Phases[i]), p)
		}
	}
	if bad == nil { // else the sums would say the same again
		bad.sums(m, tolerance)
	}
	return bad.in("")
}

// shapes checks everything but the numbers.
func (m *Morphology) shapes() mistakes {
	var bad mistakes
	if m.Type != Euler && m.Type != Vector {
		bad.add("Type", "choose Euler or Vector", "there is no type %d", int(m.Type))
		return bad
	}
	if !(m.PhysSize > 0) || !finite(m.PhysSize) {
		bad.add("PhysSize", "give the edge of a voxel in nm", "it is %v", m.PhysSize)
	}
	if m.Shape[0] < 1 || m.Shape[1] < 1 || m.Shape[2] < 1 {
		bad.add("Shape", "give voxels along Z, Y, X; one along Z for a plane", "it is %v", m.Shape)
	}
	if len(m.Phases) == 0 {
		bad.add("Phases", "give at least one material", "it is empty").Err = ErrIncomplete
	}
	for i := range m.Phases {
		bad.phase(m, i)
	}
	return bad
}

// phase checks that the fields of a phase exist and have the right length.
func (b *mistakes) phase(m *Morphology, i int) {
	all := parts[m.Type]
	ordered := m.Type == Vector || !m.Phases[i].S.IsZero()
	for j, p := range all {
		f := p.field(&m.Phases[i])
		key := fmt.Sprintf("Mat_%d_%s", i+1, p.key)
		switch want := m.Voxels() * p.n; {
		case f.Float32 != nil && f.Float64 != nil:
			b.add(key, "keep one of them", "it is given in both precisions")
		case !f.IsZero() && (f.Float64 != nil) != m.isDouble():
			b.add(key, "convert it with Field.Float32s or Field.Float64s", "its precision differs from that of the first field")
		case !f.IsZero() && f.Len() != want:
			b.add(key, "give all fields the shape of the volume", "it has %d numbers, but %v voxels need %d", f.Len(), m.Shape, want)
		case f.IsZero() && (j == 0 && m.Type == Euler || j > 1 && ordered):
			b.add(key, "give the field", "it is missing").Err = ErrIncomplete
		case !f.IsZero() && j > 1 && !ordered:
			b.add(key, "give S, or leave out Theta and Psi of an isotropic material", "there is no order parameter for it").Err = ErrIncomplete
		}
	}
}

// values checks the numbers of one field.
func (b *mistakes) values(m *Morphology, key string, f Field, p part) {
	if i := f.notFinite(false); i >= 0 {
		b.add(key, "make every number finite", "it is %v at %s", f.At(i), m.voxel(i/p.n))
		return
	}
	if p.key == "Theta" || p.key == "Psi" {
		return
	}
	low, high := 0.0, 1.0
	if p.n > 1 {
		low = -1
	}
	first, wrong, most := -1, 0, 0.0
	for i := range f.Len() {
		if v := f.At(i); v < low || v > high {
			if wrong++; first < 0 {
				first = i
			}
		}
		most = max(most, f.At(i))
	}
	if first < 0 {
		return
	}
	try := fmt.Sprintf("keep it between %v and %v", low, high)
	if most > 2 && most <= 100.5 && p.n == 1 {
		try += "; if it is in percent, divide it by 100"
	}
	more := ""
	if wrong > 1 {
		more = fmt.Sprintf(", and outside at %d of %d voxels, up to %v", wrong, f.Len(), most)
	}
	b.add(key, try, "it is %v at %s%s", f.At(first), m.voxel(first/p.n), more)
}

// sums checks that the fractions of each voxel sum to 1.
func (b *mistakes) sums(m *Morphology, tolerance float64) {
	for i := range m.Voxels() {
		sum := 0.0
		for j := range m.Phases {
			sum += m.Phases[j].fraction(i)
		}
		if d := sum - 1; math.Abs(d) > tolerance {
			b.add("Phases", "scale them, or add the missing volume as vacuum", "the volume fractions sum to %.9g at %s, want 1 within %.3g", sum, m.voxel(i), tolerance)
			return
		}
	}
}

// fraction returns the volume fraction in voxel i.
func (p *Phase) fraction(i int) float64 {
	f := p.Vfrac.At(i) + p.Unaligned.At(i)
	if !p.Alignment.IsZero() {
		for k := range 3 {
			s := p.Alignment.At(3*i + k)
			f += s * s
		}
	}
	return f
}
