// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter_test

import (
	"archive/zip"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

// given is a geometry for files that have none.
var given = scatter.GeometrySettings{Distance: 100, Pixel: 0.1, Beam: &[2]float64{2, 1}}

func save(t *testing.T, name string, write func(f *os.File) error) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func array(t *testing.T, shape ...int) *tensor.Tensor {
	t.Helper()
	x := make([]float64, tensor.Shape(shape).Size())
	for i := range x {
		x[i] = float64(i)
	}
	a, err := tensor.From(x, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Arrays of NumPy have the energies and the geometry of the settings, or of arrays with names beside them.
func TestArrays(t *testing.T) {
	npy := save(t, "a.npy", func(f *os.File) error { return array(t, 2, 3, 4).WriteNPY(f) })
	set, err := scatter.Open(npy, scatter.Settings{Energies: []float64{280, 285}, Geometry: given, Exposure: 2})
	if err != nil {
		t.Fatal(err)
	}
	g := set.Geometry
	if f := set.Frames[1]; f.Energy != 285 || f.Exposure != 2 || f.Counts[0] != 12 || set.Rows != 3 || set.Columns != 4 || math.Abs(g.PoniX-0.2) > 1e-15 || g.PoniY != 0.1 || g.Distance != 100 {
		t.Errorf("%+v at %+v", f, g)
	}
	_, err = scatter.Open(npy, scatter.Settings{Geometry: given})
	if err == nil || !strings.Contains(err.Error(), `2 patterns and no photon energies`) {
		t.Error(err)
	}
	npz := save(t, "a.npz", func(f *os.File) error {
		energies, err := tensor.From([]float64{280, 285}, 2)
		if err != nil {
			return err
		}
		return tensor.WriteNPZ(f, map[string]*tensor.Tensor{"I": array(t, 2, 3, 4), "energy": energies, "exposure": array(t, 2), "mask": array(t, 3, 4)})
	})
	set, err = scatter.Open(npz, scatter.Settings{Geometry: given})
	if err != nil {
		t.Fatal(err)
	}
	if f := set.Frames[1]; f.Energy != 285 || f.Exposure != 1 || !set.Keep[0] || set.Keep[1] {
		t.Errorf("%+v, mask %v", f, set.Keep)
	}
}

// The names and the units of the columns of tables are those that programs write, and a folder of tables has its energies in the names.
func TestTables(t *testing.T) {
	for _, text := range []string{
		"q (1/A),I,dI\n0.02,5,1\n0.03,4,2\n", "q_nm,Intensity,sigma\n0.2,5,1\n0.3,4,2\n", "# Q [A^-1]  I  err\n0.02 5 1\n0.03 4 2\n",
		"0.02\t5\t1\n0.03\t4\t2\n", "# a title\nI;dI;q (1/nm)\n5;1;0.2\n4;2;0.3\n",
	} {
		name := save(t, "iq_285.50eV.dat", func(f *os.File) error { _, err := f.WriteString(text); return err })
		set, err := scatter.Open(name, scatter.Settings{})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		c := set.Curves[0]
		if c.Energy != 285.5 || math.Abs(c.Q[1]-0.3) > 1e-12 || !slices.Equal(c.I, []float64{5, 4}) || !slices.Equal(c.Errors, []float64{1, 2}) {
			t.Errorf("%q: %+v", text, c)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"iq_290eV.csv": "q (1/nm),I\n0.2,5\n0.4,6\n", "iq_285.0eV.csv": "q (1/nm),I\n0.2,1\n0.3,2\n", "notes.txt": "nothing\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	set, err := scatter.Open(dir, scatter.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(set.Energies(), []float64{285, 290}) || !slices.Equal(set.Curves[0].Q, []float64{0.2, 0.3, 0.4}) || !math.IsNaN(set.Curves[0].I[2]) || set.Curves[1].I[2] != 6 {
		t.Errorf("%+v", set.Curves)
	}
}

// Images with x before y are turned to rows and columns, but those of the ALS loader, whose axes have each other's names.
func TestOrderOfAxes(t *testing.T) {
	for _, als := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "x.nc")
		w, err := hdf5.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write("/I", []int32{0, 1, 2, 3, 4, 5}, hdf5.Layout{Shape: []int{2, 3}})
		for i, a := range []string{"pix_x", "pix_y"} {
			w.Write("/"+a, make([]float64, 2+i), hdf5.Layout{})
			w.Scale("/"+a, a)
			w.Attach("/I", i, "/"+a)
		}
		w.Attr("/I", "energy", `285.5`)
		if als {
			w.Attr("/I", "EPU Polarization", 100.0)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		set, err := scatter.Open(name, scatter.Settings{Geometry: given})
		if err != nil {
			t.Fatal(err)
		}
		want := map[bool][]float64{false: {0, 3, 1, 4, 2, 5}, true: {0, 1, 2, 3, 4, 5}}[als]
		if !slices.Equal(set.Frames[0].Counts, want) || set.Frames[0].Energy != 285.5 || strings.Contains(strings.Join(set.Notes, ""), "ALS") != als {
			t.Errorf("ALS %v: %v, %q", als, set.Frames[0], set.Notes)
		}
	}
}

// Classic netCDF, a stack of pages and a store of Zarr in an archive hold the same counts. Files of testdata are written by make.py.
func TestOtherForms(t *testing.T) {
	s := scatter.Settings{Geometry: scatter.GeometrySettings{Distance: 100, Pixel: 0.1, Beam: &[2]float64{2, 1.5}}, Energies: []float64{280, 285.5}}
	classic, err := scatter.Open("testdata/classic.nc", scatter.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	stack, err := scatter.Open("testdata/stack.tif", s)
	if err != nil {
		t.Fatal(err)
	}
	tree, d := tensor.NewDataTree(), tensor.NewDataset("root")
	d.AddCoord("energy", []float64{280, 285.5})
	d.Add("I", array(t, 2, 3, 4).Float64s(), tensor.Shape{2, 3, 4}, "energy", "pix_y", "pix_x")
	tree.Add(d)
	folder := filepath.Join(t.TempDir(), "x.zarr")
	if err := zarr.Write(folder, tree, zarr.Settings{}); err != nil {
		t.Fatal(err)
	}
	packed := save(t, "x.zarr.zip", func(f *os.File) error {
		z := zip.NewWriter(f)
		if err := z.AddFS(os.DirFS(folder)); err != nil {
			return err
		}
		return z.Close()
	})
	zipped, err := scatter.Open(packed, s)
	if err != nil {
		t.Fatal(err)
	}
	for form, set := range map[string]*scatter.Set{"netCDF classic": classic, "TIFF": stack, "Zarr in a ZIP archive": zipped} {
		g := set.Geometry
		for i, f := range set.Frames {
			if f.Energy != s.Energies[i] || !slices.Equal(f.Counts, array(t, 2, 12).Float64s()[i*12:][:12]) {
				t.Errorf("%s: pattern %d is %+v", form, i+1, f)
			}
		}
		if set.Form != form || len(set.Frames) != 2 || math.Abs(g.PoniX-0.2) > 1e-12 || math.Abs(g.PoniY-0.15) > 1e-12 {
			t.Errorf("%s has the form %s, %d patterns and the geometry %+v", form, set.Form, len(set.Frames), g)
		}
	}
	if f := classic.Frames[1]; f.Exposure != 2 || f.Polarization != 90 {
		t.Errorf("%+v", f)
	}
}

// A scan of which an image was not copied is read, and the row of the table without one is told.
func TestScanWithoutAnImage(t *testing.T) {
	from, dir := golden.Path(t, "measured", "core_shell", "tiff"), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	images, err := filepath.Glob(filepath.Join(dir, "20417", "*-1.tiff"))
	if err != nil || len(images) != 1 {
		t.Fatal(images, err)
	}
	if err := os.Remove(images[0]); err != nil {
		t.Fatal(err)
	}
	set, err := scatter.Open(filepath.Join(dir, "20417"), scatter.Settings{Bin: 4})
	if err != nil || len(set.Frames) != 5 {
		t.Fatal(set, err)
	}
	if said := strings.Join(set.Notes, "\n"); !strings.Contains(said, "20417-synthetic-primary.csv has 6 rows, and there is no image of row 1: were all images copied?") {
		t.Error(said)
	}
}

// A chunk that a store lacks has the fill value in Zarr; that it lacks it is told.
func TestStoreWithoutAChunk(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(golden.Path(t, "measured", "core_shell", "raw_draw00.v3.zarr"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "DA", "c", "0", "0", "0", "0")); err != nil {
		t.Fatal(err)
	}
	set, err := scatter.Open(dir, scatter.Settings{Bin: 4})
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(set.Notes, "\n"); !strings.Contains(said, "1 of 1 chunks of DA are not in the store, and their numbers are the fill value: was all of it copied?") {
		t.Error(said)
	}
}

// Two patterns that hold the same numbers are told, and two that hold next to nothing are not.
func TestRepeatedPatterns(t *testing.T) {
	for _, c := range []struct {
		lit  float64 // counts of the pixels beyond the first 12
		told bool
	}{{3, true}, {0, false}} {
		x := make([]float64, 2*6*6)
		for i := range x {
			if i%36 < 12 {
				x[i] = 1
			} else {
				x[i] = c.lit * float64(i%36)
			}
		}
		a, err := tensor.From(x, 2, 6, 6)
		if err != nil {
			t.Fatal(err)
		}
		set, err := scatter.Open(save(t, "a.npy", func(f *os.File) error { return a.WriteNPY(f) }), scatter.Settings{Energies: []float64{280, 285}, Geometry: given, Exposure: 2})
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(strings.Join(set.Notes, "\n"), "patterns 1 and 2 hold the same numbers"); told != c.told {
			t.Errorf("%g: %q", c.lit, set.Notes)
		}
	}
}
