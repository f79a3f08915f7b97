// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/peer"
)

func numbersOf(t *testing.T, name, key string) []float64 {
	t.Helper()
	f, err := hdf5.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := f.Dataset(key)
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWriteDump(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "Morphology")
	m := sample(Euler, false)
	if err := WriteDump(dir, m); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "Morphology.h5")
	for key, f := range map[string]Field{"S": m.Phases[0].S, "Theta": m.Phases[0].Theta, "Psi": m.Phases[0].Psi, "Vfrac": m.Phases[0].Vfrac} {
		if got := numbersOf(t, file, "Material_1/"+key); fmt.Sprint(got) != fmt.Sprint(f.Float64s()) {
			t.Errorf("%s: %v, want %v", key, got, f)
		}
	}
	if v := numbersOf(t, file, "Material_2/S"); len(v) != 30 || v[29] != 0 {
		t.Error(v)
	}
	v := sample(Vector, true)
	if err := WriteDump(dir, v); err != nil {
		t.Fatal(err)
	}
	for k, name := range []string{"Sx", "Sy", "Sz"} {
		got := numbersOf(t, file, "Material_1/"+name)
		for i := range got {
			if got[i] != v.Phases[0].Alignment.At(3*i+k) {
				t.Fatalf("%s voxel %d: %v", name, i, got[i])
			}
		}
	}
	if got := numbersOf(t, file, "Material_1/UnalignedFraction"); got[7] != v.Phases[0].Unaligned.At(7) {
		t.Error(got[7])
	}
	m.Phases[0].Psi = Field{}
	if err := WriteDump(dir, m); err == nil {
		t.Error("a volume without Psi")
	}
}

// Every item of the description is in the file, with its shape and precision.
func TestXDMFNamesWhatIsThere(t *testing.T) {
	py := peer.Python(t, "h5py")
	for _, double := range []bool{false, true} {
		for _, typ := range []MorphologyType{Euler, Vector} {
			dir := t.TempDir()
			if err := WriteDump(dir, sample(typ, double)); err != nil {
				t.Fatal(err)
			}
			out := py.Run(t, `
import sys, h5py
from xml.etree import ElementTree
root = ElementTree.parse(sys.argv[1] + "/Morphology.xdmf").getroot()
grid = root.find("Domain/Grid")
top = grid.find("Topology")
assert top.get("TopologyType") == "3DCORECTMesh"
cells = [int(n) - 1 for n in top.get("NumberOfElements").split()]
for a in grid.findall("Attribute"):
    item = a.find("DataItem")
    name, key = item.text.split(":")
    with h5py.File(sys.argv[1] + "/" + name) as f:
        d = f[key]
        assert list(d.shape) == cells == [int(n) for n in item.get("Dimensions").split()]
        assert d.dtype.itemsize == int(item.get("Precision")) and [x.label for x in d.dims] == list("ZYX")
    print(a.get("Name"))
`, dir)
			if n := len(strings.Fields(out)); n != 8 {
				t.Errorf("%d attributes: %s", n, out)
			}
		}
	}
}

func TestWritePolarization(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "Polarization")
	p := &Polarization{Shape: [3]int{1, 1, 2}}
	for i := range 3 {
		p.Single[i] = []complex64{complex(float32(i), 0.5), 3}
	}
	if err := WritePolarization(dir, p); err != nil {
		t.Fatal(err)
	}
	if v := numbersOf(t, filepath.Join(dir, "PolarizationZ.h5"), "pZ"); fmt.Sprint(v) != "[2 0.5 3 0]" {
		t.Error(v)
	}
	p.Double = [3][]complex128{{1i, 2}, {1, 2}, {1, 2}}
	if err := WritePolarization(dir, p); err == nil {
		t.Error("both precisions")
	}
	p.Single = [3][]complex64{}
	if err := WritePolarization(dir, p); err != nil {
		t.Fatal(err)
	}
	if v := numbersOf(t, filepath.Join(dir, "PolarizationX.h5"), "pX"); fmt.Sprint(v) != "[0 1 2 0]" {
		t.Error(v)
	}
	p.Shape[0] = 2
	if err := WritePolarization(dir, p); err == nil || !strings.Contains(err.Error(), "it has 2 numbers, but the shape [2 1 2] needs 4") {
		t.Error(err)
	}
}

func TestWriteLog(t *testing.T) {
	c := NewConfig()
	c.RotMask = true
	l := &Log{Version: "1.2", Created: "today", File: "film.h5", Shape: [3]int{1, 2, 3}, PhysSize: 2.5, Materials: 2, Config: c, Warnings: []string{"careful"},
		Rotations: []Rotation{{KVector: [3]float64{0, 0, 1}, Matrix: [3][3]float64{{1}, {0, 1}, {0, 0, 1}}}}}
	name := filepath.Join(t.TempDir(), "CyRSoXS.log")
	if err := WriteLog(name, l); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(name)
	want := `version      1.2
date         today
morphology   film.h5
materials    2
voxels       1 x 2 x 3 (Z, Y, X)
voxel edge   2.5 nm
q            -1.25664 to 1.25664 1/nm

settings
CaseType = 0;
Energies = [270.0];
EAngleRotation = [0.0, 1.0, 0.0];
MorphologyType = 0;
AlgorithmType = 0;
NumThreads = 4;
DumpMorphology = False;
ScatterApproach = 0;
WindowingType = 0;
RotMask = True;
EwaldsInterpolation = 1;
Algorithm = 0;
MaxStreams = 1;
ReferenceFrame = 1;
HDF5DirName = "HDF5";

beam 0: k = [0.0, 0.0, 1.0], base angle 0.0 degrees, rotation
  1.00000000   0.00000000   0.00000000
  0.00000000   1.00000000   0.00000000
  0.00000000   0.00000000   1.00000000

warnings
careful
`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}
