// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
)

// What cannot be written is known before, with what to do, and the look leaves nothing behind.
func TestMayWrite(t *testing.T) {
	dir := t.TempDir()
	a := frame.New(nil, "euryale", io.Discard, io.Discard)
	file, closed := filepath.Join(dir, "a.csv"), filepath.Join(dir, "closed")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(closed, 0o555); err != nil {
		t.Fatal(err)
	}
	for out, want := range map[string]string{
		filepath.Join(dir, "new.csv"):         "",
		file:                                  "exists",
		dir:                                   "is a folder",
		filepath.Join(dir, "none", "new.csv"): "there is no folder " + filepath.Join(dir, "none"),
		filepath.Join(file, "new.csv"):        "is a file and no folder",
		filepath.Join(closed, "new.csv"):      "takes no new files",
	} {
		if os.Geteuid() == 0 && filepath.Dir(out) == closed {
			continue // who may everything
		}
		err := a.MayWrite(out, "file", false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || exit.CodeOf(err) != exit.CannotWrite) {
			t.Errorf("%s: %v, want %q", out, err, want)
		}
	}
	if err := a.MayWrite(file, "file", true); err != nil {
		t.Error(err)
	}
	other := frame.New(nil, "euryale", io.Discard, io.Discard)
	if err := other.MayWrite(file, "file", true); exit.CodeOf(err) != exit.CannotWrite || !strings.Contains(err.Error(), "is being written by process") {
		t.Errorf("a file that another command is writing: %v", err)
	}
	a.Release()
	if err := other.MayWrite(file, "file", true); err != nil {
		t.Error(err)
	}
	other.Release()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v %v", entries, err)
	}
}
