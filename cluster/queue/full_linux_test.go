// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// small mounts a file system of so many bytes, where that is allowed.
func small(t *testing.T, bytes string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size="+bytes); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// fill leaves no room in a folder, and returns what makes it again.
func fill(t *testing.T, dir string) (empty func()) {
	t.Helper()
	name := filepath.Join(dir, "ballast")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for b := make([]byte, 4096); ; {
		if _, err := f.Write(b); err != nil {
			break
		}
	}
	f.Close()
	return func() { os.Remove(name) }
}

// A worker whose disk is full says so, hands back what it could not write, and loses nothing: a later one does it.
func TestFullDiskOfResults(t *testing.T) {
	disk := small(t, "512k")
	f, m := list(t, 500, behaviour{})
	set := f.leading()
	set.Store, set.Folder = batch.Store(filepath.Join(disk, "results")), t.TempDir()
	l := lead(t, f, set)
	a := l.access(t)
	empty := fill(t, disk)
	for range 3 {
		_, err := Work(t.Context(), a, f.working())
		if !errors.Is(err, syscall.ENOSPC) || !atomicfile.Writing(err) || atomicfile.Room(err) == "" {
			t.Fatalf("%v, want that the disk is full", err)
		}
	}
	names, err := os.ReadDir(filepath.Join(disk, "results", "queue"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range names {
		if atomicfile.Temporary(e.Name()) {
			t.Errorf("%s was left behind", e.Name())
		}
	}
	empty()
	if did, err := Work(t.Context(), a, f.working()); err != nil || did.Items != 500 {
		t.Errorf("%+v, %v", did, err)
	}
	l.wait(t)
	got, _ := merged(t, set.Store, m)
	same(t, "after a full disk", got, local(t, m))
}
