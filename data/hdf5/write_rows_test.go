// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestRows compares a dataset written by rows with one written at once.
func TestRows(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rows.h5")
	w, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	const n, h, wide = 7, 130, 300
	data := make([]uint16, n*h*wide)
	for i := range data {
		data[i] = uint16(i * i >> 3)
	}
	for key, l := range map[string]Layout{"/a/plain": {Shape: []int{n, h, wide}}, "/a/packed": {Shape: []int{n, h, wide}, Gzip: 2, Shuffle: true},
		"/a/chunks": {Shape: []int{n, h, wide}, Chunk: []int{1, 50, 77}, Fletcher32: true}} {
		r, err := w.Rows(key, data[:0], l)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if err := r.Append(data[i*h*wide : (i+1)*h*wide]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, key := range []string{"/a/plain", "/a/packed", "/a/chunks"} {
		d, err := f.Dataset(key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range data {
			if got[i] != float64(v) {
				t.Fatalf("%s: element %d is %v, want %v", key, i, got[i], v)
			}
		}
	}
}

// TestRowsMistakes checks that missing, surplus and wrong rows are told.
func TestRowsMistakes(t *testing.T) {
	for want, f := range map[string]func(w *Writer) error{
		"1 of its 2 rows": func(w *Writer) error {
			r, _ := w.Rows("/x", []float32(nil), Layout{Shape: []int{2, 3}})
			return r.Append([]float32{1, 2, 3})
		},
		"all of its 1 rows": func(w *Writer) error {
			r, _ := w.Rows("/x", []float32(nil), Layout{Shape: []int{1, 3}})
			r.Append([]float32{1, 2, 3})
			return r.Append([]float32{1, 2, 3})
		},
		"differ in type": func(w *Writer) error {
			r, _ := w.Rows("/x", []float32(nil), Layout{Shape: []int{1, 3}})
			return r.Append([]float64{1, 2, 3})
		},
		"needs 3 elements": func(w *Writer) error {
			r, _ := w.Rows("/x", []float32(nil), Layout{Shape: []int{1, 3}})
			return r.Append([]float32{1, 2})
		},
		"at least two axes": func(w *Writer) error { _, err := w.Rows("/x", []float32(nil), Layout{Shape: []int{3}}); return err },
		"variable length":   func(w *Writer) error { _, err := w.Rows("/x", []string(nil), Layout{Shape: []int{1, 3}}); return err },
	} {
		w, err := Create(filepath.Join(t.TempDir(), "rows.h5"))
		if err != nil {
			t.Fatal(err)
		}
		f(w)
		if err := w.Close(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}
