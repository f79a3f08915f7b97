package cyrsoxs

import (
	"path/filepath"
	"testing"
)

// Names of folders may hold any byte: those that are no letters are escaped.
func TestNamesWithAnyByte(t *testing.T) {
	c := NewConfig()
	for _, dir := range []string{"a\x01b", "a\x1fb", "a\x7fb", "a b", "tab\t", "quote\"", `back\slash`} {
		c.HDF5Dir = dir
		name := filepath.Join(t.TempDir(), "config.txt")
		if err := WriteConfig(name, c); err != nil {
			t.Fatal(err)
		}
		back, _, err := ReadConfig(name)
		if err != nil || back.HDF5Dir != dir {
			t.Errorf("%q comes back as %q, %v", dir, back.HDF5Dir, err)
		}
	}
	if got := quote("\x01 \x7f~"); got != `"\x01 \x7f~"` {
		t.Errorf("quoted: %s", got)
	}
}

// A morphology may be one voxel wide along any axis.
func TestThinMorphologies(t *testing.T) {
	for _, shape := range [][3]int{{1, 2, 3}, {2, 1, 3}, {2, 3, 1}, {1, 1, 1}} {
		n := shape[0] * shape[1] * shape[2]
		ones := make([]float32, n)
		for i := range ones {
			ones[i] = 1
		}
		field := func() Field { return Field{Float32: make([]float32, n)} }
		m := &Morphology{Shape: shape, PhysSize: 2, Phases: []Phase{{Vfrac: Field{Float32: ones}, S: field(), Theta: field(), Psi: field()}}}
		name := filepath.Join(t.TempDir(), "m.h5")
		if err := WriteMorphology(name, m, WriteOptions{}); err != nil {
			t.Fatalf("%v: %v", shape, err)
		}
		back, err := ReadMorphology(name, ReadOptions{})
		if err != nil || back.Shape != shape {
			t.Errorf("%v comes back as %v, %v", shape, back, err)
		}
	}
}
