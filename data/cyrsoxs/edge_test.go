// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"os"
	"path/filepath"
	"strings"
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
		if err := WriteMorphology(name, m, WriteSettings{}); err != nil {
			t.Fatalf("%v: %v", shape, err)
		}
		back, err := ReadMorphology(name, ReadSettings{})
		if err != nil || back.Shape != shape {
			t.Errorf("%v comes back as %v, %v", shape, back, err)
		}
	}
}

// A volume that is read in several stretches comes back whole, in its own precision and in another.
func TestVolumesInStretches(t *testing.T) {
	const y, x = 700, 800 // two planes of float32 fill slabBytes
	m := &Morphology{Shape: [3]int{3, y, x}, PhysSize: 1, Phases: []Phase{{Vfrac: newField(3*y*x, false)}}}
	for i := range m.Voxels() {
		m.Phases[0].Vfrac.set(i, float64(i)/0x1p21)
	}
	name := filepath.Join(t.TempDir(), "m.h5")
	if err := WriteMorphology(name, m, WriteSettings{Gzip: NoGzip}); err != nil {
		t.Fatal(err)
	}
	for _, double := range []bool{false, true} {
		same(t, read(t, name, ReadSettings{Double: double}), m)
	}
}

// Tables of constants have up to 16 MiB; a longer one is refused, not cut off.
func TestLongestMaterial(t *testing.T) {
	name := filepath.Join(t.TempDir(), "Material1.txt")
	table := group2(0, 284)
	for extra, want := range []string{"", "more than 16 MiB"} {
		text := table + strings.Repeat(" ", maxMaterialBytes+extra-len(table))
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadMaterial(name); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %v, want %q", len(text), err, want)
		}
	}
}
