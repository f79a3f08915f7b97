// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/tensor"
)

// version3 returns a store of testdata/v3.py as files.
func version3(t *testing.T, store string) fstest.MapFS {
	t.Helper()
	z, err := zip.OpenReader("testdata/v3.zip")
	must(t, err)
	defer z.Close()
	out := fstest.MapFS{}
	for _, f := range z.File {
		if name, ok := strings.CutPrefix(f.Name, store+"/"); ok {
			b, err := fs.ReadFile(z, f.Name)
			must(t, err)
			out[name] = &fstest.MapFile{Data: b}
		}
	}
	return out
}

// scaled returns 0, 1, 2, ... divided by a number.
func scaled(n int, by float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i) / by
	}
	return out
}

// Stores that xarray, ArviZ 1 and zarr-python write in version 3 have the values of testdata/v3.py: with every codec, shards and
// transposed chunks.
func TestVersion3(t *testing.T) {
	for _, by := range []string{"xarray", "arviz"} {
		tree, err := zarr.Read(version3(t, by))
		must(t, err)
		post, err := tree.Group("posterior")
		must(t, err)
		mu, theta := post.Var("mu"), post.Var("theta")
		if !slices.Equal(mu.Floats(), scaled(60, 8)) || !slices.Equal(theta.Floats(), scaled(180, 16)) || !slices.Equal(theta.Dims, []string{"chain", "draw", "school"}) || post.Coord("school").Text(2) != "ccc" {
			t.Errorf("%s: %v", by, post)
		}
		if v := post.Var("ok"); by == "xarray" && (v.DType() != "bool" || v.Text(0) != "true" || v.Text(1) != "false" || mu.Attrs["_FillValue"] != "") {
			t.Error(v, mu.Attrs)
		}
	}
	tree, err := zarr.Read(version3(t, "codecs"))
	must(t, err)
	post, err := tree.Group("posterior")
	must(t, err)
	for _, name := range []string{"zstd", "gzip", "blosc", "turned", "shards", "shards_begin"} {
		if got := post.Var(name).Floats(); !slices.Equal(got, scaled(60, 8)) {
			t.Errorf("%s: %v", name, got)
		}
	}
	for i := range 60 {
		want := 7.5
		if i < 10 {
			want = 1
		}
		if got := post.Var("filled").Floats()[i]; got != want || post.Var("dots").Floats()[i] != float64(i/8) || post.Var("words").Text(i) != fmt.Sprint("w", i) {
			t.Fatalf("element %d: %v, %v, %v", i, got, post.Var("dots").Floats()[i], post.Var("words").Text(i))
		}
	}
}

// A flipped bit in a chunk with a checksum is found, and what cannot be read is named.
func TestVersion3Refuses(t *testing.T) {
	edit := func(file, old, text string) func(fstest.MapFS) {
		return func(s fstest.MapFS) {
			b := bytes.Replace(s[file].Data, []byte(old), []byte(text), 1)
			if bytes.Equal(b, s[file].Data) {
				t.Errorf("%s has no %s", file, old)
			}
			s[file] = &fstest.MapFile{Data: b}
		}
	}
	const p = "posterior/"
	for want, change := range map[string]func(fstest.MapFS){
		"CRC-32C": func(s fstest.MapFS) { s[p+"turned/c/0/0"].Data[3] ^= 1 }, "its CRC-32C is": func(s fstest.MapFS) {
			b := s[p+"shards/c/0/0"].Data
			b[len(b)-9] ^= 1 // in the index
		},
		`coded by "bytez"`: edit(p+"zstd/zarr.json", `"bytes"`, `"bytez"`), `the data type is "complex64"`: edit(p+"zstd/zarr.json", `"float64"`, `"complex64"`),
		`the grid "odd"`: edit(p+"zstd/zarr.json", `"regular"`, `"odd"`), "zarr_format is 4": edit(p+"zstd/zarr.json", `"zarr_format": 3`, `"zarr_format": 4`),
		"needs more memory": edit(p+"filled/zarr.json", "    30", "    3000000000"), "the chunk has 56 bytes, want 72": edit(p+"zstd/zarr.json", "      7", "      9"),
		"no permutation": edit(p+"turned/zarr.json", "          1,\n          0", "          1,\n          1"),
	} {
		s := version3(t, "codecs")
		change(s)
		if _, err := zarr.Read(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// What Write writes in version 3 is read as it was, packed or not, and its chunks may not go missing; the store may be replaced, and other
// files in it may not.
func TestWriteVersion3(t *testing.T) {
	for _, s := range []zarr.Settings{{Format: 3}, {Format: 3, Zlib: 4, ChunkBytes: 64}} {
		name := filepath.Join(t.TempDir(), "a.zarr")
		want := sample(t)
		must(t, zarr.Write(name, want, s))
		got, err := zarr.Open(name)
		must(t, err)
		same(t, got, want)
		s.Overwrite = true
		must(t, zarr.Write(name, want, s))
		if !zarr.Is(name) {
			t.Error("it is no store")
		}
		chunks, _ := filepath.Glob(name + "/posterior/*/c/0*")
		if len(chunks) == 0 {
			t.Fatal("no chunks")
		}
		must(t, os.RemoveAll(chunks[0]))
		if _, err := zarr.Open(name); err == nil || !strings.Contains(err.Error(), "chunks are missing") {
			t.Error(err)
		}
		must(t, os.WriteFile(filepath.Join(name, "notes.txt"), nil, 0o644))
		if err := zarr.Write(name, want, s); err == nil || !strings.Contains(err.Error(), "notes.txt") {
			t.Error(err)
		}
	}
	if _, err := zarr.Create(filepath.Join(t.TempDir(), "s.zarr"), tensor.NewDataTree(), zarr.Settings{Format: 3}); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Error(err)
	}
}

func TestXarrayOpensVersion3(t *testing.T) {
	py := peer.Python(t, "xarray", "zarr")
	for name, s := range map[string]zarr.Settings{"plain": {Format: 3}, "packed": {Format: 3, Zlib: 5, ChunkBytes: 64}} {
		path := filepath.Join(t.TempDir(), name+".zarr")
		tree := sample(t)
		must(t, zarr.Write(path, tree, s))
		py.Compare(t, "zarr", path, tree)
	}
}
