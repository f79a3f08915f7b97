// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path"
	"slices"
	"testing"
	"testing/fstest"
)

// Equal files give equal bytes, whatever their order and times.
func TestPack(t *testing.T) {
	files := fstest.MapFS{"a/x/2.txt": {Data: []byte("two")}, "a/x/1.txt": {Data: []byte("one")}, "a/y.json": {Data: []byte("{}")}, "a/z": {}}
	one, n, err := pack(files, "a", []string{"y.json", "x", "*.json"})
	if err != nil || n != 3 {
		t.Fatal(n, err)
	}
	two, _, err := pack(files, "a", []string{"x", "y.json"})
	if err != nil || !bytes.Equal(one, two) {
		t.Error("the bytes depend on the order of the patterns")
	}
	z, err := zip.NewReader(bytes.NewReader(one), int64(len(one)))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := fs.ReadFile(z, "a/x/1.txt"); err != nil || string(b) != "one" {
		t.Errorf("read %q: %v", b, err)
	}
	if _, _, err := pack(files, "a", []string{"none"}); err == nil {
		t.Error("a pattern without files is no error")
	}
}

// What others own is in no zip.
func TestOnlyOwnFilesArePacked(t *testing.T) {
	for topic := range packed {
		z, err := zip.OpenReader("../testdata/" + topic + ".zip")
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		for _, pattern := range []string{"inference/posteriors/*-*.json", "scatter/coreshell_ref/*", "spectra/sdss/*", "assemblies/parser_grammars.json", "assemblies/learner*"} {
			for _, f := range z.File {
				if ok, _ := path.Match(pattern, f.Name); ok {
					t.Errorf("%s.zip has %s: see the README beside it for why it must not", topic, f.Name)
				}
			}
		}
	}
}

// The zips hold what the reference beside the repository has, where there is one.
func TestPackedIsCurrent(t *testing.T) {
	reference := os.DirFS("../../../../shared/reference")
	if _, err := fs.Stat(reference, "README.md"); err != nil {
		t.Skip("no reference beside the repository")
	}
	for topic, patterns := range packed {
		z, err := zip.OpenReader("../testdata/" + topic + ".zip")
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		var have []string
		for _, f := range z.File {
			have = append(have, f.Name)
		}
		want, err := list(reference, topic, patterns)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(have, want) {
			t.Errorf("%s.zip has %d files, the reference %d: run make golden-pack", topic, len(have), len(want))
			continue
		}
		for _, name := range want {
			a, errA := fs.ReadFile(z, name)
			b, errB := fs.ReadFile(reference, name)
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("%s is not that of the reference (%v, %v): run make golden-pack", name, errA, errB)
			}
		}
	}
}
