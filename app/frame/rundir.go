// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/table"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// MakeRundir creates the folder of a run and locks it. It refuses an existing folder that
// is not empty, and names of tables.
func (a *App) MakeRundir(name string) (runs.Folder, error) {
	if table.Known(name) {
		return "", exit.Usage("--out %s: here the results are a folder and no table: name a folder, without %s", name, filepath.Ext(name))
	}
	dir, err := a.writer().Create(name, a.Overwrite)
	return dir, a.folderError(name, err)
}

// Lock keeps other processes from writing an existing folder until the command ends. It
// may be called more than once.
func (a *App) Lock(dir string) error { return a.folderError(dir, a.writer().Lock(dir)) }

// writer returns the holder of the command's locks.
func (a *App) writer() *runs.Writer {
	if a.folders == nil {
		a.folders = &runs.Writer{Command: a.Command, Program: "euryale " + Version(), Left: func(dir, writer string) {
			a.Note("%s was left unfinished by %s, which is no longer running", dir, writer)
		}}
	}
	return a.folders
}

// Release releases the locks on all folders and files.
func (a *App) Release() {
	for name := range a.files {
		a.drop(name)
	}
	if a.folders == nil {
		return
	}
	if err := a.folders.Release(); err != nil {
		a.Note("the lock file could not be deleted: %v", err)
	}
	a.folders = nil
}

// folderError adds advice to the error of a folder that cannot be written.
func (a *App) folderError(name string, err error) error {
	var held *runs.HeldError
	var occupied *runs.OccupiedError
	switch {
	case errors.As(err, &held):
		return &exit.Error{Code: exit.CannotWrite, Err: err, Hint: "wait until the other process has finished, or choose another --out"}
	case errors.Is(err, syscall.ENOTDIR):
		return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("the results cannot be written to %s: there is a file of this name, or in place of a folder above it", name), Hint: "another --out"}
	case !errors.As(err, &occupied):
		return exit.With(exit.CannotWrite, err)
	}
	hint := "another --out"
	switch {
	case !occupied.Replaceable:
	case a.Program+" "+occupied.Run != a.Command:
		hint = "--overwrite, or another --out"
	default:
		hint = fmt.Sprintf("--overwrite, --resume %s, or another --out", foreign.Typed(string(occupied.Folder)))
	}
	return &exit.Error{Code: exit.CannotWrite, Err: err, Hint: hint}
}

// written assigns the exit code for an error from writing a file.
func written(err error) error {
	if errors.As(err, new(*json.UnsupportedValueError)) || errors.As(err, new(*json.MarshalerError)) || errors.As(err, new(*json.UnsupportedTypeError)) {
		return exit.With(exit.Bug, err)
	}
	return exit.With(exit.CannotWrite, err)
}
