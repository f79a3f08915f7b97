// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRoom(t *testing.T) {
	for _, c := range []struct {
		err     error
		room    string
		writing bool
	}{
		{nil, "", false},
		{errors.New("x"), "", false},
		{&fs.PathError{Op: "open", Path: "a/b", Err: fs.ErrNotExist}, "", false},
		{&fs.PathError{Op: "read", Path: "a/b", Err: syscall.EIO}, "", false},
		{&fs.PathError{Op: "write", Path: "a/b", Err: syscall.EIO}, "", true},
		{&os.LinkError{Op: "rename", Old: "a", New: "b", Err: fs.ErrPermission}, "", true},
		{fmt.Errorf("x: %w", &fs.PathError{Op: "write", Path: "a/b", Err: syscall.ENOSPC}), "the file system of a is full", true},
		{&fs.PathError{Op: "write", Path: "a/.euryale-tmp-x.zarr-0123abcd/new/b", Err: syscall.ENOSPC}, "the file system of a is full", true},
		{&fs.PathError{Op: "open", Path: "a/b", Err: syscall.EDQUOT}, "your quota on the file system of a is used up", true},
		{&fs.PathError{Op: "write", Path: "a/b", Err: syscall.EFBIG}, "ulimit -f", true},
		{&fs.PathError{Op: "mkdir", Path: "a/b", Err: syscall.EROFS}, "can only be read", true},
		{syscall.ENOSPC, "the file system of the file is full", true},
	} {
		if got := Room(c.err); (got == "") != (c.room == "") || !strings.Contains(got, c.room) || Writing(c.err) != c.writing {
			t.Errorf("%v: %q, writing %v", c.err, got, Writing(c.err))
		}
	}
	// A folder in which nothing can be made is not one from which nothing can be read.
	if _, err := Create(t.TempDir() + "/none/x"); !Writing(err) {
		t.Error(err)
	}
}

// Errors about a folder that is being written name it as the user knows it.
func TestErrorsNameTheFolder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.zarr")
	err := Folder(name, false, func(string) bool { return true }, func(dir string) error {
		return fmt.Errorf("zarr: %w", &fs.PathError{Op: "write", Path: filepath.Join(dir, "a", "0.0"), Err: syscall.ENOSPC})
	})
	if want := "zarr: write " + filepath.Join(name, "a", "0.0"); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(Room(err), "the file system of "+filepath.Join(name, "a")+" is full") {
		t.Errorf("%v: %s", err, Room(err))
	}
}

// Where the system has a device that is always full, its errors are known.
func TestFullDevice(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	defer f.Close()
	if _, err := f.WriteString("x"); !strings.Contains(Room(err), "the file system of /dev is full") {
		t.Error(err)
	}
}
