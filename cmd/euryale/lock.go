package main

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/runlock"
)

// lock keeps other processes from writing the folder, which exists, until the command
// ends, and removes what killed ones did not finish. It may be called again.
func (a *app) lock(dir string) error {
	key, err := filepath.EvalSymlinks(dir)
	if err == nil {
		key, err = filepath.Abs(key)
	}
	if err != nil {
		return as(exitCannotWrite, err)
	}
	if a.locks[key] != nil {
		return nil
	}
	l, before, err := runlock.Acquire(key, a.command)
	var held *runlock.Held
	switch {
	case errors.As(err, &held):
		held.Dir = dir
		return &exitError{code: exitCannotWrite, err: held, hint: "wait until it has ended, or another --out"}
	case err != nil:
		return as(exitCannotWrite, err)
	case before != nil:
		a.note("%s was left unfinished by %v, which is no longer running", dir, *before)
	}
	if a.locks == nil {
		a.locks = map[string]*runlock.Lock{}
	}
	a.locks[key] = l
	for _, d := range []string{"", "plots", "snapshots"} { // nobody else writes there now
		if err := atomicfile.Sweep(filepath.Join(dir, d)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return as(exitCannotWrite, err)
		}
	}
	return nil
}

// release gives all folders back.
func (a *app) release() {
	for _, l := range a.locks {
		if err := l.Release(); err != nil {
			a.note("the lock could not be removed: %v", err)
		}
	}
	a.locks = nil
}
