// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/tensor"
)

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func npy(t *testing.T, elem ...string) *tensor.Tensor {
	return must[*tensor.Tensor](t)(readNPY(golden.Path(t, elem...)))
}

// The file was made by testdata/make.py with h5py.
func TestDictOfH5py(t *testing.T) {
	d := must[Dict](t)(ReadDict("testdata/dict.h5"))
	for key, want := range map[string]any{"none": nil, "text": "Grüße", "yes": true, "int": int64(7), "float": 1.5, "dict": Dict{"x": int64(3)}, "pickle": Pickle(1)} {
		if got, ok := d[key]; !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, want %#v", key, got, want)
		}
	}
	if a := d["names"].(*Array); a.As != "list" || !slices.Equal(a.Strings, []string{"a", "bcd"}) {
		t.Errorf("%+v", a)
	}
	if a := d["f4"].(*Array); !slices.Equal(a.Numbers.Data().([]float32), []float32{0, 1, 2, 3, 4, 5}) || a.Numbers.Shape()[1] != 3 {
		t.Errorf("%+v", a.Numbers)
	}
	if a := d["c16"].(*Array); a.Numbers.Data().([]complex128)[0] != 1+2i {
		t.Errorf("%+v", a.Numbers)
	}
	if a := d["bools"].(*Array); !slices.Equal(a.Numbers.Data().([]bool), []bool{true, false}) {
		t.Errorf("%+v", a.Numbers)
	}
	if l := d["mixed"].(*List); !l.Tuple || l.Items[0] != int64(1) || l.Items[1] != "x" || l.Items[2].(*Array).Numbers.Size() != 3 {
		t.Errorf("%+v", l)
	}
	delete(d, "pickle")
	name := filepath.Join(t.TempDir(), "again.h5")
	if err := WriteDict(name, d); err != nil {
		t.Fatal(err)
	}
	if again := must[Dict](t)(ReadDict(name)); describe(again) != describe(d) {
		t.Errorf("got %s, want %s", describe(again), describe(d))
	}
}

// describe writes a value so that equal ones have equal texts.
func describe(v any) string {
	switch v := v.(type) {
	case Dict:
		s := "{"
		for _, k := range sortedKeys(v) {
			s += k + ":" + describe(v[k]) + " "
		}
		return s + "}"
	case *List:
		s := fmt.Sprint(v.Tuple, "[")
		for _, x := range v.Items {
			s += describe(x) + " "
		}
		return s + "]"
	case *Array:
		if v.Numbers != nil {
			return fmt.Sprint(v.As, v.Numbers.DType(), v.Numbers.Shape(), v.Numbers.Compact().Data())
		}
		return fmt.Sprint(v.As, v.Strings)
	}
	return fmt.Sprintf("%T %v", v, v)
}

// same reports whether two libraries are equal in all that is stored.
func same(t *testing.T, a, b *Library) {
	t.Helper()
	da, db := must[Dict](t)(a.open()), must[Dict](t)(b.open())
	for key := range da {
		if describe(da[key]) != describe(db[key]) {
			t.Errorf("%s differs: %.200s, %.200s", key, describe(da[key]), describe(db[key]))
		}
	}
	if len(da) != len(db) {
		t.Errorf("%v, %v", sortedKeys(da), sortedKeys(db))
	}
}

func TestGridsOfTheReference(t *testing.T) {
	dir := golden.Path(t, "spectra/library")
	var axes [][]float64
	golden.JSON(t, &axes, "spectra/library/uvecs.json")
	for _, setup := range golden.Members(t, "spectra/library/interp_*.h5") {
		l := must[*Library](t)(Load(dir, setup))
		var shape []int
		for k, axis := range axes {
			shape = append(shape, len(axis))
			if !slices.Equal(l.Grid.Axes[k], axis) {
				t.Errorf("%s: axis %d is %v, want %v", setup, k, l.Grid.Axes[k], axis)
			}
		}
		if !slices.Equal([]int(l.Grid.IDs.Shape()), shape) || len(l.ParNames) != len(axes) || l.Spectra.DType() != tensor.Float32 || l.Revision == "" {
			t.Errorf("%s: %v %v", setup, l.Grid.IDs.Shape(), l.ParNames)
		}
		if !slices.Equal(l.Lam, npy(t, "spectra/library/lam_"+setup+".npy").Float64s()) {
			t.Errorf("%s: the wavelengths differ", setup)
		}
		if even := math.Abs((l.Lam[2]-l.Lam[1])/(l.Lam[1]-l.Lam[0])-1) < 1e-9; l.LogStep == even {
			t.Errorf("%s: logarithmic steps are %v, but the wavelengths begin with %v", setup, l.LogStep, l.Lam[:3])
		}
		if !slices.Equal(l.Points.Compact().Float64s(), npy(t, "spectra/library/grid_vec_mapped.npy").Float64s()) {
			t.Errorf("%s: the parameters differ", setup)
		}
		if !slices.Equal(l.Grid.IDs.Float64s(), npy(t, "spectra/library/idgrid.npy").Float64s()) {
			t.Errorf("%s: the nodes differ", setup)
		}
		out := t.TempDir()
		if err := l.Save(out); err != nil {
			t.Fatal(err)
		}
		same(t, must[*Library](t)(Load(out, setup)), l)
	}
	for _, setup := range golden.Members(t, "spectra/library/specs_*.h5") {
		l := must[*Library](t)(LoadTemplates(filepath.Join(dir, "specs_"+setup+".h5"), setup))
		n := len(npy(t, "spectra/library/grid_vec_mapped.npy").Float64s()) / len(axes)
		if l.Spectra.Shape()[0] != n || len(l.FileIDs) != n {
			t.Errorf("%s: %v, want %d templates", setup, l.Spectra.Shape(), n)
		}
		out := t.TempDir()
		if err := l.Save(out); err != nil {
			t.Fatal(err)
		}
		same(t, must[*Library](t)(LoadTemplates(filepath.Join(out, "specs_"+setup+".h5"), setup)), l)
	}
}

func TestNetworksOfTheReference(t *testing.T) {
	dir := golden.Path(t, "spectra/nn")
	var all map[string]struct {
		Kwargs struct {
			Indim, Nlayers, Npc, Npix, Width int
		}
		Mean []float64
	}
	golden.JSON(t, &all, "spectra/nn/nn.json")
	for _, arm := range golden.Members(t, "spectra/nn/interp_nn_*.h5") {
		l := must[*Library](t)(Load(dir, "nn_"+arm))
		n, want := l.Network, all[arm].Kwargs
		if n.InDim != want.Indim || n.Width != want.Width || n.Layers != want.Nlayers || n.NPC != want.Npc || n.Hull.Shape()[1] != want.Indim || len(l.Lam) != want.Npix || !slices.Equal(l.Mapper.Mean, all[arm].Mean) {
			t.Errorf("%s: %+v, want %+v", arm, n, want)
		}
		out := t.TempDir()
		if err := l.Save(out); err != nil {
			t.Fatal(err)
		}
		same(t, must[*Library](t)(Load(out, "nn_"+arm)), l)
	}
}

func triangulated(t *testing.T) *Library {
	dir := "spectra/triangulation/"
	tr := &Triangulation{Points: npy(t, dir+"points_mapped.npy"), Simplices: npy(t, dir+"simplices.npy").Convert(tensor.Int64), Neighbors: npy(t, dir+"neighbors.npy").Convert(tensor.Int64), Flags: npy(t, dir+"extraflags.npy").Float64s()}
	s, n := tr.Simplices.Shape()[0], tr.Points.Shape()[1]
	tr.Transform = tensor.New(tensor.Float64, s, n+1, n)
	var names []string
	for k := range n {
		names = append(names, fmt.Sprint("parameter ", k))
	}
	return &Library{Setup: "arm", Lam: npy(t, dir+"lam.npy").Float64s(), LogStep: true, LogSpec: true, ParNames: names, Mapper: Mapper{Log: []int{0}}, Spectra: npy(t, dir+"dats_logspec.npy"), Triangulation: tr}
}

// The open form of a triangulation is read back; the pickle is refused with advice.
func TestTriangulation(t *testing.T) {
	l := triangulated(t)
	dir := t.TempDir()
	if err := l.Save(dir); err != nil {
		t.Fatal(err)
	}
	same(t, must[*Library](t)(Load(dir, l.Setup)), l)
	os.Remove(filepath.Join(dir, "triang_"+l.Setup+".h5"))
	if _, err := Load(dir, l.Setup); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "export") {
		t.Errorf("a pickle: %v", err)
	}
}

func TestCCFOfTheReference(t *testing.T) {
	dir := golden.Path(t, "spectra/ccf")
	var all []*CCF
	setups := slices.DeleteFunc(golden.Members(t, "spectra/ccf/ccf_*.h5"), func(s string) bool { return strings.HasPrefix(s, "nocont_") })
	for _, setup := range setups {
		c := must[*CCF](t)(LoadCCF(dir, setup, true))
		if c.Continuum != (c.Step > 0) || c.Params.Shape()[0] != len(c.VSini) || c.Models == nil || c.Models.Shape()[1] != c.Points || c.Models.Shape()[0] != len(c.VSini) || c.Params.Shape()[1] != len(c.ParNames) {
			t.Errorf("%s: %+v", setup, c)
		}
		n := c.Params.Shape()[0]
		c.FFT, c.FFTSquare = tensor.New(tensor.Complex128, n, c.Points/2+1), tensor.New(tensor.Complex128, n, c.Points/2+1)
		c.FFT.Data().([]complex128)[1] = 2i
		out := t.TempDir()
		if err := c.Save(out); err != nil {
			t.Fatal(err)
		}
		again := must[*CCF](t)(LoadCCF(out, setup, true))
		if describe(again.dict()) != describe(c.dict()) || again.FFT.Data().([]complex128)[1] != 2i || describe(&Array{Numbers: again.Models}) != describe(&Array{Numbers: c.Models}) {
			t.Errorf("%s differs", setup)
		}
		all = append(all, c)
	}
	all[0].VSini[1] = -1 // None
	last := all[len(all)-1]
	last.Continuum, last.Step = false, 0
	var arms []*Library
	for _, setup := range golden.Members(t, "spectra/library/interp_*.h5") {
		arms = append(arms, must[*Library](t)(Load(golden.Path(t, "spectra/library"), setup)))
	}
	for _, arm := range golden.Members(t, "spectra/nn/interp_nn_*.h5")[:1] {
		arms = append(arms, must[*Library](t)(Load(golden.Path(t, "spectra/nn"), "nn_"+arm)))
	}
	name := filepath.Join(t.TempDir(), "library.h5")
	if err := WriteOpen(name, arms, all); err != nil {
		t.Fatal(err)
	}
	gotArms, gotCCF, err := ReadOpen(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(gotArms) != len(arms) || len(gotCCF) != len(all) {
		t.Fatalf("%d arms, %d templates for cross-correlation", len(gotArms), len(gotCCF))
	}
	for i := range arms {
		same(t, gotArms[i], arms[i])
		if gotArms[i].Network != nil {
			a, _ := gotArms[i].Network.State.Tensor("pc_layer.weight")
			if a.Type() != "float32" {
				t.Errorf("weights of %s", a.Type())
			}
		}
	}
	for i := range all {
		if describe(gotCCF[i].dict()) != describe(all[i].dict()) || describe(&Array{Numbers: gotCCF[i].FFT}) != describe(&Array{Numbers: all[i].FFT}) {
			t.Errorf("%s differs", all[i].Setup)
		}
	}
	if _, _, err := ReadOpen(filepath.Join(dir, "ccf_"+setups[0]+".h5")); err == nil || !strings.Contains(err.Error(), openFormat) {
		t.Errorf("another file: %v", err)
	}
}

// The database was made by testdata/make.py with SQLite.
func TestCatalog(t *testing.T) {
	c := must[*Catalog](t)(ReadCatalog("testdata/files.db"))
	if len(c.Entries) != 200 || !slices.Equal(c.ParNames, []string{"teff", "logg", "feh", "alpha", "vmic"}) {
		t.Fatalf("%d entries, %v", len(c.Entries), c.ParNames)
	}
	for i, e := range c.Entries {
		name := fmt.Sprintf("Z%d/%s.fits", i, map[bool]string{true: strings.Repeat("x", 2000), false: "lte"}[i == 77])
		want := []float64{2300 + 100*float64(i), float64(i%6) * 0.5, -4 + float64(i)*0.25, float64(i%3) * 0.2, float64(i) / 7}
		if e.File != name || e.ID != i || e.Bad != (i%10 == 3) || !slices.Equal(e.Params, want) {
			t.Errorf("entry %d: %.60v, want %.20s %v", i, e, name, want)
		}
	}
	if e, ok := c.Find([]float64{2305e0 - 4.995, 0, -4, 0, 0}); !ok || e.ID != 0 {
		t.Errorf("nearest: %v %v", e, ok)
	}
	if _, ok := c.Find(c.Entries[3].Params); ok {
		t.Error("a bad template is found")
	}
	name := filepath.Join(t.TempDir(), "files.csv")
	if err := c.WriteCSV(name); err != nil {
		t.Fatal(err)
	}
	if again := must[*Catalog](t)(ReadCatalog(name)); !reflect.DeepEqual(again, c) {
		t.Error("the CSV table differs")
	}
	for _, hostile := range []*Catalog{{Entries: []Entry{{File: "a\x1b[31m.fits"}}}, {ParNames: []string{"te\xffff"}}} {
		if err := hostile.WriteCSV(name + "2"); err == nil || !strings.Contains(err.Error(), "cannot show") {
			t.Errorf("%+v: %v", hostile, err)
		}
	}
	if _, err := parseCatalog("x.csv", []byte("filename,id,bad,teff\na,1,false,hot\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a word as a number: %v", err)
	}
	b := must[[]byte](t)(os.ReadFile("testdata/files.db"))
	for n := 0; n < len(b)-512; n += 333 {
		d, err := openDatabase("cut", bytes.NewReader(b[:n]), int64(n))
		if err == nil {
			err = (&Catalog{}).fromDatabase(d)
		}
		var fe *FormatError
		if !errors.As(err, &fe) && n < 10*512 {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

// rvspecfit's own reader of dictionaries, rewritten with h5py, sees our files.
func TestH5pyReadsOurFiles(t *testing.T) {
	py := peer.Python(t, "h5py", "numpy")
	setup := golden.Members(t, "spectra/library/interp_*.h5")[0]
	l := must[*Library](t)(Load(golden.Path(t, "spectra/library"), setup))
	dir := t.TempDir()
	if err := l.Save(dir); err != nil {
		t.Fatal(err)
	}
	py.Run(t, `
import sys, h5py, numpy as np
a, b = h5py.File(sys.argv[1]), h5py.File(sys.argv[2])
assert a.attrs["version"] == 1
def check(name, obj):
    if isinstance(obj, h5py.Group) or name in ("mapper_args", "log_spec"):
        return
    o = a[name]
    assert o.attrs["type"] == obj.attrs["type"], (name, o.attrs["type"])
    assert (o.dtype == obj.dtype or o.dtype.kind == "O") and o.shape == obj.shape, (name, o.dtype, obj.dtype)
    assert np.array_equal(o[()], obj[()]), name
b.visititems(check)
assert a["uvecs"].attrs["type"] == "flattened_list"
assert a["mapper_args"].attrs["type"] == "flattened_tuple" and a["mapper_args/__item_0"][:].tolist() == [int(i) for i in sys.argv[3:]] and a["mapper_args/__item_0"].attrs["type"] == "list"
`, append([]string{filepath.Join(dir, "interp_"+setup+".h5"), golden.Path(t, "spectra/library/interp_"+setup+".h5")}, strings.Fields(strings.Trim(fmt.Sprint(l.Mapper.Log), "[]"))...)...)
}

// FuzzDatabase reads any bytes as an SQLite database.
func FuzzDatabase(f *testing.F) {
	b, err := os.ReadFile("testdata/files.db")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:4096])
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := openDatabase("fuzz", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		(&Catalog{}).fromDatabase(d)
		parseCatalog("fuzz", b)
	})
}

// FuzzDict reads any bytes as a file of dictionaries, and as a library.
func FuzzDict(f *testing.F) {
	small := filepath.Join(f.TempDir(), "x.h5")
	l := &Library{Setup: "x", Lam: []float64{1, 2}, LogStep: true, ParNames: []string{"teff"}, Mapper: Mapper{Log: []int{0}}, Points: tensor.New(tensor.Float64, 1, 3), Spectra: tensor.New(tensor.Float32, 3, 2),
		Grid: &Grid{Axes: [][]float64{{1, 2, 3}}, IDs: tensor.New(tensor.Int64, 3)}}
	if err := WriteOpen(small, []*Library{l}, nil); err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{small, "testdata/dict.h5"} {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		name := filepath.Join(t.TempDir(), "interp_x.h5")
		os.WriteFile(name, b, 0o644)
		ReadDict(name)
		ReadOpen(name)
		Load(filepath.Dir(name), "x")
		LoadTemplates(name, "x")
	})
}
