// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/tensor"
)

// A changed byte, a missing file and a cut file of a store are errors wherever they are, unless the arrays are the same.
func TestDamageIsFound(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.zarr")
	must(t, zarr.Write(name, sample(t), zarr.Settings{ChunkBytes: 400}))
	clean, err := zarr.Open(name)
	must(t, err)
	want := dump(clean)
	var files []string
	must(t, filepath.WalkDir(name, func(p string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			files = append(files, p)
		}
		return err
	}))
	silent := func() bool {
		got, err := zarr.Open(name)
		return err == nil && dump(got) != want
	}
	r := rand.New(rand.NewPCG(7, 8))
	for _, p := range files {
		whole, err := os.ReadFile(p)
		must(t, err)
		for range 20 {
			b := bytes.Clone(whole)
			at := r.IntN(len(b))
			b[at] ^= byte(1 + r.IntN(255))
			must(t, os.WriteFile(p, b, 0o666))
			if silent() {
				t.Errorf("byte %d of %s was %q, is %q, and nobody is told", at, p, whole[at], b[at])
			}
		}
		must(t, os.WriteFile(p, whole[:len(whole)/2], 0o666))
		if silent() {
			t.Errorf("half of %s is missing, and nobody is told", p)
		}
		must(t, os.Remove(p))
		if silent() {
			t.Errorf("%s is missing, and nobody is told", p)
		}
		must(t, os.WriteFile(p, whole, 0o666))
	}
}

// A stream of an older version, without checksums, goes on as it is.
func TestStreamsWithoutChecksumsGoOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.zarr")
	s, err := zarr.Create(path, layout(t), zarr.Settings{ChunkDraws: 10})
	must(t, err)
	must(t, draw(s, 0, 0, 25), draw(s, 1, 0, 25), draw(s, 2, 0, 25), s.Close())
	withoutChecksums(t, path)
	s, err = zarr.Reopen(path, map[string]int{"posterior": 25, "sample_stats": 25})
	must(t, err)
	must(t, draw(s, 0, 25, 37), draw(s, 1, 25, 37), draw(s, 2, 25, 37), s.Close())
	checkDraws(t, path, 37)
	b, err := os.ReadFile(filepath.Join(path, ".zmetadata"))
	must(t, err)
	if bytes.Contains(b, []byte("zlib")) {
		t.Error("some arrays have another compressor than their first chunks")
	}
}

// withoutChecksums makes a store what older versions wrote.
func withoutChecksums(t *testing.T, store string) {
	must(t, filepath.WalkDir(store, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		must(t, err)
		if d.Name()[0] == '.' {
			b = bytes.ReplaceAll(b, []byte(`{"id":"zlib","level":0}`), []byte("null"))
		} else {
			z, err := zlib.NewReader(bytes.NewReader(b))
			must(t, err)
			b, err = io.ReadAll(z)
			must(t, err)
		}
		return os.WriteFile(p, b, 0o666)
	}))
}

// dump returns all that a tree holds, whatever the order.
func dump(tree *tensor.DataTree) string {
	list := []string{fmt.Sprint(tree.Attrs)}
	for _, d := range tree.Groups() {
		list = append(list, fmt.Sprint(d.Name, d.Attrs))
		for _, v := range append(append([]tensor.Variable{}, d.Coords()...), d.Vars()...) {
			list = append(list, fmt.Sprint(d.Name, v.Name, v.Dims, v.Shape, v.Data, v.Attrs))
		}
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}
