// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// The exit codes. Those from 64 on follow sysexits.h.
const (
	exitOK          = 0
	exitFailed      = 1  // the run failed, or --strict found a problem
	exitUsage       = 64 // wrong arguments or flags
	exitData        = 65 // a file has invalid content
	exitNoInput     = 66 // a file does not exist or cannot be read
	exitNoDevice    = 69 // the requested device is not available, is lost or is out of memory
	exitBug         = 70 // a bug in Euryale or in a part that a user added to it
	exitCannotWrite = 73
	exitConfig      = 78
	exitInterrupted = 130
)

// exitError is an error with its exit code and, optionally, a hint.
type exitError struct {
	code int
	err  error
	hint string
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func usage(format string, a ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, a...)}
}

// as assigns an exit code to err unless it already has one. The failure of a device has its own, and so has a full disk.
func as(code int, err error) error {
	var have *exitError
	if err == nil || errors.As(err, &have) {
		return err
	}
	if atomicfile.Room(err) != "" {
		return &exitError{code: exitCannotWrite, err: err}
	}
	if ad.IsDeviceFault(err) {
		return &exitError{code: exitNoDevice, err: err, hint: deviceHint(err)}
	}
	return &exitError{code: code, err: err}
}

// input assigns an exit code and a hint to an error from reading a file, depending on
// whether the file is missing, unreadable or invalid.
func input(err error) error {
	var have *exitError
	if err == nil || errors.As(err, &have) {
		return err
	}
	var path *fs.PathError
	switch isPath := errors.As(err, &path); {
	case atomicfile.Writing(err):
		return as(exitCannotWrite, err)
	case errors.Is(err, fs.ErrNotExist) && isPath:
		return &exitError{code: exitNoInput, err: err, hint: nearFile(path.Path)}
	case errors.Is(err, fs.ErrPermission) && isPath:
		return &exitError{code: exitNoInput, err: err, hint: "chmod u+r " + path.Path + ", or use a file that you may read"}
	case isPath, errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return &exitError{code: exitNoInput, err: err, hint: "another file"}
	}
	return as(exitData, err)
}

// nearFile suggests an existing file in place of one that does not exist.
func nearFile(name string) string {
	dir := filepath.Dir(name)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Sprintf("another path: there is no folder %s either", dir)
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	switch near := similarFile(filepath.Base(name), names); {
	case near != "":
		return filepath.Join(dir, near)
	case len(names) == 0:
		return fmt.Sprintf("another path: %s is empty", dir)
	}
	if len(names) > 3 {
		return fmt.Sprintf("another path: no name in %s is similar", dir)
	}
	return fmt.Sprintf("another path: %s holds %s", dir, strings.Join(names, ", "))
}

// similarFile returns the name of an existing file that the user may have meant, or "". The extension says
// little: that of two tables is the same, so the names before it must be similar too.
func similarFile(name string, names []string) string {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for _, near := range spelling.Sorted(name, names) {
		other := strings.TrimSuffix(near, filepath.Ext(near))
		if other == stem || spelling.Distance(stem, other) <= (1+len(stem))/3 {
			return near
		}
	}
	return ""
}

func codeOf(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailed
}

// output returns err, or cause with the exit code of files that cannot be written if that is what happened.
func output(err, cause error) error {
	var path *fs.PathError
	var link *os.LinkError
	if errors.As(cause, &link) || errors.As(cause, &path) && slices.Contains([]string{"create", "write", "sync", "rename", "chmod", "close", "mkdir"}, path.Op) {
		return &exitError{code: exitCannotWrite, err: cause}
	}
	return err
}

// deviceHint says what to do about a GPU that failed.
func deviceHint(err error) string {
	switch {
	case errors.Is(err, cuda.ErrOutOfMemory):
		return "fewer chains or smaller data at once, or --device cpu"
	case errors.Is(err, cuda.ErrDeviceLost):
		return "the same once more, or --device cpu"
	}
	return "--device cpu"
}
