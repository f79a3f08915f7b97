// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"archive/zip"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// source is a place that has a topic. File names begin with the topic.
type source struct {
	files fs.FS
	dir   string // folder behind files; empty if they are packed
}

// find returns the first place that has the topic of name.
func find(t testing.TB, name string) source {
	t.Helper()
	topic, _, _ := strings.Cut(name, "/")
	top := moduleRoot(t)
	dirs := []string{filepath.Join(top, "..", "shared", "reference")}
	if dir := os.Getenv("EURYALE_REFERENCE"); dir != "" {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(start, dir)
		}
		if _, err := os.ReadDir(dir); err != nil {
			t.Fatalf("golden: EURYALE_REFERENCE: %v: name an existing folder by its absolute path, or unset the variable", err)
		}
		dirs = append([]string{dir}, dirs...)
	}
	for _, dir := range dirs {
		if info, err := os.Stat(filepath.Join(dir, topic)); err == nil && info.IsDir() {
			return source{os.DirFS(dir), dir}
		}
	}
	z, err := packed(filepath.Join(top, "internal", "golden", "testdata", topic+".zip"))
	if errors.Is(err, fs.ErrNotExist) {
		missing(t, name)
	}
	if err != nil {
		t.Fatalf("golden: %v: run make golden-pack", err)
	}
	return source{files: z}
}

var archives = struct {
	sync.Mutex
	open map[string]*zip.ReadCloser
}{open: map[string]*zip.ReadCloser{}}

// packed opens a zip once; it stays open while the tests run.
func packed(name string) (*zip.ReadCloser, error) {
	archives.Lock()
	defer archives.Unlock()
	if z := archives.open[name]; z != nil {
		return z, nil
	}
	z, err := zip.OpenReader(name)
	if err == nil {
		archives.open[name] = z
	}
	return z, err
}

// unpack copies a folder, or a file with the other files of its folder (readers look for neighbours),
// to a temporary folder and returns its path there.
func unpack(t testing.TB, files fs.FS, name string, info fs.FileInfo) string {
	t.Helper()
	if info.IsDir() {
		to := filepath.Join(t.TempDir(), path.Base(name))
		sub, err := fs.Sub(files, name)
		if err == nil {
			err = os.CopyFS(to, sub)
		}
		if err != nil {
			unpackFailed(t, name, err)
		}
		return to
	}
	return filepath.Join(unpackSiblings(t, files, path.Dir(name)), path.Base(name))
}

type testFolder struct {
	t    testing.TB
	name string
}

// siblings remembers what a running test has unpacked, so that a loop over files copies them once.
var siblings sync.Map // testFolder -> path

// unpackSiblings copies the files of a folder, without its subfolders, once for a test.
func unpackSiblings(t testing.TB, files fs.FS, folder string) string {
	t.Helper()
	key := testFolder{t, folder}
	if to, ok := siblings.Load(key); ok {
		return to.(string)
	}
	to := t.TempDir()
	entries, err := fs.ReadDir(files, folder)
	for _, e := range entries {
		if e.IsDir() || err != nil {
			continue
		}
		var b []byte
		if b, err = fs.ReadFile(files, path.Join(folder, e.Name())); err == nil {
			err = os.WriteFile(filepath.Join(to, e.Name()), b, 0o644)
		}
	}
	if err != nil {
		unpackFailed(t, folder, err)
	}
	siblings.Store(key, to)
	t.Cleanup(func() { siblings.Delete(key) })
	return to
}

func unpackFailed(t testing.TB, name string, err error) {
	t.Helper()
	t.Fatalf("golden: unpacking %s: %v: free space in the temporary folder, or run make golden-pack", name, err)
}

// start is the folder of the package under test, recorded before tests can change it.
var start, _ = os.Getwd()

// moduleRoot returns the folder of go.mod.
func moduleRoot(t testing.TB) string {
	t.Helper()
	for dir := start; ; {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatalf("golden: no go.mod above %s: run the tests inside the repository", start)
		}
		dir = up
	}
}
