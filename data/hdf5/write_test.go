// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// writeSample writes one of everything.
func writeSample(t *testing.T, name string) {
	t.Helper()
	w, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	for i, l := range []Layout{{}, {Gzip: 1}, {Gzip: 9, Shuffle: true, Fletcher32: true}, {Chunk: []int{3, 4}}, {Chunk: []int{100, 2}, Shuffle: true},
		{Chunk: []int{1, 1}, Fletcher32: true}} {
		for j, data := range []any{ruled[float64](77), ruled[float32](77), ruled[int8](77), ruled[int16](77), ruled[uint64](77)} {
			key := fmt.Sprintf("/layout/d%d/t%d", i, j)
			l.Shape = []int{7, 11}
			w.Write(key, data, l)
			w.Attr(key, "mod", 50)
			w.Attr(key, "add", 2)
		}
	}
	for key, v := range map[string]any{"i8": []int8{-1}, "u16": []uint16{1}, "f32": []float32{1}, "f64": []float64{1}, "c64": []complex64{1i},
		"c128": []complex128{0, 3 - 4i}, "bool": []bool{true, false}, "text": []string{"Å⁻¹", "", strings.Repeat("x", 100000)}, "one": "scalar",
		"refs": []Ref{{Path: "/t/bool"}, {}}, "scalar": 2.5} {
		w.Write("/t/"+key, v, Layout{})
	}
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprint("s", i)
	}
	w.Write("/t/chunked", many, Layout{Chunk: []int{300}, Gzip: 2})
	w.Write("/t/fixed", []string{"ab", "cde"}, Layout{FixedString: 4})
	w.Write("/t/empty", []float64{}, Layout{Shape: []int{0, 3}, Gzip: 3})
	for i := range 5000 {
		w.Write(fmt.Sprintf("/many/c%04d", i), i, Layout{})
	}
	w.Attr("/t", "text", "µm")
	w.Attr("/t", "n", 3)
	w.Attr("/t", "list", []float64{1.5, 2.5})
	w.Attr("/t", "names", []string{"a", "b"})
	w.Attr("/t", "yes", true)
	w.Attr("/t", "fixed", FixedString("FIX"))
	w.SoftLink("/link", "/t/scalar")
	w.ExternalLink("/far/out", "other.h5", "/x")
	w.SoftLink("/far/soft", "/t/scalar")
	w.Write("/far/near", 7, Layout{})
	w.Write("/grow", ruled[int32](12), Layout{Shape: []int{3, 4}, Chunk: []int{2, 4}, MaxShape: []int{-1, 4}})
	w.Write("/scales/x", []float64{0, 1, 2}, Layout{})
	w.Write("/scales/data", ruled[float64](6), Layout{Shape: []int{3, 2}})
	w.Scale("/scales/x", "q")
	w.Attach("/scales/data", 0, "/scales/x")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// ruled is i % 50 + 2.
func ruled[T int8 | int16 | int32 | uint64 | float32 | float64](n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(i%50 + 2)
	}
	return v
}

func TestWeReadWhatWeWrite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out.h5")
	writeSample(t, name)
	f := open(t, name)
	seen := 0
	err := f.Walk(func(p string, group bool) error {
		if seen++; !group && strings.HasPrefix(p, "/layout/") {
			checkRule(t, get(t, f, p))
		}
		return nil
	})
	if err != nil || seen < 5050 {
		t.Error(seen, err)
	}
	s, err := get(t, f, "/t/text").Strings()
	want(t, s, err, []string{"Å⁻¹", "", strings.Repeat("x", 100000)})
	z, err := get(t, f, "/t/c128").Complex128s()
	want(t, z, err, []complex128{0, 3 - 4i})
	b, err := get(t, f, "/link").Float64()
	want(t, b, err, 2.5)
	r, err := get(t, f, "/t/refs").References()
	if err != nil || r[0].Path != "/t/bool" || r[1].Path != "" {
		t.Error(r, err)
	}
	want(t, get(t, f, "/grow").MaxShape(), nil, []int{-1, 4})
	want(t, get(t, f, "/layout/d2/t1").Filters(), nil, []string{"shuffle", "gzip", "fletcher32"})
	if links, err := f.Links("/far"); err != nil || links[1] != (Link{Name: "out", Kind: ExternalLink, File: "other.h5", Path: "/x"}) {
		t.Error(links, err)
	}
}

// Every Go type that can be written comes back as itself.
func TestScalarsAndSlices(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out.h5")
	w, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	values := []any{float64(1), float32(1), int8(1), int16(1), int32(1), int64(1), int(1), uint8(1), uint16(1), uint32(1), uint64(1), true,
		[]float64{1}, []float32{1}, []int8{1}, []int16{1}, []int32{1}, []int64{1}, []int{1}, []uint8{1}, []uint16{1}, []uint32{1}, []uint64{1}, []bool{true}}
	types := strings.Fields("float64 float32 int8 int16 int32 int64 int64 uint8 uint16 uint32 uint64 bool")
	for i, v := range values {
		w.Write(fmt.Sprint("/v", i), v, Layout{})
		w.Attr("/", fmt.Sprint("a", i), v)
	}
	w.Write("/text", FixedString("fixed"), Layout{})
	w.Write("/c64", complex64(1+2i), Layout{})
	w.Write("/c128", complex128(1+2i), Layout{})
	w.Write("/ref", Ref{Path: "/text"}, Layout{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f := open(t, name)
	for i := range values {
		d := get(t, f, fmt.Sprint("/v", i))
		v, err := d.Float64()
		if err != nil || v != 1 || d.Type().String() != types[i%12] || len(d.Shape()) != i/12 {
			t.Errorf("%T came back as %v, %v, %v", values[i], d, v, err)
		}
		if a, err := f.Attr("/", fmt.Sprint("a", i)); err != nil || a.Type().String() != types[i%12] || a.Len() != 1 {
			t.Error(a, err)
		}
	}
	s, err := get(t, f, "/text").Text()
	want(t, s, err, "fixed")
	z, err := get(t, f, "/c64").Complex128s()
	want(t, z, err, []complex128{1 + 2i})
	r, err := get(t, f, "/ref").References()
	if err != nil || r[0].Path != "/text" {
		t.Error(r, err)
	}
}

func TestH5pyReadsWhatWeWrite(t *testing.T) {
	p := python()
	if p == "" {
		t.Skip("lacks Python with h5py (make peers, or EURYALE_PYTHON)")
	}
	name := filepath.Join(t.TempDir(), "out.h5")
	writeSample(t, name)
	if out, err := exec.Command(p, "testdata/check.py", name).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestWriterKeepsTheFirstMistake(t *testing.T) {
	dir := t.TempDir()
	for what, do := range map[string]func(w *Writer) error{
		"a: it exists already":                          func(w *Writer) error { w.Write("a", 1, Layout{}); return w.Write("/a", 2, Layout{}) },
		"/a: it exists and is not a group":              func(w *Writer) error { w.Write("/a", 1, Layout{}); return w.Write("/a/b", 2, Layout{}) },
		"shape [2 3] needs 6 elements, but there are 5": func(w *Writer) error { return w.Write("/a", make([]int8, 5), Layout{Shape: []int{2, 3}}) },
		"struct {} cannot be written":                   func(w *Writer) error { return w.Write("/a", struct{}{}, Layout{}) },
		"/b: it has not been written yet":               func(w *Writer) error { return w.Attr("/b", "x", 1) },
		"write a dataset":                               func(w *Writer) error { return w.Attr("/", "x", make([]float64, 10000)) },
		"Layout.Gzip is 10":                             func(w *Writer) error { return w.Write("/a", 1, Layout{Gzip: 10}) },
		"string \"abc\" of 3 bytes does not fit 2":      func(w *Writer) error { return w.Write("/a", "abc", Layout{FixedString: 2}) },
		"has no axis 1":                                 func(w *Writer) error { w.Write("/a", []int{1}, Layout{}); return w.Attach("/a", 1, "/a") },
		"was discarded":                                 func(w *Writer) error { w.Discard(); return w.Group("/x") },
	} {
		name := filepath.Join(dir, "out.h5")
		w, err := Create(name)
		if err != nil {
			t.Fatal(err)
		}
		first := do(w)
		if first == nil || !strings.Contains(first.Error(), what) {
			t.Errorf("got %v, want %q", first, what)
		}
		w.Write("/later", 1, Layout{})
		if err := w.Close(); !errors.Is(err, first) {
			t.Errorf("Close returned %v", err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%q left %v behind", what, left)
		}
	}
	if _, err := Create(filepath.Join(dir, "absent", "out.h5")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A reference to something never written is found at Close.
func TestDanglingReference(t *testing.T) {
	w, _ := Create(filepath.Join(t.TempDir(), "out.h5"))
	w.Write("/a", Ref{Path: "/nowhere"}, Layout{})
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "/nowhere: it has not been written yet") {
		t.Error(err)
	}
}

// Whatever the shape, type and layout, slabs of what was written come back.
func TestRoundTrip(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out.h5")
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 4).Draw(t, "shape")
		n := 1
		for _, d := range shape {
			n *= d
		}
		l := Layout{Shape: shape, Gzip: rapid.IntRange(0, 2).Draw(t, "gzip"), Shuffle: rapid.Bool().Draw(t, "shuffle"), Fletcher32: rapid.Bool().Draw(t, "sum")}
		if rapid.Bool().Draw(t, "chunks") {
			l.Chunk = rapid.SliceOfN(rapid.IntRange(1, 5), len(shape), len(shape)).Draw(t, "chunk")
		}
		data := rapid.SliceOfN(rapid.Float64(), n, n).Draw(t, "data")
		text := rapid.SliceOfN(rapid.StringMatching(`[^\x00]{0,20}`), 0, 50).Draw(t, "text")
		w, err := Create(name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write("/a/x", data, l)
		w.Write("/a/text", text, Layout{})
		w.Attr("/a", "text", text)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		checkBack(t, f, data, text, shape)
	})
}

func checkBack(t *rapid.T, f *File, data []float64, text []string, shape []int) {
	x, err := f.Dataset("/a/x")
	if err != nil {
		t.Fatal(err)
	}
	got, err := x.Float64s()
	if err != nil || !slices.Equal(got, data) {
		t.Fatalf("got %v, %v; want %v", got, err, data)
	}
	offset, count := make([]int, len(shape)), make([]int, len(shape))
	for i, n := range shape {
		offset[i] = rapid.IntRange(0, n).Draw(t, "offset")
		count[i] = rapid.IntRange(0, n-offset[i]).Draw(t, "count")
	}
	got, err = x.Slab(offset, count).Float64s()
	if w := block(data, shape, offset, count); err != nil || !slices.Equal(got, w) {
		t.Fatalf("slab at %v of %v: got %v, %v; want %v", offset, count, got, err, w)
	}
	s, err := f.Dataset("/a/text")
	if err != nil {
		t.Fatal(err)
	}
	if back, err := s.Strings(); err != nil || !slices.Equal(back, text) {
		t.Fatalf("got %q, %v; want %q", back, err, text)
	}
	a, err := f.Attr("/a", "text")
	if err != nil {
		t.Fatal(err)
	}
	if back, err := a.Strings(); err != nil || !slices.Equal(back, text) {
		t.Fatalf("got %q, %v; want %q", back, err, text)
	}
}
