// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package foreign_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/euryale-dev/euryale/internal/foreign"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes here:", err)
	}
	for name, want := range map[string]string{pipe: "is a pipe", dir: "is a folder", os.DevNull: "is a device"} {
		if _, err := foreign.ReadFile(name); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if _, err := foreign.Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	name := filepath.Join(dir, "file")
	if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := foreign.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); string(b) != "text" || err != nil {
		t.Error(b, err)
	}
}

// What is no regular file is refused in file systems too, without waiting for it.
func TestOpenIn(t *testing.T) {
	fsys := fstest.MapFS{"a": {Data: []byte("x")}, "pipe": {Mode: fs.ModeNamedPipe}, "socket": {Mode: fs.ModeSocket}, "dir/a": {}}
	for name, good := range map[string]bool{"a": true, "pipe": false, "socket": false, "dir": false, "none": false} {
		f, err := foreign.OpenIn(fsys, name)
		if (err == nil) != good {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			f.Close()
		}
	}
}
