// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An object that is damaged is passed over, and all others are visited.
func TestWalkPassesOverDamage(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.h5")
	w, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"/a/one", "/a/two", "/b/three", "/c/four"} {
		w.Write(p, []float64{1, 2}, Layout{})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]uint64{}
	root, err := f.rootObject()
	if err == nil {
		err = f.walkObjects(root, func(o object) error { at[o.path] = o.head.addr; return nil })
	}
	f.Close()
	if err != nil {
		t.Fatal(err)
	}
	for hurt, want := range map[string][]string{
		"/a/one": {"/a", "/a/two", "/b", "/b/three", "/c", "/c/four"},
		"/a":     {"/b", "/b/three", "/c", "/c/four"},
	} {
		b := bytes.Clone(whole)
		for i := range 8 {
			b[at[hurt]+uint64(i)] ^= 0xff
		}
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		err = f.Walk(func(p string, _ bool) error { seen = append(seen, p); return nil })
		slices.Sort(seen)
		var lost *LostError
		if !errors.As(err, &lost) || len(lost.Lost) != 1 || !strings.Contains(err.Error(), hurt) || !errors.As(err, new(*FormatError)) {
			t.Errorf("%s damaged: %v", hurt, err)
		}
		if !slices.Equal(seen, want) {
			t.Errorf("%s damaged: visited %v, want %v", hurt, seen, want)
		}
		if err := f.Walk(func(string, bool) error { return fs.SkipAll }); err != nil {
			t.Errorf("a walk that was ended: %v", err)
		}
		f.Close()
	}
}
