// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
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

// What killed processes left in a folder goes when anything is written there again; what a living one
// writes stays.
func TestAbandoned(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	living, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("left"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(temporary(name))
	write(filepath.Join(temporary(name), fresh, "x"))
	write(temporary(filepath.Join(dir, "b")))
	write(filepath.Join(dir, ".euryale-tmp-mine-12345xyz"))
	theirs := temporary(name) // a folder with something else in it
	write(filepath.Join(theirs, "notes"))
	if err := Write(name, false, text("one")); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 4 { // a, the living one, two of strangers
		t.Errorf("%v, %v", entries, err)
	}
	if _, err := io.WriteString(living, "two"); err != nil || living.Commit() != nil || read(t, name) != "two" {
		t.Errorf("%v", err)
	}
	if err := Sweep(dir); err != nil {
		t.Error(err)
	}
	only(t, dir, "a", ".euryale-tmp-mine-12345xyz", filepath.Base(theirs))
}

// A kill between the two renames of a folder loses neither the old nor the new one.
func TestFolderBetweenItsNames(t *testing.T) {
	for _, newOne := range []bool{true, false} {
		dir := t.TempDir()
		name := filepath.Join(dir, "a")
		tmp := temporary(name)
		for _, part := range []string{old, fresh}[:map[bool]int{true: 2, false: 1}[newOne]] {
			if err := os.MkdirAll(filepath.Join(tmp, part), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(tmp, part, "x"), []byte(part), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		err := Sweep(dir)
		switch {
		case newOne && (err != nil || read(t, filepath.Join(name, "x")) != fresh):
			t.Errorf("the new one: %v", err)
		case !newOne && (err == nil || read(t, filepath.Join(tmp, old, "x")) != old):
			t.Errorf("the old one is lost: %v", err)
		}
	}
}

// Many that write one name at once disturb nobody: each succeeds, and what is there in the
// end is whole.
func TestWritersAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			body := strings.Repeat(fmt.Sprint(w), 1000)
			for range 40 {
				if err := Write(filepath.Join(dir, "file"), true, text(body)); err != nil {
					t.Error(err)
				}
				err := Folder(filepath.Join(dir, "folder"), true, func(string) bool { return true }, func(d string) error {
					return os.WriteFile(filepath.Join(d, "x"), []byte(body), 0o644)
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, name := range []string{"file", "folder/x"} {
		if b := read(t, filepath.Join(dir, name)); len(b) != 1000 || strings.Trim(b, b[:1]) != "" {
			t.Errorf("%s: %.20q", name, b)
		}
	}
	only(t, dir, "file", "folder")
}

// An operation that a test lets fail fails with its error and the final name, nothing is left
// behind, and what stood there before still does. Others go on.
func TestInjectedFaults(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	if err := Write(name, false, text("one")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	all := func(w io.Writer) error { _, err := w.Write([]byte("two")); return err }
	at := func(w io.Writer) error { _, err := w.(io.WriterAt).WriteAt([]byte("two"), 0); return err }
	for _, write := range []func(io.Writer) error{all, at} {
		for _, bad := range []string{"create", "write", "sync", "rename"} {
			restore := Inject(func(op, _ string) error {
				if op == bad {
					return broken
				}
				return nil
			})
			err := Write(name, true, write)
			restore()
			if p := (*fs.PathError)(nil); !errors.Is(err, broken) || !errors.As(err, &p) || p.Op != bad || p.Path != name || read(t, name) != "one" {
				t.Errorf("%s: %v", bad, err)
			}
			only(t, dir, "a")
		}
		restore := Inject(func(string, string) error { return nil })
		if err := Write(name, true, write); err != nil || read(t, name) != "two" {
			t.Error(err)
		}
		restore()
		if err := Write(name, true, text("one")); err != nil {
			t.Fatal(err)
		}
	}
}

// A file that is dropped or has its name is closed, and so is the mark that it was held by.
func TestFilesAreClosed(t *testing.T) {
	for what, end := range map[string]func(f *File){"Discard": (*File).Discard, "Commit": func(f *File) { f.Commit() }} {
		f, err := Create(filepath.Join(t.TempDir(), "a"))
		if err != nil {
			t.Fatal(err)
		}
		file, held := f.File, f.held
		end(f)
		if _, err := file.Stat(); !errors.Is(err, fs.ErrClosed) || held.Locked() {
			t.Errorf("%s: the file is open: %v, held: %t", what, err, held.Locked())
		}
	}
}

// A file that must be new replaces none that appeared while it was written, however many write it at once.
func TestNewFilesReplaceNone(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	var wg sync.WaitGroup
	var wrote atomic.Int32
	ready := make(chan struct{})
	var all sync.WaitGroup
	all.Add(8)
	go func() { all.Wait(); close(ready) }()
	for k := range 8 {
		wg.Go(func() {
			err := Write(name, false, func(w io.Writer) error {
				all.Done()
				<-ready // all have seen that there is no file
				_, err := fmt.Fprint(w, k)
				return err
			})
			if err == nil {
				if b, err := os.ReadFile(name); err != nil || string(b) != fmt.Sprint(k) {
					t.Errorf("%q, %v: want %d", b, err, k)
				}
				wrote.Add(1)
			} else if !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if wrote.Load() != 1 {
		t.Errorf("%d files were written", wrote.Load())
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}
