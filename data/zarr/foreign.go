// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/runlock"
)

// ForeignError says that a store was not replaced because its folder contains a file that
// is not part of any store, such as notes that somebody put there. It matches
// fs.ErrExist.
type ForeignError struct {
	Store string
	File  string // path of the file relative to Store
}

// Error names the store and the file.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s holds %s, which is not of the store: nothing in it is overwritten", e.Store, e.File)
}

// Is reports whether target is fs.ErrExist.
func (e *ForeignError) Is(target error) bool { return target == fs.ErrExist }

// chunkFile matches the names of chunks, such as 0.0, or 0 if chunks are in nested
// folders.
var chunkFile = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*$`)

// Foreign searches the folder of a store for files that are not part of a store. It returns a
// *ForeignError for the first one.
func Foreign(store string) error {
	arrays := map[string]bool{} // whether a folder contains chunks of an array
	return filepath.WalkDir(store, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		parent := filepath.Dir(path)
		if e.IsDir() {
			_, err := os.Stat(filepath.Join(path, ".zarray"))
			three := path != store && e.Name() == "c" && there(filepath.Join(parent, root3))
			arrays[path] = err == nil || three || path != store && arrays[parent] && chunkFile.MatchString(e.Name())
			return nil
		}
		if e.Type().IsRegular() && (metadata(e.Name()) || e.Name() == "c" && there(filepath.Join(parent, root3)) || arrays[parent] && chunkFile.MatchString(e.Name())) {
			return nil
		}
		file, err := filepath.Rel(store, path)
		if err != nil {
			return err
		}
		return &ForeignError{Store: store, File: file}
	})
}

// there reports whether a file exists.
func there(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// metadata reports whether any folder of a store may contain a file with this name.
func metadata(name string) bool {
	switch name {
	case ".zgroup", ".zattrs", ".zarray", ".zmetadata", root3, runlock.Name:
		return true
	}
	return atomicfile.Temporary(name)
}

// replaceable returns an error for a store that contains foreign files. It accepts
// folders that are not stores.
func replaceable(name string, s Settings) error {
	if !s.Overwrite || !Is(name) {
		return nil
	}
	return Foreign(name)
}
