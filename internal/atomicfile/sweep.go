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

// What a folder that replaces another holds until it has its name.
const fresh, old = "new", "old"

// hold marks a temporary file or folder as that of a living process, for as long as it
// lives. It is nil if another process has removed it, or is about to.
func hold(tmp string) *flock.Flock {
	l := flock.New(tmp, flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryLock() // where nothing can be locked nothing is taken for abandoned
	if _, gone := os.Lstat(tmp); gone != nil || err == nil && !ok {
		l.Close()
		return nil
	}
	return l
}

// Sweep removes what killed processes left in a folder, and brings what one of them was
// about to replace under its name.
func Sweep(dir string) error { return sweep(dir, "") }

// finish is Sweep for one name. What cannot be removed stays. In a folder that is itself
// temporary there is nothing.
func finish(name string) {
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(name)), "/") {
		if Temporary(part) {
			return
		}
	}
	_ = sweep(filepath.Dir(name), filepath.Base(name))
}

// sweep removes what was to be called base, or all if base is empty.
func sweep(dir, base string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		to, ok := final(e.Name())
		if !ok || base != "" && base != to || !e.IsDir() && !e.Type().IsRegular() {
			continue
		}
		errs = append(errs, abandoned(filepath.Join(dir, e.Name()), filepath.Join(dir, to)))
	}
	return errors.Join(errs...)
}

var temporaryName = regexp.MustCompile("^" + regexp.QuoteMeta(prefix) + "(.+)-[0-9a-f]{8}$")

// final is the name that a temporary one is to get; ok is false for other names.
func final(tmp string) (base string, ok bool) {
	m := temporaryName.FindStringSubmatch(tmp)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// abandoned removes a temporary file or folder unless its process lives. If that was
// killed between taking a folder's name from the old one and giving it to the new one,
// which is complete then, the new one gets it.
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

// onlyOurs reports whether a folder holds nothing but what Folder puts there.
func onlyOurs(tmp string) bool {
	entries, err := os.ReadDir(tmp)
	return err == nil && !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != fresh && e.Name() != old })
}
