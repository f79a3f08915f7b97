package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/runs"
)

// makeRundir creates the folder of a run and locks it; an existing one that is not empty is
// refused.
func (a *app) makeRundir(name string) (runs.Folder, error) {
	dir, err := a.writer().Create(name, a.overwrite)
	return dir, a.folderError(err)
}

// lock keeps other processes from writing the folder, which exists, until the command
// ends. It may be called again.
func (a *app) lock(dir string) error { return a.folderError(a.writer().Lock(dir)) }

// writer holds the locks of the command.
func (a *app) writer() *runs.Writer {
	if a.folders == nil {
		a.folders = &runs.Writer{Command: a.command, Program: "euryale " + version(), Left: func(dir, writer string) {
			a.note("%s was left unfinished by %s, which is no longer running", dir, writer)
		}}
	}
	return a.folders
}

// release gives all folders back.
func (a *app) release() {
	if a.folders == nil {
		return
	}
	if err := a.folders.Release(); err != nil {
		a.note("the lock could not be removed: %v", err)
	}
	a.folders = nil
}

// folderError says what can be done about a folder that cannot be written.
func (a *app) folderError(err error) error {
	var held *runs.HeldError
	var occupied *runs.OccupiedError
	switch {
	case errors.As(err, &held):
		return &exitError{code: exitCannotWrite, err: err, hint: "wait until it has ended, or another --out"}
	case !errors.As(err, &occupied):
		return as(exitCannotWrite, err)
	}
	hint := "another --out"
	switch {
	case !occupied.Replaceable:
	case "euryale "+occupied.Run != a.command:
		hint = "--overwrite, or another --out"
	default:
		hint = fmt.Sprintf("--overwrite, --resume %s, or another --out", occupied.Folder)
	}
	return &exitError{code: exitCannotWrite, err: err, hint: hint}
}

// written gives the error of a file that was written its code.
func written(err error) error {
	if errors.As(err, new(*json.UnsupportedValueError)) || errors.As(err, new(*json.MarshalerError)) || errors.As(err, new(*json.UnsupportedTypeError)) {
		return as(exitBug, err)
	}
	return as(exitCannotWrite, err)
}
