// Package atomicfile writes files and folders under a temporary name and renames
// them into place, so that nobody ever sees half of one.
//
//	err := atomicfile.Write("run.json", false, func(w io.Writer) error { ... })
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes a file of what f writes. An existing one is an error that wraps
// fs.ErrExist unless overwrite is set. After an error nothing is left behind.
func Write(name string, overwrite bool, f func(w io.Writer) error) (err error) {
	if err := free(name, overwrite); err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(name), ".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	err = f(out)
	if e := out.Sync(); err == nil {
		err = e
	}
	if e := out.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Chmod(out.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(out.Name(), name)
	}
	return err
}

// Folder makes a folder of what f writes into the folder it is given. An
// existing one is an error that wraps fs.ErrExist unless overwrite is set, and
// is only replaced if ours says that it is one of the kind being written.
func Folder(name string, overwrite bool, ours func(name string) bool, f func(dir string) error) error {
	if err := free(name, overwrite); err != nil {
		return err
	}
	_, err := os.Lstat(name)
	exists := err == nil
	if exists && !ours(name) {
		return fmt.Errorf("%s is something else and stays: choose another name: %w", name, fs.ErrExist)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(name), ".tmp-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	fresh, old := filepath.Join(tmp, "new"), filepath.Join(tmp, "old")
	if err := os.Mkdir(fresh, 0o755); err != nil {
		return err
	}
	if err := f(fresh); err != nil {
		return err
	}
	if !exists {
		return os.Rename(fresh, name)
	}
	if err := os.Rename(name, old); err != nil {
		return err
	}
	if err := os.Rename(fresh, name); err != nil {
		return errors.Join(err, os.Rename(old, name))
	}
	return nil
}

func free(name string, overwrite bool) error {
	if _, err := os.Lstat(name); err == nil && !overwrite {
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrExist}
	}
	return nil
}
