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

// ForeignError says that a store is not replaced, because its folder holds a file that
// belongs to no store, such as notes that somebody put there. It is an fs.ErrExist.
type ForeignError struct {
	Store string
	File  string // below Store
}

// Error names the store and the file.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s holds %s, which is not of the store: nothing in it is overwritten", e.Store, e.File)
}

// Is reports that something exists which stays.
func (e *ForeignError) Is(target error) bool { return target == fs.ErrExist }

// chunkFile matches the names of chunks, such as 0.0 and, in folders of their own, 0.
var chunkFile = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*$`)

// Foreign looks through the folder of a store for files that belong to no store. The first
// of them is a *ForeignError.
func Foreign(store string) error {
	arrays := map[string]bool{} // whether a folder has the chunks of an array
	return filepath.WalkDir(store, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		parent := filepath.Dir(path)
		if e.IsDir() {
			_, err := os.Stat(filepath.Join(path, ".zarray"))
			arrays[path] = err == nil || path != store && arrays[parent] && chunkFile.MatchString(e.Name())
			return nil
		}
		if e.Type().IsRegular() && (metadata(e.Name()) || arrays[parent] && chunkFile.MatchString(e.Name())) {
			return nil
		}
		file, err := filepath.Rel(store, path)
		if err != nil {
			return err
		}
		return &ForeignError{Store: store, File: file}
	})
}

// metadata reports whether a file of this name may be in any folder of a store.
func metadata(name string) bool {
	switch name {
	case ".zgroup", ".zattrs", ".zarray", ".zmetadata", runlock.Name:
		return true
	}
	return atomicfile.Temporary(name)
}

// replaceable refuses to replace a store that holds files of others. What is no store is
// for others to judge.
func replaceable(name string, s Settings) error {
	if !s.Overwrite || !Is(name) {
		return nil
	}
	return Foreign(name)
}
