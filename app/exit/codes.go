// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package exit

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
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// The exit codes. Those from 64 on follow sysexits.h.
const (
	OK          = 0
	Failed      = 1  // the run failed, or --strict found a problem
	WrongUsage  = 64 // wrong arguments or flags
	Data        = 65 // a file has invalid content
	NoInput     = 66 // a file does not exist or cannot be read
	NoDevice    = 69 // the requested device is not available, is lost or is out of memory
	Bug         = 70 // a bug in Euryale or in a part that a user added to it
	CannotWrite = 73
	Config      = 78
	Interrupted = 130
)

// Error is an error with its exit code and, optionally, a hint.
type Error struct {
	Code int
	Err  error
	Hint string
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Usage returns an error about arguments or flags.
func Usage(format string, a ...any) error {
	return &Error{Code: WrongUsage, Err: fmt.Errorf(format, a...)}
}

// InFile says which file an error of data is about, unless its text does.
func InFile(name string, err error) error {
	if err == nil || strings.Contains(err.Error(), name) {
		return With(Data, err)
	}
	return With(Data, fmt.Errorf("%s: %w", name, err))
}

// With assigns an exit code to err unless it already has one. The failure of a device has its own, and so has a full disk.
func With(code int, err error) error {
	var have *Error
	if err == nil || errors.As(err, &have) {
		return err
	}
	if code != Config {
		if text := ofSettings(err); text != "" {
			return Usage("%s", text)
		}
	}
	if atomicfile.Room(err) != "" {
		return &Error{Code: CannotWrite, Err: err}
	}
	if ad.IsDeviceFault(err) {
		return &Error{Code: NoDevice, Err: err, Hint: DeviceHint(err)}
	}
	if code == CannotWrite {
		return &Error{Code: code, Err: err, Hint: writable(err)}
	}
	return &Error{Code: code, Err: err}
}

// ofSettings says which flags an error is about, "" if it is about none: no file is to blame for them.
func ofSettings(err error) string {
	var flags []string
	for _, e := range setting.Errors(err) {
		flags = append(flags, "--"+e.Name+" "+e.Text)
	}
	return strings.Join(flags, "; ")
}

// writable says how a place where nothing can be written becomes one where something can, "" for other errors.
func writable(err error) string {
	var path *fs.PathError
	switch {
	case !errors.As(err, &path):
		return ""
	case errors.Is(path.Err, fs.ErrPermission):
		return "another place, or chmod u+w " + foreign.Typed(filepath.Dir(path.Path))
	case errors.Is(path.Err, fs.ErrNotExist) && foreign.Exists(filepath.Dir(path.Path)):
		return "another place"
	case errors.Is(path.Err, fs.ErrNotExist):
		return "mkdir -p " + foreign.Typed(filepath.Dir(path.Path))
	}
	return ""
}

// readable says how a file becomes one that may be read: by itself, or by a folder above it that may not be searched.
func readable(path string) string {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrPermission) {
		return fmt.Sprintf("chmod u+rx %s, or a file that you may read", foreign.Typed(filepath.Dir(path)))
	}
	return fmt.Sprintf("chmod u+r %s, or a file that you may read", foreign.Typed(path))
}

// Input assigns an exit code and a hint to an error from reading a file, depending on
// whether the file is missing, unreadable or invalid.
func Input(err error) error {
	var have *Error
	if err == nil || errors.As(err, &have) {
		return err
	}
	var path *fs.PathError
	switch isPath := errors.As(err, &path); {
	case atomicfile.Writing(err):
		return With(CannotWrite, err)
	case errors.Is(err, fs.ErrNotExist) && isPath:
		return &Error{Code: NoInput, Err: err, Hint: nearFile(path.Path)}
	case errors.Is(err, fs.ErrPermission) && isPath:
		return &Error{Code: NoInput, Err: err, Hint: readable(path.Path)}
	case isPath && foreign.IsOther(err): // which says what to name
		return &Error{Code: NoInput, Err: err}
	case isPath:
		return &Error{Code: NoInput, Err: err, Hint: "another file"}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission): // of a file that another names, which the error tells
		return &Error{Code: NoInput, Err: err}
	}
	return With(Data, err)
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
		most := (1 + len(stem)) / 3
		if filepath.Ext(near) != ext {
			most = min(most, 1)
		}
		if other == stem || spelling.Distance(stem, other) <= most {
			return near
		}
	}
	return ""
}

// CodeOf returns the exit code of an error; it is OK for nil.
func CodeOf(err error) int {
	var e *Error
	switch {
	case err == nil:
		return OK
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Failed
}

// Output returns err, or cause with the exit code of files that cannot be written if that is what happened.
func Output(err, cause error) error {
	var path *fs.PathError
	var link *os.LinkError
	if errors.As(cause, &link) || errors.As(cause, &path) && slices.Contains([]string{"create", "write", "sync", "rename", "chmod", "close", "mkdir"}, path.Op) {
		return &Error{Code: CannotWrite, Err: cause}
	}
	return err
}

// DeviceHint says what to do about a GPU that failed.
func DeviceHint(err error) string {
	switch {
	case errors.Is(err, cuda.ErrOutOfMemory):
		return "fewer chains or smaller data at once, or --device cpu"
	case errors.Is(err, cuda.ErrDeviceLost):
		return "the same once more, or --device cpu"
	}
	return "--device cpu"
}
