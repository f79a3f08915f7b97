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

// Writer makes and locks the folders that a process writes. Its locks end with Release, or
// with the process however that ends. It is for one goroutine.
type Writer struct {
	Command string // as others are told that find a folder locked
	Program string // name and version, for those who find a folder
	// Left is told of a folder whose writer ended without releasing it, and of that writer
	// in words; nil: nobody is told.
	Left func(dir, writer string)

	locks map[string]*runlock.Lock
}

// HeldError says that another process writes a folder, and which, since when.
type HeldError = runlock.Held

// OccupiedError says that a folder has something in it which stays.
type OccupiedError struct {
	Folder Folder
	What   string // what is there and why it stays
	// Replaceable says that the results of a run are there and nothing else, which
	// Writer.Create replaces when it is asked to. Run is the command that made them.
	Replaceable bool
	Run         string
}

// Error names the folder and what is there.
func (e *OccupiedError) Error() string { return e.What }

// Create makes a folder, or takes an existing one that is empty, and locks it. A folder
// with anything in it is an *OccupiedError, unless the results of a run in it are to be
// replaced: then they are removed. One that another process writes is a *HeldError.
func (w *Writer) Create(name string, replace bool) (Folder, error) {
	f := Folder(name)
	if err := f.vacant(replace); err != nil {
		return "", err
	}
	if err := os.MkdirAll(name, 0o755); err != nil {
		return "", err
	}
	if err := w.Lock(name); err != nil {
		return "", err
	}
	if err := f.vacant(replace); err != nil { // another run may have come and gone
		return "", err
	}
	if replace {
		if err := f.clear(); err != nil {
			return "", err
		}
	}
	return f, WriteFile(f.Path(MarkerFile), []byte("A folder of results of "+w.Program+".\n"))
}

// Lock keeps other processes from writing the folder, which exists, until Release, and
// removes what killed ones did not finish. It may be called again. A folder that another
// process writes is a *HeldError.
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
	for _, d := range []string{"", "plots", "snapshots"} { // nobody else writes there now
		if err := atomicfile.Sweep(filepath.Join(dir, d)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Release gives all folders back.
func (w *Writer) Release() error {
	var all []error
	for _, l := range w.locks {
		all = append(all, l.Release())
	}
	w.locks = nil
	return errors.Join(all...)
}

// vacant refuses a folder with something in it, unless that may be replaced. What a killed
// process left before its first file does not count.
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
		return &OccupiedError{Folder: f, What: fmt.Sprintf("%s holds files and is no folder of results: nothing in it is overwritten", f)}
	}
	e := &OccupiedError{Folder: f, What: fmt.Sprintf("%s exists and is not empty", f), Replaceable: f.Ours()}
	if ran, err := f.Command(); err == nil {
		e.Run = ran
	}
	return e
}

// foreignDraws refuses to replace draws beside which others keep files.
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
