// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/runlock"
)

// Writer makes and locks the folders that a process writes. Release ends its locks, and
// so does the end of the process, however it comes about. A Writer must be used by only
// one goroutine.
type Writer struct {
	Command string // command named to processes that find a folder locked
	Program string // name and version of the program, recorded for whoever finds a folder
	// Left is called for a folder whose writer ended without releasing it, with a
	// description of that writer. Nil means that nobody is told.
	Left func(dir, writer string)

	locks map[string]*runlock.Lock
	made  []Folder // folders that did not exist before Create
}

// HeldError says that another process is writing to a folder, which process, and since
// when.
type HeldError = runlock.Held

// OccupiedError says that a folder holds something that will not be removed.
type OccupiedError struct {
	Folder Folder
	What   string // description of the contents and why they stay
	// Replaceable means that the folder holds the results of a run,
	// which Writer.Create replaces on request. Run is the command that made them.
	Replaceable bool
	Run         string
}

// Error describes the contents of the folder.
func (e *OccupiedError) Error() string { return e.What }

// Create makes a folder, or takes over an existing empty one, and locks it. If the folder
// is not empty, the error is an *OccupiedError, unless it holds the results of a run and
// replace is set: then they are removed. If another process is writing to the folder, the
// error is a *HeldError.
func (w *Writer) Create(name string, replace bool) (Folder, error) {
	f := Folder(name)
	if err := f.vacant(replace); err != nil {
		return "", err
	}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		w.made = append(w.made, f)
	}
	if err := os.MkdirAll(name, 0o755); err != nil {
		return "", err
	}
	if err := w.Lock(name); err != nil {
		return "", err
	}
	if err := f.vacant(replace); err != nil { // another run may have used the folder in the meantime
		return "", err
	}
	if replace {
		if err := f.clear(); err != nil {
			return "", err
		}
	}
	return f, WriteFile(f.Path(MarkerFile), []byte("A folder of results of "+w.Program+".\n"))
}

// Lock keeps other processes from writing to an existing folder until Release, and
// removes incomplete files of killed processes. It may be called more than once. If
// another process is writing to the folder, the error is a *HeldError.
func (w *Writer) Lock(dir string) error {
	key, err := filepath.EvalSymlinks(dir)
	if err == nil {
		key, err = filepath.Abs(key)
	}
	if err != nil || w.locks[key] != nil {
		return err
	}
	l, before, err := runlock.Acquire(key, w.Command)
	var held *HeldError
	switch {
	case errors.As(err, &held):
		held.Dir = dir
		return held
	case err != nil:
		return err
	case before != nil && w.Left != nil:
		w.Left(dir, before.String())
	}
	if w.locks == nil {
		w.locks = map[string]*runlock.Lock{}
	}
	w.locks[key] = l
	for _, d := range []string{"", "plots", "snapshots"} { // no other process can be writing there now
		if err := atomicfile.Sweep(filepath.Join(dir, d)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Release releases all locks, and removes the folders that Create made if nothing was written to them.
func (w *Writer) Release() error {
	var all []error
	for _, l := range w.locks {
		all = append(all, l.Release())
	}
	for _, f := range w.made {
		f.removeUnused()
	}
	w.locks, w.made = nil, nil
	return errors.Join(all...)
}

// removeUnused removes a folder that holds nothing besides its marker. It does what it can: such a folder does no harm.
func (f Folder) removeUnused() {
	entries, err := os.ReadDir(string(f))
	if err == nil && len(entries) == 1 && entries[0].Name() == MarkerFile {
		os.Remove(f.Path(MarkerFile))
		os.Remove(string(f))
	}
}

// vacant returns an error for a folder that is not empty, unless its contents may be
// replaced. What a killed process left before its first complete file does not count.
func (f Folder) vacant(replace bool) error {
	entries, err := os.ReadDir(string(f))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	free := !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return e.Name() != runlock.Name && e.Name() != MarkerFile && !atomicfile.Temporary(e.Name())
	})
	switch {
	case free:
		return nil
	case replace && f.Ours():
		return f.foreignDraws()
	case replace:
		return &OccupiedError{Folder: f, What: fmt.Sprintf("%s holds files but no results of a run, so nothing in it is overwritten: choose another folder", f)}
	}
	e := &OccupiedError{Folder: f, What: fmt.Sprintf("%s exists and is not empty: choose another folder", f), Replaceable: f.Ours()}
	if ran, err := f.Command(); err == nil {
		e.Run = ran
	}
	return e
}

// foreignDraws refuses to replace draws that share a folder with foreign files.
func (f Folder) foreignDraws() error {
	store := f.Path(DrawsFolder)
	if !zarr.Is(store) {
		return nil
	}
	if err := zarr.Foreign(store); err != nil {
		return &OccupiedError{Folder: f, What: err.Error()}
	}
	return nil
}
