// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/tensor"
)

func read(t testing.TB, name string, o ReadSettings) *Morphology {
	t.Helper()
	m, err := ReadMorphology(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// same compares every field of two volumes to the last bit.
func same(t *testing.T, got, want *Morphology) {
	t.Helper()
	if got.Shape != want.Shape || got.PhysSize != want.PhysSize || got.Type != want.Type || len(got.Phases) != len(want.Phases) {
		t.Fatalf("%v %v nm %v with %d materials, want %v %v nm %v with %d", got.Shape, got.PhysSize, got.Type, len(got.Phases),
			want.Shape, want.PhysSize, want.Type, len(want.Phases))
	}
	for i := range want.Phases {
		for _, p := range parts[want.Type] {
			a, b := p.field(&got.Phases[i]), p.field(&want.Phases[i])
			for k := range max(a.Len(), b.Len()) {
				if a.At(k) != b.At(k) {
					t.Fatalf("material %d %s number %d is %v, want %v", i+1, p.key, k, a.At(k), b.At(k))
				}
			}
		}
	}
}

// The rule is that of testdata/make.py.
func TestFilesOfH5py(t *testing.T) {
	for _, name := range []string{"latest.h5", "v108.h5", "earliest.h5"} {
		for _, double := range []bool{false, true} {
			m := read(t, "testdata/"+name, ReadSettings{Double: double})
			if m.Shape != [3]int{2, 3, 4} || m.PhysSize != 2.5 || len(m.Phases) != 2 || !m.Phases[1].S.IsZero() {
				t.Fatalf("%s: %v %v %d", name, m.Shape, m.PhysSize, len(m.Phases))
			}
			if m.Created != "01/02/2026, 03:04:05" || m.Name != "ramp" || m.Creator != "make.py" || fmt.Sprint(m.FilmNormal) != "[1 0 0]" {
				t.Errorf("%s: %q %q %q %v", name, m.Created, m.Name, m.Creator, m.FilmNormal)
			}
			if f := m.Phases[0].S; (f.Float64 != nil) != double || f.Len() != 24 {
				t.Errorf("%s: double %v, %d numbers", name, f.Float64 != nil, f.Len())
			}
			for i := range 24 {
				x := float64(i)
				psi, theta := -x/4, x/8
				if i == 0 {
					psi, theta = 0, 0
				}
				a, b := m.Phases[0], m.Phases[1]
				if a.Vfrac.At(i) != 1-x/32 || a.S.At(i) != x/64 || a.Theta.At(i) != theta || a.Psi.At(i) != psi || b.Vfrac.At(i) != x/32 {
					t.Fatalf("%s: voxel %d: %v %v %v %v %v", name, i, a.Vfrac.At(i), a.S.At(i), a.Theta.At(i), a.Psi.At(i), b.Vfrac.At(i))
				}
			}
			if err := m.Check(0); err != nil {
				t.Error(err)
			}
		}
	}
	m := read(t, "testdata/vector.h5", ReadSettings{Double: true})
	for i := range 24 {
		x, y, z := m.Phases[0].Alignment.At3(i)
		if x != 0 || y != 0 || z != float64(i)/64 || m.Phases[0].Unaligned.At(i) != 1-float64(i)/32-z*z {
			t.Fatalf("voxel %d: %v %v %v, %v", i, x, y, z, m.Phases[0].Unaligned.At(i))
		}
	}
	if err := m.Check(0); err != nil || m.Type != Vector {
		t.Error(err)
	}
}

// A file in either order of the axes holds the arrays of its name.
func TestReferenceMorphologies(t *testing.T) {
	golden.Each(t, "scatter/morph/*.h5", func(t *testing.T, name string) {
		m := read(t, golden.Path(t, name), ReadSettings{})
		want := npz(t, golden.Path(t, strings.TrimSuffix(strings.TrimSuffix(name, ".h5"), "_XYZ")+".npz"))
		for i := range m.Phases {
			ph := &m.Phases[i]
			fields := map[string]Field{"Vfrac": ph.Vfrac, "S": ph.S, "Theta": ph.Theta, "Psi": ph.Psi, "align": ph.Alignment, "unaligned": ph.Unaligned}
			for key, f := range fields {
				array, ok := want[fmt.Sprintf("mat%d_%s", i+1, key)]
				if !ok {
					continue
				}
				data, shape := array.Data().([]float32), array.Shape()
				if !slices.Equal(m.Shape[:], shape[:3]) {
					t.Errorf("shape %v, want %v", m.Shape, shape)
				}
				if !equal(f, data, ph.S, key) {
					t.Errorf("material %d %s differs", i+1, key)
				}
			}
		}
	})
}

func npz(t *testing.T, name string) map[string]*tensor.Tensor {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	all, err := tensor.ReadNPZ(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// equal compares a field with an array; angles where S is 0 do not count.
func equal(f Field, want []float32, s Field, key string) bool {
	for i, v := range want {
		free := (key == "Theta" || key == "Psi") && s.At(i) == 0
		if !free && float32(f.At(i)) != v {
			return false
		}
	}
	return f.Len() == len(want)
}

func TestOrdersAreEqual(t *testing.T) {
	golden.Each(t, "scatter/morph/*_XYZ.h5", func(t *testing.T, name string) {
		a := read(t, golden.Path(t, strings.TrimSuffix(name, "_XYZ.h5")+".h5"), ReadSettings{})
		b := read(t, golden.Path(t, name), ReadSettings{})
		same(t, b, a)
		if err := a.Check(0); err != nil {
			t.Error(err)
		}
	})
}

// sample is a small volume with one ordered and one isotropic material.
func sample(typ MorphologyType, double bool) *Morphology {
	m := &Morphology{Shape: [3]int{3, 2, 5}, PhysSize: 5, Phases: make([]Phase, 2), Name: "s", Creator: "c", Created: "d", Version: "1", FilmNormal: []float64{1, 0, 0}}
	f := func(rule func(i float64) float64) Field {
		out := newField(m.Voxels(), double)
		for i := range out.Len() {
			out.set(i, rule(float64(i)))
		}
		return out
	}
	m.Phases[0] = Phase{
		Vfrac: f(func(i float64) float64 { return 1 - i/64 }),
		S:     f(func(i float64) float64 { return (i + 1) / 64 }),
		Theta: f(func(i float64) float64 { return i / 16 }),
		Psi:   f(func(i float64) float64 { return 3 - i/4 }),
	}
	m.Phases[1] = Phase{Vfrac: f(func(i float64) float64 { return i / 64 })}
	if typ == Vector {
		return m.ToVector()
	}
	return m
}

func TestWriteRead(t *testing.T) {
	for _, typ := range []MorphologyType{Euler, Vector} {
		for _, double := range []bool{false, true} {
			for _, o := range []WriteSettings{{}, {Gzip: 9}, {Gzip: NoGzip}, {XYZ: true}, {XYZ: true, Gzip: NoGzip}} {
				name := filepath.Join(t.TempDir(), "m.h5")
				m := sample(typ, double)
				if err := WriteMorphology(name, m, o); err != nil {
					t.Fatal(err)
				}
				back := read(t, name, ReadSettings{Double: double})
				same(t, back, m)
				if back.Name != "s" || back.Creator != "c" || back.Created != "d" || back.Version != "1" || len(back.FilmNormal) != 3 {
					t.Errorf("%+v", back)
				}
			}
		}
	}
}

func TestH5pyReadsMorphologies(t *testing.T) {
	py := peer.Python(t, "h5py")
	dir := t.TempDir()
	for name, o := range map[string]WriteSettings{"zyx.h5": {}, "xyz.h5": {XYZ: true, Gzip: NoGzip}} {
		if err := WriteMorphology(filepath.Join(dir, name), sample(Euler, false), o); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteMorphology(filepath.Join(dir, "vector.h5"), sample(Vector, true), WriteSettings{}); err != nil {
		t.Fatal(err)
	}
	py.Run(t, `
import sys, h5py, numpy as np
def check(name, order, shape):
    with h5py.File(sys.argv[1] + "/" + name) as f:
        v, s = f["Euler_Angles/Mat_1_Vfrac"], f["Euler_Angles/Mat_2_S"]
        assert v.shape == shape and v.dtype == np.float32, v
        assert [v.dims[i].label for i in range(3)] == list(order), [d.label for d in v.dims]
        a = v[()] if order == "ZYX" else np.transpose(v[()])
        assert (a.ravel() == 1 - np.arange(30) / 64).all() and not s[()].any()
        p = f["Morphology_Parameters"]
        assert p["PhysSize"][()] == 5 and p["NumMaterial"][()] == 2 and p["creation_date"].asstr()[()] == "d"
        return v
check("zyx.h5", "ZYX", (3, 2, 5))
check("xyz.h5", "XYZ", (5, 2, 3))
with h5py.File(sys.argv[1] + "/vector.h5") as f:
    a, u = f["Vector_Morphology/Mat_1_alignment"], f["Vector_Morphology/Mat_1_unaligned"]
    assert a.shape == (3, 2, 5, 3) and [d.label for d in a.dims][:3] == ["Z", "Y", "X"], list(a.dims)
    assert a.dtype == np.float64 and a.compression == "gzip" and a.shuffle
    assert np.allclose((a[()] ** 2).sum(-1) + u[()], (1 - np.arange(30) / 64).reshape(3, 2, 5))
`, dir)
}

// file writes a morphology by hand, after change.
func file(t *testing.T, change func(put func(key string, v any, shape []int, labels ...string))) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "m.h5")
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	written := map[string]bool{}
	put := func(key string, v any, shape []int, labels ...string) {
		if written[key] {
			return
		}
		written[key] = true
		if v == nil {
			return
		}
		w.Write(key, v, hdf5.Layout{Shape: shape})
		if labels != nil {
			w.Attr(key, "DIMENSION_LABELS", labels)
		}
	}
	change(put)
	put("Morphology_Parameters/PhysSize", 5.0, nil)
	put("Morphology_Parameters/NumMaterial", int64(1), nil)
	for _, key := range []string{"Vfrac", "S", "Theta", "Psi"} {
		put("Euler_Angles/Mat_1_"+key, []float32{1, 1, 1, 1, 1, 1}, []int{1, 2, 3}, "Z", "Y", "X")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestBadMorphologies(t *testing.T) {
	type put = func(key string, v any, shape []int, labels ...string)
	six := []float32{1, 1, 1, 1, 1, 1}
	zyx := []string{"Z", "Y", "X"}
	flat := []int{1, 2, 3}
	for want, change := range map[string]func(put){
		"": func(put) {},
		"Morphology_Parameters/PhysSize: it is missing":                       func(p put) { p("Morphology_Parameters/PhysSize", nil, nil) },
		"PhysSize: it is -1: give the edge":                                   func(p put) { p("Morphology_Parameters/PhysSize", -1.0, nil) },
		"Morphology_Parameters/NumMaterial: it is missing":                    func(p put) { p("Morphology_Parameters/NumMaterial", nil, nil) },
		"NumMaterial: it is 2, but Euler_Angles has Mat_i_Vfrac of 1":         func(p put) { p("Morphology_Parameters/NumMaterial", int64(2), nil) },
		"NumMaterial: it is 1, but Euler_Angles has Mat_i_Vfrac of 2":         func(p put) { p("Euler_Angles/Mat_2_Vfrac", six, flat, zyx...) },
		"NumMaterial: it is 1, but Euler_Angles has Mat_i_Vfrac of 0":         func(p put) { p("Euler_Angles/Mat_1_Vfrac", nil, nil) },
		"Mat_1_Vfrac: its axes have no labels":                                func(p put) { p("Euler_Angles/Mat_1_Vfrac", six, flat) },
		`Mat_1_Vfrac: its axes are labelled ["Y" "X" "Z"]`:                    func(p put) { p("Euler_Angles/Mat_1_Vfrac", six, flat, "Y", "X", "Z") },
		"Mat_1_Psi: its axes have no labels":                                  func(p put) { p("Euler_Angles/Mat_1_Psi", six, flat) },
		"Mat_1_S: its axes have the order XYZ, but those of other fields ZYX": func(p put) { p("Euler_Angles/Mat_1_S", six, flat, "X", "Y", "Z") },
		"Mat_1_S: it has the shape [3 2 1], want [1 2 3]":                     func(p put) { p("Euler_Angles/Mat_1_S", six, []int{3, 2, 1}, zyx...) },
		"Mat_1_Vfrac: it has the shape [2 3]: want three axes":                func(p put) { p("Euler_Angles/Mat_1_Vfrac", six, []int{2, 3}, "Y", "X") },
		"Mat_1_S: it has the shape [6], want [1 2 3]":                         func(p put) { p("Euler_Angles/Mat_1_S", six, []int{6}, "Z") },
		"Mat_1_S: the elements are int32: store it as float32":                func(p put) { p("Euler_Angles/Mat_1_S", []int32{1, 1, 1, 1, 1, 1}, flat, zyx...) },
		"Mat_1_Theta: it is missing":                                          func(p put) { p("Euler_Angles/Mat_1_Theta", nil, nil) },
		"Mat_1_S: it is missing, although there is Euler_Angles/Mat_1_Theta":  func(p put) { p("Euler_Angles/Mat_1_S", nil, nil) },
		"Mat_1_S: it is missing, although there is Euler_Angles/Mat_1_Psi":    func(p put) { p("Euler_Angles/Mat_1_S", nil, nil); p("Euler_Angles/Mat_1_Theta", nil, nil) },
		"Mat_1_Psi: it is NaN at index [0 1 2]":                               func(p put) { p("Euler_Angles/Mat_1_Psi", []float32{1, 1, 1, 1, 1, nan32}, flat, zyx...) },
		"Mat_1_Vfrac: it is +Inf at index [0 0 1]":                            func(p put) { p("Euler_Angles/Mat_1_Vfrac", []float64{1, math.Inf(1), 1, 1, 1, 1}, flat, zyx...) },
		"Mat_1_S: it is 1e+300 at index [0 0 1]: make every number":           func(p put) { p("Euler_Angles/Mat_1_S", []float64{1, 1e300, 1, 1, 1, 1}, flat, zyx...) },
		`has neither Euler_Angles nor Vector_Morphology, but ["Mor`:           func(p put) { none(p) },
		"Mat_1_unaligned: it is missing":                                      func(p put) { none(p); p("Vector_Morphology/Mat_1_alignment", six[:3], []int{1, 1, 1, 3}, zyx...) },
		"Mat_1_alignment: it is missing":                                      func(p put) { none(p); p("Vector_Morphology/Mat_1_unaligned", six, flat, zyx...) },
		"Mat_1_alignment: it has the shape [1 1 3 2], want [1 1 3 3]": func(p put) {
			none(p)
			p("Vector_Morphology/Mat_1_unaligned", six[:3], []int{1, 1, 3}, zyx...)
			p("Vector_Morphology/Mat_1_alignment", six, []int{1, 1, 3, 2}, zyx...)
		},
	} {
		name := file(t, change)
		_, err := ReadMorphology(name, ReadSettings{})
		if want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		want = strings.Replace(want, "Mat_1_unaligned: it is missing", "NumMaterial: it is 1, but Vector_Morphology has Mat_i_unaligned of 0", 1)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	if _, err := ReadMorphology(filepath.Join(t.TempDir(), "none"), ReadSettings{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

var nan32 = float32(math.NaN())

// none leaves the Euler angles out.
func none(put func(key string, v any, shape []int, labels ...string)) {
	for _, key := range []string{"Vfrac", "S", "Theta", "Psi"} {
		put("Euler_Angles/Mat_1_"+key, nil, nil)
	}
}

// A file that has both layouts gives the one asked for.
func TestBothLayouts(t *testing.T) {
	name := file(t, func(p func(key string, v any, shape []int, labels ...string)) {
		p("Vector_Morphology/Mat_1_unaligned", []float32{1, 1}, []int{1, 1, 2}, "Z", "Y", "X")
		p("Vector_Morphology/Mat_1_alignment", make([]float32, 6), []int{1, 1, 2, 3}, "Z", "Y", "X", "")
	})
	if m := read(t, name, ReadSettings{}); m.Type != Euler || m.Shape != [3]int{1, 2, 3} {
		t.Errorf("%+v", m)
	}
	if m := read(t, name, ReadSettings{Vector: true}); m.Type != Vector || m.Shape != [3]int{1, 1, 2} {
		t.Errorf("%+v", m)
	}
}

func FuzzReadMorphology(f *testing.F) {
	for _, name := range []string{"latest.h5", "v108.h5", "earliest.h5", "vector.h5"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := hdf5.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		h.MaxBytes = 1 << 20
		m, err := readMorphology(h, ReadSettings{})
		if err != nil {
			return
		}
		if bad := m.shapes(); bad != nil {
			t.Fatalf("read what cannot be: %v", bad)
		}
		name := filepath.Join(t.TempDir(), "m.h5")
		if err := WriteMorphology(name, m, WriteSettings{}); err != nil {
			t.Fatal(err)
		}
		same(t, read(t, name, ReadSettings{}), m)
	})
}
