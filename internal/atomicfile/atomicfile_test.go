package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// only checks that dir holds nothing but names.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(names) {
		t.Errorf("%s holds %v, %v, want %v", dir, entries, err, names)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	broken := errors.New("broken")
	if err := Write(name, false, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	only(t, dir)
	if err := Write(name, false, text("one")); err != nil || read(t, name) != "one" {
		t.Error(err)
	}
	if err := Write(name, false, text("two")); !errors.Is(err, fs.ErrExist) || read(t, name) != "one" {
		t.Error(err)
	}
	if err := Write(name, true, text("two")); err != nil || read(t, name) != "two" {
		t.Error(err)
	}
	only(t, dir, "a")
	if err := Write(filepath.Join(dir, "no", "a"), true, text("")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	put := func(s string) func(string) error {
		return func(d string) error { return os.WriteFile(filepath.Join(d, "x"), []byte(s), 0o644) }
	}
	yes, no := func(string) bool { return true }, func(string) bool { return false }
	broken := errors.New("broken")
	if err := Folder(name, false, yes, func(string) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	only(t, dir)
	if err := Folder(name, false, yes, put("one")); err != nil {
		t.Error(err)
	}
	if err := Folder(name, false, yes, put("two")); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := Folder(name, true, no, put("two")); !errors.Is(err, fs.ErrExist) || read(t, filepath.Join(name, "x")) != "one" {
		t.Error(err)
	}
	if err := Folder(name, true, yes, put("two")); err != nil || read(t, filepath.Join(name, "x")) != "two" {
		t.Error(err)
	}
	only(t, dir, "a")
}
