// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/peer"
)

func TestFileNames(t *testing.T) {
	for want, energies := range map[string][]float64{
		"[Energy_284.70.h5 Energy_270.00.h5]":                                      {284.7, 270},
		"[Energy_284.401.h5 Energy_284.4.h5 Energy_285.00.h5]":                     {284.401, 284.4, 285},
		"[Energy_284.4049.h5 Energy_284.4.h5 Energy_284.4051.h5 Energy_284.41.h5]": {284.4049, 284.4, 284.4051, 284.41},
	} {
		if names, err := FileNames(energies); err != nil || fmt.Sprint(names) != want {
			t.Errorf("%v: %v %v, want %s", energies, names, err, want)
		}
	}
	for _, energies := range [][]float64{nil, {270, 271, 270}, {-1}, {math.NaN()}} {
		if names, err := FileNames(energies); err == nil {
			t.Errorf("%v: %v", energies, names)
		}
	}
}

// The files hold the images of the case in single precision.
func TestReferencePatterns(t *testing.T) {
	for _, dir := range golden.Glob(t, "scatter/cases/*/HDF5") {
		t.Run(path.Base(path.Dir(dir)), func(t *testing.T) { checkPatterns(t, dir) })
	}
}

func checkPatterns(t *testing.T, dir string) {
	var c struct {
		Config struct {
			Energies []float64
			KVectors [][3]float64 `json:"kVectors"`
		}
	}
	golden.JSON(t, &c, dir, "..", "case.json")
	images := npz(t, golden.Path(t, dir, "..", "expected.npz"))["images"]
	all, err := ReadPatterns(golden.Path(t, dir))
	if err != nil || len(all) != len(c.Config.Energies) {
		t.Fatal(len(all), err)
	}
	want := images.Float64s()
	for i, p := range all {
		if p.Energy != c.Config.Energies[i] || p.Shape != [2]int(images.Shape()[2:]) || len(p.Images) != len(c.Config.KVectors) || p.Images[0].Float32 == nil {
			t.Errorf("%v eV: %v %v", p.Energy, p.Shape, p.KVectors)
		}
		for b, f := range p.Images {
			if d := distance(p.KVectors[b], unit(c.Config.KVectors[b])); d > 1e-6 {
				t.Errorf("beam %d: %v, want %v", b, p.KVectors[b], c.Config.KVectors[b])
			}
			for k, v := range f.Float32 {
				if w := float32(want[(i*len(p.Images)+b)*f.Len()+k]); v != w && (v == v || w == w) {
					t.Fatalf("%v eV pixel %d: %v, want %v", p.Energy, k, v, w)
				}
			}
		}
	}
}

// pattern is two small images.
func pattern(energy float64, double bool) *Pattern {
	p := &Pattern{Energy: energy, KVectors: [][3]float64{{0, 0, 1}, {0.5, 0, 0.75}}, Shape: [2]int{2, 3}}
	for i := range p.KVectors {
		f := newField(6, double)
		for k := range 5 {
			f.set(k, float64(10*i+k))
		}
		f.set(5, math.NaN())
		p.Images = append(p.Images, f)
	}
	return p
}

func TestWritePatterns(t *testing.T) {
	for _, double := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "a", "HDF5")
		written := []*Pattern{pattern(285.2, double), pattern(284.401, double), pattern(284.4, double)}
		for range 2 {
			if err := WritePatterns(dir, written); err != nil {
				t.Fatal(err)
			}
		}
		all, err := ReadPatterns(dir)
		if err != nil || len(all) != 3 {
			t.Fatal(len(all), err)
		}
		for i, e := range []float64{284.4, 284.401, 285.2} {
			want := pattern(e, double)
			if fmt.Sprint(all[i]) != fmt.Sprint(want) {
				t.Errorf("%v, want %v", all[i], want)
			}
		}
		if err := WritePatterns(dir, append(written, pattern(284.4, double))); err == nil || !strings.Contains(err.Error(), "284.4 eV appears twice") {
			t.Error(err)
		}
	}
}

func TestBadPatterns(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadPatterns(dir); !errors.Is(err, ErrIncomplete) {
		t.Error(err)
	}
	if _, err := ReadPatterns(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for _, change := range []func(p *Pattern){
		func(p *Pattern) { p.Images = p.Images[:1] },
		func(p *Pattern) { p.Images, p.KVectors = nil, nil },
		func(p *Pattern) { p.Shape[0] = 3 },
		func(p *Pattern) { p.Images[1].Float64 = make([]float64, 6) },
	} {
		p := pattern(270, false)
		change(p)
		if err := WritePattern(filepath.Join(dir, "Energy_270.00.h5"), p); err == nil {
			t.Errorf("%+v", p)
		}
	}
	for want, fill := range map[string]func(w *hdf5.Writer){
		"there is no KIDList/KVec":              func(w *hdf5.Writer) {},
		"it has the shape [2], want (beams, 3)": func(w *hdf5.Writer) { w.Write("KIDList/KVec", []float32{1, 2}, hdf5.Layout{}) },
		"K0/projection: it has the shape [2]":   func(w *hdf5.Writer) { beams(w, 1); w.Write("K0/projection", []float32{1, 2}, hdf5.Layout{}) },
		`labelled ["Qx" "Qy"]`: func(w *hdf5.Writer) {
			beams(w, 1)
			w.Write("K0/projection", []float32{1, 2}, hdf5.Layout{Shape: []int{1, 2}})
			w.Attr("K0/projection", "DIMENSION_LABELS", []string{"Qx", "Qy"})
		},
		"K1/projection: it has the shape [2 1]": func(w *hdf5.Writer) {
			beams(w, 2)
			w.Write("K0/projection", []float32{1, 2}, hdf5.Layout{Shape: []int{1, 2}})
			w.Write("K1/projection", []float32{1, 2}, hdf5.Layout{Shape: []int{2, 1}})
		},
		"there is no K1": func(w *hdf5.Writer) {
			beams(w, 2)
			w.Write("K0/projection", []float32{1}, hdf5.Layout{Shape: []int{1, 1}})
		},
	} {
		name := filepath.Join(dir, "Energy_280.5.h5")
		w, err := hdf5.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		fill(w)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadPatterns(dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	for _, name := range []string{"Energy_x.h5", "energy_270.h5", "Energy_.h5", "Energy_1e5.h5", "Energy_270.00.hdf"} {
		if _, err := ReadPattern(name); err == nil || !strings.Contains(err.Error(), "no energy in the name of the file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func beams(w *hdf5.Writer, n int) {
	w.Write("KIDList/KVec", slices.Repeat([]float32{0, 0, 1}, n), hdf5.Layout{Shape: []int{n, 3}})
}

// A pattern read and written again has the names, types, layouts and attributes
// of the file it was read from.
func TestPatternsAreLikeReference(t *testing.T) {
	name := golden.Path(t, golden.Glob(t, "scatter/cases/*/HDF5/Energy_*.h5")[0])
	py := peer.Python(t, "h5py")
	p, err := ReadPattern(name)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), filepath.Base(name))
	if err := WritePattern(copied, p); err != nil {
		t.Fatal(err)
	}
	py.Run(t, `
import sys, h5py, numpy as np
def content(name):
    out = {}
    def visit(key, o):
        is_data = isinstance(o, h5py.Dataset)
        out[key] = [(o.shape, str(o.dtype), o.chunks, o.compression, o[()].tobytes()) if is_data else "group",
                    [(k, str(v.dtype), list(v), h5py.check_string_dtype(o.attrs.get_id(k).dtype).length) for k, v in o.attrs.items()]]
        if key.endswith("projection"): assert [d.label for d in o.dims] == ["Qy", "Qx"]
    with h5py.File(name) as f: f.visititems(visit)
    return out
a, b = content(sys.argv[1]), content(sys.argv[2])
assert a == b, (a, b)
`, name, copied)
}

func FuzzReadPattern(f *testing.F) {
	name := filepath.Join(f.TempDir(), "Energy_270.00.h5")
	if err := WritePattern(name, pattern(270, false)); err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := hdf5.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		h.MaxBytes = 1 << 20
		p, err := readPattern(h)
		if err == nil && p.mistakes() != nil {
			t.Fatal(p.mistakes())
		}
	})
}
