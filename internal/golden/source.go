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

// unpack copies a file or folder to a temporary folder and returns its path there.
func unpack(t testing.TB, files fs.FS, name string, info fs.FileInfo) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), path.Base(name))
	var err error
	if info.IsDir() {
		if files, err = fs.Sub(files, name); err == nil {
			err = os.CopyFS(to, files)
		}
	} else {
		var b []byte
		if b, err = fs.ReadFile(files, name); err == nil {
			err = os.WriteFile(to, b, 0o644)
		}
	}
	if err != nil {
		t.Fatalf("golden: unpacking %s: %v: free space in the temporary folder, or run make golden-pack", name, err)
	}
	return to
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
