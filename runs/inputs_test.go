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
		"as old":       {func() { put(file, "1,3", then) }, "data.csv had 3 bytes"},
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
