// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/runs"
)

// A file that was replaced, cut or removed since a run began is told; one that was copied back is the same.
func TestChangedInputs(t *testing.T) {
	dir := runs.Folder(t.TempDir())
	if err := dir.Unchanged(); err != nil {
		t.Errorf("a run that recorded nothing: %v", err)
	}
	lib := t.TempDir()
	file, part := filepath.Join(t.TempDir(), "data.csv"), filepath.Join(lib, "arm.h5")
	put := func(name, text string, at time.Time) {
		t.Helper()
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o644), os.Chtimes(name, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	whole := func() { put(file, "1,2", then); put(part, "arm", then) }
	whole()
	if err := dir.Record(file, lib, ""); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func()
		says   string
	}{
		"nothing":      {func() {}, ""},
		"copied back":  {func() { put(file, "1,2", then.Add(time.Minute)) }, ""},
		"other values": {func() { put(file, "1,3", then.Add(time.Minute)) }, "it now has 3 bytes"},
		"as old":       {func() { put(file, "1,3", then) }, "it now has the same size and time, but other bytes"},
		"cut":          {func() { put(file, "1", then) }, "it now has 1 byte "},
		"library":      {func() { put(part, "mra", time.Now()) }, "arm.h5 had 3 bytes"},
		"another arm":  {func() { put(filepath.Join(lib, "more.h5"), "x", then) }, "it now has 2 files (arm.h5, more.h5)"},
		"removed":      {func() { os.Remove(file) }, "it is not there now"},
	} {
		os.Remove(filepath.Join(lib, "more.h5"))
		whole()
		c.change()
		err := dir.Unchanged()
		var changed *runs.ChangedError
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.says != "" && (!errors.As(err, &changed) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "begin a new run")):
			t.Errorf("%s: %v", name, err)
		}
		if name == "removed" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
	}
}

// A file that is too large to be read as a whole is told from one of the same size and time by parts of it, and by its time where the
// bytes between these differ.
func TestChangedLargeInputs(t *testing.T) {
	const size = 300 << 20
	dir, file := runs.Folder(t.TempDir()), filepath.Join(t.TempDir(), "movie.h5")
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	f, err := os.Create(file) // a file of holes
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	put := func(at int64, b byte, when time.Time) {
		t.Helper()
		_, err := f.WriteAt([]byte{b}, at)
		if err := errors.Join(err, os.Chtimes(file, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	put(size-1, 0, then)
	if err := dir.Record(file); err != nil {
		t.Fatal(err)
	}
	if err := dir.Unchanged(); err != nil {
		t.Errorf("the same file: %v", err)
	}
	var changed *runs.ChangedError
	for _, at := range []int64{0, 1<<20 - 1, (size - 1<<20) * 15 / 31, size - 1<<20, size - 1} {
		put(at, 1, then)
		if err := dir.Unchanged(); !errors.As(err, &changed) || strings.Contains(err.Error(), "it is not there now") {
			t.Errorf("byte %d of another value at the same time: %v", at, err)
		}
		put(at, 0, then)
	}
	const between = 5 << 20
	put(between, 1, then)
	if err := dir.Unchanged(); err != nil {
		t.Errorf("byte %d is in none of the parts: %v", between, err)
	}
	put(between, 1, then.Add(time.Minute))
	if err := dir.Unchanged(); !errors.As(err, &changed) {
		t.Errorf("another time: %v", err)
	}
}
