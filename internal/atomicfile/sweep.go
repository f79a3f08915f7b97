// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gofrs/flock"
)

// Contents of a temporary folder that is to replace another one.
const fresh, old = "new", "old"

// hold locks a temporary file or folder for as long as this process lives. It returns nil if another
// process has removed it, or is about to.
func hold(tmp string) *flock.Flock {
	l := flock.New(tmp, flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryLock() // where nothing can be locked nothing is taken for abandoned
	if _, gone := os.Lstat(tmp); gone != nil || err == nil && !ok {
		l.Close()
		return nil
	}
	return l
}

// Sweep removes what killed processes left behind in a folder. If one of them was about to replace a
// folder, Sweep restores the folder's name.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		to, ok := final(e.Name())
		if !ok || !e.IsDir() && !e.Type().IsRegular() {
			continue
		}
		errs = append(errs, abandoned(filepath.Join(dir, e.Name()), filepath.Join(dir, to)))
	}
	return errors.Join(errs...)
}

// finish sweeps the folder in which a file is about to be written. Files that cannot be removed stay. It does nothing in a folder that is
// itself temporary.
func finish(name string) {
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(name)), "/") {
		if Temporary(part) {
			return
		}
	}
	_ = Sweep(filepath.Dir(name))
}

var temporaryName = regexp.MustCompile("^" + regexp.QuoteMeta(prefix) + "(.+)-[0-9a-f]{8}$")

// final returns the name that a temporary one is to get; ok is false for other names.
func final(tmp string) (base string, ok bool) {
	m := temporaryName.FindStringSubmatch(tmp)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// abandoned removes a temporary file or folder unless its process is alive. If that process was
// killed after it had renamed the old folder away and before it had renamed the new one, which is
// complete by then, the new folder gets the name.
func abandoned(tmp, name string) error {
	l := flock.New(tmp, flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryLock()
	if err != nil || !ok {
		return nil // it is in use, has vanished, or nothing can be said
	}
	defer l.Close()
	if st, err := os.Lstat(tmp); err != nil || st.IsDir() && !onlyOurs(tmp) {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(tmp, old)); err == nil {
		if _, err := os.Lstat(name); err != nil {
			if err := os.Rename(filepath.Join(tmp, fresh), name); err != nil {
				return err // the old one is all there is: it stays
			}
			syncFolder(filepath.Dir(name))
		}
	}
	return os.RemoveAll(tmp)
}

// onlyOurs reports whether a folder contains only what Folder puts there.
func onlyOurs(tmp string) bool {
	entries, err := os.ReadDir(tmp)
	return err == nil && !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != fresh && e.Name() != old })
}
