// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package atomicfile writes files and folders under a temporary name and renames them into place, so
// that nobody ever sees an incomplete one. A renamed file is on disk: the package syncs the file
// and, if the system allows it, the folder.
//
//	err := atomicfile.Write("run.json", false, func(w io.Writer) error { ... })
//
// A process that is killed leaves files behind, which [Temporary] recognises by their names. They
// are removed when the same name is written again, or by [Sweep].
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// prefix begins every temporary name; the final name and eight hexadecimal digits follow.
const prefix = ".euryale-tmp-"

// Temporary reports whether a name is that of an unfinished file or folder.
func Temporary(name string) bool {
	_, ok := final(filepath.Base(name))
	return ok
}

// File is a file under its temporary name.
type File struct {
	*os.File
	// New makes Commit fail with an error that wraps fs.ErrExist, rather than replace a file that has appeared meanwhile.
	New  bool
	name string
	held *flock.Flock // lock that shows that the process is alive
}

// Write is the method of os.File.
func (f *File) Write(b []byte) (int, error) {
	if err := fails("write", f.name); err != nil {
		return 0, err
	}
	n, err := f.File.Write(b)
	return n, named(err, f.name)
}

// WriteString is Write for a string.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// ReadFrom writes everything that r returns.
func (f *File) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{f}, r) }

// WriteAt is the method of os.File.
func (f *File) WriteAt(b []byte, at int64) (int, error) {
	if err := fails("write", f.name); err != nil {
		return 0, err
	}
	n, err := f.File.WriteAt(b, at)
	return n, named(err, f.name)
}

// Create starts a file that Commit puts in the place of name, replacing an existing file.
func Create(name string) (*File, error) {
	if err := fails("create", name); err != nil {
		return nil, err
	}
	finish(name)
	for {
		tmp := temporary(name)
		f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			if p := (*fs.PathError)(nil); errors.As(err, &p) {
				err = &fs.PathError{Op: "create", Path: name, Err: p.Err}
			}
			return nil, err
		}
		if held := hold(tmp); held != nil {
			return &File{File: f, name: name, held: held}, nil
		}
		f.Close() // another process takes it for abandoned, before it could be held
	}
}

// temporary returns a temporary name for a file to be called name.
func temporary(name string) string {
	return filepath.Join(filepath.Dir(name), fmt.Sprintf("%s%s-%08x", prefix, filepath.Base(name), rand.Uint32()))
}

// named replaces the temporary name in an error by the name that the user knows.
func named(err error, name string) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return &fs.PathError{Op: p.Op, Path: name, Err: p.Err}
	}
	return err
}

// Commit waits until the file is on disk and renames it into place. After an error no file is left
// behind. Only the first call of Commit or Discard has an effect.
func (f *File) Commit() error {
	if f.File == nil {
		return fs.ErrClosed
	}
	tmp := f.Name()
	err := fails("sync", f.name)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	defer f.held.Close()
	if f.File = nil; err == nil && f.New {
		err = place(tmp, f.name)
	} else if err == nil {
		err = rename(tmp, f.name)
	}
	if err != nil {
		os.Remove(tmp)
		return err
	}
	syncFolder(filepath.Dir(f.name))
	return nil
}

// place is rename, but an existing file is an error.
func place(tmp, name string) error {
	if err := fails("rename", name); err != nil {
		return err
	}
	switch err := os.Link(tmp, name); {
	case err == nil:
		os.Remove(tmp) // best effort: Sweep removes it later
		return nil
	case errors.Is(err, fs.ErrExist):
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrExist}
	}
	// There are no links on this file system: what is not there now may still appear until it is renamed.
	if err := free(name, false); err != nil {
		return err
	}
	return os.Rename(tmp, name)
}

// Discard removes the file.
func (f *File) Discard() {
	if f.File == nil {
		return
	}
	f.Close()
	os.Remove(f.Name())
	f.held.Close()
	f.File = nil
}

// syncFolder makes renames in a folder durable if the system allows it.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

// Write makes a file from what f writes. An existing file is an error that wraps fs.ErrExist unless
// overwrite is set. After an error no file is left behind.
func Write(name string, overwrite bool, f func(w io.Writer) error) error {
	if err := free(name, overwrite); err != nil {
		return err
	}
	out, err := Create(name)
	if err != nil {
		return err
	}
	defer out.Discard()
	out.New = !overwrite
	if err := f(out); err != nil {
		return err
	}
	return out.Commit()
}

// WriteBytes writes a file of these bytes, in place of an existing one.
func WriteBytes(name string, b []byte) error {
	return Write(name, true, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// Folder makes a folder from what f writes into the folder it is given. An existing folder is an
// error that wraps fs.ErrExist unless overwrite is set, and it is replaced only if ours reports that
// it is of the kind being written.
func Folder(name string, overwrite bool, ours func(name string) bool, f func(dir string) error) error {
	finish(name)
	if err := free(name, overwrite); err != nil {
		return err
	}
	_, err := os.Lstat(name)
	exists := err == nil
	if exists && !ours(name) {
		return fmt.Errorf("%s exists and was not written by this program, so it is not replaced: choose another name: %w", name, fs.ErrExist)
	}
	if err := fails("create", name); err != nil {
		return err
	}
	tmp, held, err := temporaryFolder(name)
	if err != nil {
		return err
	}
	defer held.Close()
	defer os.RemoveAll(tmp)
	fresh, old := filepath.Join(tmp, fresh), filepath.Join(tmp, old)
	if err := os.Mkdir(fresh, 0o755); err != nil {
		return named(err, name)
	}
	if err := f(fresh); err != nil {
		return renamed(err, fresh, name)
	}
	if err := fails("sync", name); err != nil {
		return err
	}
	if err := syncAll(fresh); err != nil {
		return renamed(err, fresh, name)
	}
	return exchange(name, fresh, old, overwrite)
}

// renamedError is an error about a file in a folder under its temporary name, told with the name that the user knows.
type renamedError struct {
	err       error
	tmp, name string
}

func (e *renamedError) Error() string { return strings.ReplaceAll(e.err.Error(), e.tmp, e.name) }
func (e *renamedError) Unwrap() error { return e.err }

// renamed replaces the temporary name of a folder in an error by its name.
func renamed(err error, tmp, name string) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		p.Path = strings.ReplaceAll(p.Path, tmp, name)
	}
	if !strings.Contains(err.Error(), tmp) {
		return err
	}
	return &renamedError{err, tmp, name}
}

// temporaryFolder makes a temporary folder for name and locks it.
func temporaryFolder(name string) (string, *flock.Flock, error) {
	for {
		tmp := temporary(name)
		if err := os.Mkdir(tmp, 0o755); err != nil {
			return "", nil, named(err, name)
		}
		if held := hold(tmp); held != nil {
			return tmp, held, nil
		}
	}
}

// exchange renames a folder into place and replaces an existing one. Other processes that write into
// the same parent wait meanwhile.
func exchange(name, fresh, old string, overwrite bool) error {
	turn := flock.New(filepath.Dir(name), flock.SetFlag(os.O_RDONLY))
	_ = turn.Lock() // where nothing can be locked there is no turn
	defer turn.Close()
	defer syncFolder(filepath.Dir(name))
	if err := free(name, overwrite); err != nil {
		return err
	}
	if _, err := os.Lstat(name); err != nil {
		return rename(fresh, name)
	}
	if err := rename(name, old); err != nil {
		return err
	}
	if err := rename(fresh, name); err != nil {
		return errors.Join(err, os.Rename(old, name))
	}
	return nil
}

// syncAll waits until all files of a folder are on disk.
func syncAll(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if e.IsDir() {
			f.Sync() // not all systems can
			return nil
		}
		return f.Sync()
	})
}

func free(name string, overwrite bool) error {
	if _, err := os.Lstat(name); err == nil && !overwrite {
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrExist}
	}
	return nil
}
