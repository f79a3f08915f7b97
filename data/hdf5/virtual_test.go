// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// virtualSeeds are files in testdata/virtual made with h5py by
// testdata/make_virtual.py.
var virtualSeeds = []string{"earliest", "latest"}

// Virtual datasets hold what the HDF5 library reads through them, which want.h5
// has plainly: whole and in blocks.
func TestVirtual(t *testing.T) {
	want := open(t, "testdata/virtual/want.h5")
	keys, err := want.Keys("/")
	if err != nil || len(keys) < 40 {
		t.Fatal(keys, err)
	}
	for _, name := range virtualSeeds {
		f := open(t, "testdata/virtual/"+name+".h5")
		for _, k := range keys {
			d, w := get(t, f, k), get(t, want, k)
			if !slices.Equal(d.Shape(), w.Shape()) {
				t.Errorf("%s %s: shape %v, want %v", name, k, d.Shape(), w.Shape())
				continue
			}
			got, err := d.Float64s()
			whole, err2 := w.Float64s()
			if err != nil || err2 != nil || !slices.Equal(got, whole) {
				t.Errorf("%s %s: %v, %v\n%v, want\n%v", name, k, err, err2, got, whole)
				continue
			}
			checkSlabs(t, d, whole)
		}
	}
}

// Sources that do not exist are told; a series of files that has no end has none.
func TestVirtualMissing(t *testing.T) {
	for _, name := range virtualSeeds {
		f := open(t, "testdata/virtual/"+name+".h5")
		for key, want := range map[string]bool{"absent": true, "noparts": false} {
			d := get(t, f, "/"+key)
			if missing, err := d.Missing(); err != nil || len(missing) > 0 != want || len(missing) > len(d.Sources()) {
				t.Errorf("%s %s: %v, %v", name, key, missing, err)
			}
		}
	}
	if missing, err := get(t, open(t, "testdata/virtual/want.h5"), "/absent").Missing(); missing != nil || err != nil {
		t.Errorf("a plain dataset lacks %v, %v", missing, err)
	}
}

// What cannot be read says why.
func TestVirtualRefused(t *testing.T) {
	for _, name := range virtualSeeds {
		f := open(t, "testdata/virtual/"+name+".h5")
		for key, want := range map[string]string{
			"self": "more than 8 virtual datasets refer to one another", "ping": "more than 8 virtual datasets refer to one another",
			"parent": "../outside.h5, which is not in the folder of the file or below", "absolute": "/nowhere/outside.h5, which is not in the folder",
			"link": "neither in the folder of the virtual dataset", "short": "the mapping takes element [0] and those after it from the source", "rank": "the mapping takes 48 elements of a.h5:plain for 8",
			"text": "refer to objects of the source", "type": "its elements are int32, but those of the source", "nofile": "text.txt, which cannot be read",
		} {
			d, err := f.Dataset("/refused/" + key)
			if err == nil {
				_, err = d.Bytes()
			}
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "refused/") && key != "link" || !errors.As(err, new(*FormatError)) {
				t.Errorf("%s %s: %v, want %q", name, key, err, want)
			}
		}
		if v, err := get(t, f, "/refused/near").Slab([]int{0, 0}, []int{1, 3}).Int64s(); err != nil || !slices.Equal(v, []int64{0, 1, 2}) {
			t.Errorf("a source of an absolute name beside the file: %v, %v", v, err)
		}
	}
}

// Files outside the folder of a virtual dataset are opened on request only.
func TestVirtualAnyFolder(t *testing.T) {
	for _, any := range []bool{false, true} {
		f := open(t, "testdata/virtual/sub/b.h5")
		f.AnyFolder = any
		v, err := get(t, f, "/v").Int64s()
		if any && (err != nil || len(v) != 48 || v[9] != 9) || !any && !errors.Is(err, fs.ErrPermission) {
			t.Errorf("any folder %t: %v, %v", any, v, err)
		}
	}
}

// A File of Read has no folder, but its own datasets.
func TestVirtualWithoutFolder(t *testing.T) {
	r, err := os.Open("testdata/virtual/latest.h5")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info, _ := r.Stat()
	f, err := Read(r, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	if v, err := get(t, f, "/same").Int64s(); err != nil || v[0] != 600 {
		t.Error(v, err)
	}
	if _, err := get(t, f, "/whole").Int64s(); err == nil || !strings.Contains(err.Error(), "no folder") {
		t.Error(err)
	}
}

func TestSources(t *testing.T) {
	f := open(t, "testdata/virtual/latest.h5")
	want(t, get(t, f, "/stack").Sources(), nil, []Source{{"a.h5", "plain"}, {"a.h5", "chunked"}, {"sub/b.h5", "x"}})
	want(t, get(t, f, "/parts").Sources(), nil, []Source{{"part_%b.h5", "x"}})
	want(t, get(t, f, "/own").Sources(), nil, nil)
}

// A source is looked for from the folder of the file and, if its name is
// absolute, in that folder too.
func TestSourcePath(t *testing.T) {
	f := open(t, "testdata/virtual/latest.h5")
	tree, err := filepath.Abs("testdata/virtual")
	if err != nil {
		t.Fatal(err)
	}
	for _, any := range []bool{false, true} {
		f.AnyFolder = any
		for name, want := range map[string]string{
			"a.h5": "testdata/virtual/a.h5", "sub/../a.h5": "testdata/virtual/a.h5", "sub/none.h5": "testdata/virtual/sub/none.h5",
			tree + "/a.h5": tree + "/a.h5", tree + "/none/a.h5": "testdata/virtual/a.h5", "/none/a.h5": "testdata/virtual/a.h5",
			"../other.h5": "testdata/other.h5", "/none/b.h5": "/none/b.h5", tree + "/../tiny/none.h5": filepath.Join(tree, "../tiny/none.h5"),
		} {
			refused := !any && (strings.Contains(name, "other") || strings.Contains(name, "none/b") || strings.Contains(name, "tiny"))
			got, err := f.sourcePath(name)
			if refused != errors.Is(err, fs.ErrPermission) || !refused && (err != nil || got != filepath.FromSlash(want)) {
				t.Errorf("%s, any folder %t: %s, %v, want %s", name, any, got, err, want)
			}
		}
	}
}

// Many more sources than are kept open, read by several goroutines, then
// closed.
func TestManySources(t *testing.T) {
	f := open(t, "testdata/virtual/latest.h5")
	pool := f.pool()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				for _, k := range []string{"/stack", "/weave", "/parts", "/deep", "/chunked"} {
					d, err := f.Dataset(k)
					if err == nil || k == "/deep" {
						_, err = d.Float64s()
					}
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	for _, s := range pool.open {
		if s.refs != 0 {
			t.Errorf("%s has %d readers", s.name, s.refs)
		}
	}
	d := get(t, f, "/stack")
	f.Close()
	if _, err := d.Float64s(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	p := &sourcePool{open: map[string]*sourceFile{}}
	for i := range 3 * mostSources {
		g, err := Open("testdata/other.h5")
		if err != nil {
			t.Fatal(err)
		}
		p.trim()
		p.clock++
		p.open[string(rune('a'+i))] = &sourceFile{File: g, used: p.clock, refs: (i + 1) % 2 * (i / 90)}
	}
	if len(p.open) != mostSources || p.open[string(rune('a'+3*mostSources-1))] == nil {
		t.Errorf("%d files are open", len(p.open))
	}
	p.close()
}

// A virtual dataset may be larger than its own file allows if its sources are.
func TestVirtualLimit(t *testing.T) {
	dir := t.TempDir()
	b, err := os.ReadFile("testdata/virtual/latest.h5")
	if err != nil {
		t.Fatal(err)
	}
	a, err := os.ReadFile("testdata/virtual/a.h5")
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(dir, "v.h5"), b, 0o644)
	os.WriteFile(filepath.Join(dir, "a.h5"), a, 0o644)
	f := open(t, filepath.Join(dir, "v.h5"))
	d := get(t, f, "/whole")
	f.openBytes, f.MaxBytes = 100, 100
	if _, err := d.Int32s(); err != nil {
		t.Error("limit as Open set it:", err)
	}
	f.MaxBytes = 101
	if _, err := d.Int32s(); err == nil || !strings.Contains(err.Error(), "exceed the limit of 101 bytes") {
		t.Error("limit that was set:", err)
	}
	if most := d.more(); most != 0 {
		t.Error(most)
	}
	f.openBytes, f.MaxBytes = 1<<20, 1<<20
	if most, least := get(t, f, "/nested").more(), int64(len(a))*maxRatio; most < least {
		t.Errorf("sources of sources add %d, want at least %d", most, least)
	}
	if most, least := d.more(), int64(len(a))*maxRatio; most < least {
		t.Errorf("sources add %d, want at least %d", most, least)
	}
}
