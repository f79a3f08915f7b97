// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// writes are the operations that an error of a file names where something could not be written.
var writes = []string{"write", "sync", "fsync", "create", "mkdir", "mkdirat", "rename", "link", "symlink", "truncate", "chmod", "chtimes", "remove", "unlinkat", "close"}

// Writing reports whether an error is that something could not be written, rather than not read.
func Writing(err error) bool {
	var path *fs.PathError
	return Room(err) != "" || errors.As(err, new(*os.LinkError)) || errors.As(err, &path) && slices.Contains(writes, path.Op)
}

// Room says what has no room left, and what to do. It returns "" for an error about something else.
func Room(err error) string {
	var path *fs.PathError
	where := "the file"
	if errors.As(err, &path) {
		where = filepath.Dir(path.Path)
		for dir := where; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if Temporary(dir) { // it is gone by now
				where = filepath.Dir(dir)
			}
		}
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Sprintf("the file system of %s is full: free some space", where)
	case errors.Is(err, syscall.EDQUOT):
		return fmt.Sprintf("your quota on the file system of %s is used up: remove files that you no longer need", where)
	case errors.Is(err, syscall.EFBIG):
		return fmt.Sprintf("a file in %s reached the largest size that this process or its file system allows: raise the limit (ulimit -f)", where)
	case errors.Is(err, syscall.EROFS):
		return fmt.Sprintf("the file system of %s can only be read: choose another folder", where)
	}
	return ""
}

// Lasts reports whether a file could not be written for a reason that goes away by no waiting: a limit on the size of files.
func Lasts(err error) bool { return errors.Is(err, syscall.EFBIG) }
