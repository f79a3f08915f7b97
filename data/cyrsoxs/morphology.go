// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import "fmt"

// Morphology is a volume of voxels. Fields are in the order Z, Y, X, with X fastest.
type Morphology struct {
	Shape    [3]int  // number of voxels along Z, Y, X
	PhysSize float64 // edge of a voxel in nm
	Type     MorphologyType
	Phases   []Phase // list of the materials, with material 1 first

	Name       string
	Creator    string
	Created    string    // date and time of creation, as written in the file
	Version    string    // version of the program that made the file
	FilmNormal []float64 // normal of the film in the order Z, Y, X; nil if unknown
}

// Phase is one material in the volume; all its fields have the same precision. With Euler angles,
// the director of a voxel is (cos Psi sin Theta, sin Psi sin Theta, cos Theta); a phase whose S,
// Theta and Psi are zero fields is isotropic. With vectors, its volume fraction is Unaligned +
// |Alignment|^2.
type Phase struct {
	Vfrac Field // volume fraction with Euler angles, 0 to 1
	S     Field // order parameter with Euler angles, 0 to 1
	Theta Field // second Euler angle (about Y) in radians
	Psi   Field // third Euler angle (about Z) in radians

	Alignment Field // alignment vector (x, y, z) of each voxel; its squared length is the aligned fraction
	Unaligned Field // volume fraction without alignment, with vectors
}

// Voxels returns the number of voxels.
func (m *Morphology) Voxels() int { return m.Shape[0] * m.Shape[1] * m.Shape[2] }

// part is one field of a phase, with its name in files.
type part struct {
	key   string // suffix of the dataset's name after Mat_i_
	field func(p *Phase) *Field
	n     int // numbers per voxel
}

// parts lists the fields of each type; the first one is in every file.
var parts = map[MorphologyType][]part{
	Euler: {
		{"Vfrac", func(p *Phase) *Field { return &p.Vfrac }, 1},
		{"S", func(p *Phase) *Field { return &p.S }, 1},
		{"Theta", func(p *Phase) *Field { return &p.Theta }, 1},
		{"Psi", func(p *Phase) *Field { return &p.Psi }, 1},
	},
	Vector: {
		{"unaligned", func(p *Phase) *Field { return &p.Unaligned }, 1},
		{"alignment", func(p *Phase) *Field { return &p.Alignment }, 3},
	},
}

// group is the name of each type's group in a file.
var group = map[MorphologyType]string{Euler: "Euler_Angles", Vector: "Vector_Morphology"}

const parameters = "Morphology_Parameters"

// voxel describes the position of number i of a field.
func (m *Morphology) voxel(i int) string {
	y, z := i/m.Shape[2], i/(m.Shape[2]*m.Shape[1])
	return fmt.Sprintf("voxel (z %d, y %d, x %d)", z, y%m.Shape[1], i%m.Shape[2])
}
