// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/tensor"
)

// Morphology is a volume of cubic voxels filled with materials. Arrays have the axes Z, Y, X, with
// X fastest, in float64, float32 or, to halve the memory, float16; light travels along +Z unless
// the Config says otherwise.
type Morphology struct {
	Materials []Material
	PhysSize  float64 // edge of a voxel in nm
}

// Material holds the composition and orientation of one component in every voxel. It is given by
// Euler angles (Vfrac, and S, Theta, Psi unless it is isotropic) or by vectors (Align and
// Unaligned). The director is (cos Psi sin Theta, sin Psi sin Theta, cos Theta).
type Material struct {
	Name string

	Vfrac *tensor.Tensor // volume fraction, [Z,Y,X]
	S     *tensor.Tensor // aligned fraction of Vfrac, [Z,Y,X]; nil for an isotropic material
	Theta *tensor.Tensor // angle from +Z in radians, [Z,Y,X]
	Psi   *tensor.Tensor // angle from +X about +Z in radians, [Z,Y,X]

	Align     *tensor.Tensor // director (x, y, z) times the root of the aligned volume fraction, [Z,Y,X,3]
	Unaligned *tensor.Tensor // volume fraction without alignment, [Z,Y,X]
}

// field is an array of a Material and its name.
type field struct {
	name string
	at   **tensor.Tensor
}

// Fields lists the arrays that define m: Vfrac, S, Theta, Psi, Align and Unaligned, without those
// that it does not have.
func (m *Material) Fields() (list []*tensor.Tensor) {
	for _, f := range allFields(m) {
		if *f.at != nil {
			list = append(list, *f.at)
		}
	}
	return list
}

// allFields lists all arrays of m, nil ones too.
func allFields(m *Material) []field {
	return []field{{"Vfrac", &m.Vfrac}, {"S", &m.S}, {"Theta", &m.Theta}, {"Psi", &m.Psi}, {"Align", &m.Align}, {"Unaligned", &m.Unaligned}}
}

// fields lists the arrays that m is given by.
func (m *Material) fields() []field {
	switch {
	case m.Align != nil || m.Unaligned != nil:
		return []field{{"Align", &m.Align}, {"Unaligned", &m.Unaligned}}
	case m.S == nil && m.Theta == nil && m.Psi == nil:
		return []field{{"Vfrac", &m.Vfrac}}
	}
	return []field{{"Vfrac", &m.Vfrac}, {"S", &m.S}, {"Theta", &m.Theta}, {"Psi", &m.Psi}}
}

func (m *Material) vector() bool    { return m.Align != nil }
func (m *Material) isotropic() bool { return m.Align == nil && m.S == nil }

// Shape returns the number of voxels along Z, Y and X, and zeros without materials.
func (m *Morphology) Shape() (shape [3]int) {
	for i := range m.Materials {
		for _, f := range m.Materials[i].fields() {
			if *f.at != nil && len((*f.at).Shape()) >= 3 {
				copy(shape[:], (*f.at).Shape())
				return shape
			}
		}
	}
	return shape
}

// inspect returns everything that makes m unusable.
func (m *Morphology) inspect() error {
	var bad problems
	if !(m.PhysSize > 0) || math.IsInf(m.PhysSize, 0) {
		bad.add("PhysSize is %g nm: want the edge of a voxel, above 0", m.PhysSize)
	}
	if len(m.Materials) == 0 {
		bad.add("there are no materials: give at least one")
	}
	shape := m.Shape()
	for i := range m.Materials {
		for _, f := range m.Materials[i].fields() {
			bad.note(checkField(*f.at, f.name, shape))
			if n := len(bad.list); n > 0 && bad.list[n-1] != nil {
				bad.list[n-1] = fmt.Errorf("material %d: %w", i+1, bad.list[n-1])
			}
		}
	}
	return bad.err("rsoxs: morphology")
}

func checkField(t *tensor.Tensor, name string, shape [3]int) error {
	want := tensor.Shape{shape[0], shape[1], shape[2]}
	if name == "Align" {
		want = append(want, 3)
	}
	switch {
	case t == nil:
		return fmt.Errorf("%s is missing: give every voxel a value", name)
	case t.DType() != tensor.Float64 && t.DType() != tensor.Float32 && t.DType() != tensor.Float16:
		return fmt.Errorf("%s holds %v: want float64, float32 or float16", name, t.DType())
	case !t.Shape().Equal(want) || t.Size() == 0:
		return fmt.Errorf("%s has shape %v: want %v", name, t.Shape(), want)
	}
	return nil
}
