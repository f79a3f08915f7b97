package cyrsoxs

import "fmt"

// Morphology is a volume of voxels. Fields have the order Z, Y, X, X fastest.
type Morphology struct {
	Shape    [3]int  // voxels along Z, Y, X
	PhysSize float64 // edge of a voxel, nm
	Type     MorphologyType
	Phases   []Phase // material 1 first

	Name       string
	Creator    string
	Created    string    // date and time, in the words of the file
	Version    string    // of what made the file
	FilmNormal []float64 // Z, Y, X; nil if unknown
}

// Phase is one material in the volume; all fields have one precision. With Euler angles the director of a
// voxel is (cos Psi sin Theta, sin Psi sin Theta, cos Theta); a phase whose S,
// Theta and Psi are zero fields is isotropic. With vectors its volume fraction
// is Unaligned + |Alignment|^2.
type Phase struct {
	Vfrac Field // Euler: volume fraction, 0 to 1
	S     Field // Euler: order parameter, 0 to 1
	Theta Field // Euler: second angle (about Y), radians
	Psi   Field // Euler: third angle (about Z), radians

	Alignment Field // Vector: x, y, z of each voxel; the square of its length is the aligned fraction
	Unaligned Field // Vector: fraction without order
}

// Voxels returns the number of voxels.
func (m *Morphology) Voxels() int { return m.Shape[0] * m.Shape[1] * m.Shape[2] }

// part is one of a phase's fields, under its names in files.
type part struct {
	key   string // dataset name is Mat_i_ and this
	field func(p *Phase) *Field
	n     int // numbers per voxel
}

// parts are the fields of each type; the first is in every file.
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

// group is the name of the group of each type in a file.
var group = map[MorphologyType]string{Euler: "Euler_Angles", Vector: "Vector_Morphology"}

const parameters = "Morphology_Parameters"

// voxel says where number i of a field stands.
func (m *Morphology) voxel(i int) string {
	y, z := i/m.Shape[2], i/(m.Shape[2]*m.Shape[1])
	return fmt.Sprintf("voxel (z %d, y %d, x %d)", z, y%m.Shape[1], i%m.Shape[2])
}
