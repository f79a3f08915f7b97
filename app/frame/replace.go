// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/runlock"
)

// MayWrite returns an error if an output cannot be written: something exists that --overwrite may not replace, or that it could replace
// but --overwrite was not given, or there is no folder for it, or none that may be written, or another process is writing it. Until the
// command ends, other processes are refused in turn. Commands call it before they compute. The kinds zarr and csv are folders, and all
// others are files.
func (a *App) MayWrite(out, kind string, overwrite bool) error {
	if err := mayWrite(out, kind, overwrite); err != nil {
		return err
	}
	if _, err := a.Claim(out); err != nil {
		return err
	}
	return mayWrite(out, kind, overwrite) // the process that had it may just have finished
}

// Claim keeps other processes from writing a file until it is released, at the latest when the command ends. A claim that the command has
// already is kept.
func (a *App) Claim(out string) (release func(), err error) {
	name := filepath.Clean(Absolute(out))
	if a.files[name] != nil {
		return func() {}, nil
	}
	lock, _, err := runlock.AcquireFile(out, a.Command)
	var held *runlock.Held
	switch {
	case errors.As(err, &held):
		return nil, &exit.Error{Code: exit.CannotWrite, Err: err, Hint: "wait until the other process has finished, or choose another name than " + out}
	case err != nil:
		return nil, exit.With(exit.CannotWrite, err)
	}
	if a.files == nil {
		a.files = map[string]*runlock.Lock{}
	}
	a.files[name] = lock
	return func() { a.drop(name) }, nil
}

// drop releases the claim on a file.
func (a *App) drop(name string) {
	if err := a.files[name].Release(); err != nil {
		a.Note("the lock file of %s could not be deleted: %v", name, err)
	}
	delete(a.files, name)
}

// mayWrite is MayWrite without a look at other processes.
func mayWrite(out, kind string, overwrite bool) error {
	st, err := os.Lstat(out)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return takesFiles(out)
	}
	if err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	switch stays := whatStays(out, kind, st.IsDir()); {
	case stays != "":
		return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s exists and %s, so it is not overwritten", out, stays), Hint: "choose another name than " + out}
	case !overwrite:
		return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s exists", out), Hint: "--overwrite, or another name than " + out}
	}
	return takesFiles(out)
}

// MayFill returns an error if an output folder, which is made with those above it where it does not exist, cannot take files. Commands call it
// before they compute.
func MayFill(dir string) error {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return takesFiles(filepath.Join(at, filepath.Base(dir)))
		}
	}
}

// takesFiles returns an error if the folder of an output takes no files.
func takesFiles(out string) error {
	dir := filepath.Dir(out)
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s cannot be written, because there is no folder %s", out, dir), Hint: "mkdir -p " + foreign.Typed(dir) + ", or another name"}
	case errors.Is(err, syscall.ENOTDIR), err == nil && !st.IsDir():
		return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s cannot be written, because %s is a file and no folder", out, dir), Hint: "another name"}
	case err != nil:
		return exit.With(exit.CannotWrite, err)
	}
	f, err := atomicfile.Create(filepath.Join(dir, "probe"))
	if err == nil {
		f.Discard()
		return nil
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s cannot be written, because the folder %s takes no new files: %w", out, dir, errors.Unwrap(err)), Hint: "chmod u+w " + foreign.Typed(dir) + ", or another folder"}
	}
	return exit.With(exit.CannotWrite, err)
}

// whatStays says why convert must not replace what exists at out; it returns "" if
// convert may replace it.
func whatStays(out, kind string, folder bool) string {
	switch wanted := kind == "zarr" || kind == "csv"; {
	case folder && !wanted:
		return "is a folder"
	case !folder && wanted:
		return "is no folder"
	case kind == "zarr" && !zarr.Is(out):
		return "is no Zarr folder"
	case kind == "zarr":
		return staysInStore(out)
	case kind == "csv":
		return foreignInFolder(out)
	}
	return ""
}

// foreignInFolder describes the first entry of a folder of chains that is not a chain; it
// returns "" if there is none.
func foreignInFolder(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err.Error()
	}
	for _, e := range entries {
		if ok, _ := filepath.Match("chain-*.csv", e.Name()); !ok || e.IsDir() {
			return "holds " + e.Name() + ", which is no chain"
		}
	}
	return ""
}

// staysInStore describes a file in a Zarr folder that belongs to no store; it returns ""
// if there is none.
func staysInStore(out string) string {
	err := zarr.Foreign(out)
	var other *zarr.ForeignError
	switch {
	case errors.As(err, &other):
		return "holds " + other.File + ", which is not of the store"
	case err != nil:
		return err.Error()
	}
	return ""
}
