// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// makeRundir creates the folder of a run and locks it. It refuses an existing folder that
// is not empty.
func (a *app) makeRundir(name string) (runs.Folder, error) {
	dir, err := a.writer().Create(name, a.overwrite)
	return dir, a.folderError(name, err)
}

// lock keeps other processes from writing an existing folder until the command ends. It
// may be called more than once.
func (a *app) lock(dir string) error { return a.folderError(dir, a.writer().Lock(dir)) }

// writer returns the holder of the command's locks.
func (a *app) writer() *runs.Writer {
	if a.folders == nil {
		a.folders = &runs.Writer{Command: a.command, Program: "euryale " + version(), Left: func(dir, writer string) {
			a.note("%s was left unfinished by %s, which is no longer running", dir, writer)
		}}
	}
	return a.folders
}

// release releases the locks on all folders.
func (a *app) release() {
	if a.folders == nil {
		return
	}
	if err := a.folders.Release(); err != nil {
		a.note("the lock file could not be deleted: %v", err)
	}
	a.folders = nil
}

// folderError adds advice to the error of a folder that cannot be written.
func (a *app) folderError(name string, err error) error {
	var held *runs.HeldError
	var occupied *runs.OccupiedError
	switch {
	case errors.As(err, &held):
		return &exitError{code: exitCannotWrite, err: err, hint: "wait until the other process has finished, or choose another --out"}
	case errors.Is(err, syscall.ENOTDIR):
		return &exitError{code: exitCannotWrite, err: fmt.Errorf("the results cannot be written to %s: there is a file of this name, or in place of a folder above it", name), hint: "another --out"}
	case !errors.As(err, &occupied):
		return as(exitCannotWrite, err)
	}
	hint := "another --out"
	switch {
	case !occupied.Replaceable:
	case a.program+" "+occupied.Run != a.command:
		hint = "--overwrite, or another --out"
	default:
		hint = fmt.Sprintf("--overwrite, --resume %s, or another --out", foreign.Typed(string(occupied.Folder)))
	}
	return &exitError{code: exitCannotWrite, err: err, hint: hint}
}

// written assigns the exit code for an error from writing a file.
func written(err error) error {
	if errors.As(err, new(*json.UnsupportedValueError)) || errors.As(err, new(*json.MarshalerError)) || errors.As(err, new(*json.UnsupportedTypeError)) {
		return as(exitBug, err)
	}
	return as(exitCannotWrite, err)
}
