package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/runlock"
)

// mayReplace refuses to write where something is that --overwrite may not replace, or
// that may be replaced but is not asked to.
func mayReplace(out, kind string, overwrite bool) error {
	st, err := os.Lstat(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return as(exitCannotWrite, err)
	}
	switch stays := whatStays(out, kind, st.IsDir()); {
	case stays != "":
		return &exitError{code: exitCannotWrite, err: fmt.Errorf("%s exists and %s: nothing in it is overwritten", out, stays), hint: "another name than " + out}
	case !overwrite:
		return &exitError{code: exitCannotWrite, err: fmt.Errorf("%s exists", out), hint: "--overwrite, or another name than " + out}
	}
	return nil
}

// whatStays says why something may not be replaced by what convert writes; it is empty
// where that is so.
func whatStays(out, kind string, folder bool) string {
	switch wanted := kind == "zarr" || kind == "csv"; {
	case folder && !wanted:
		return "is a folder"
	case !folder && wanted:
		return "is no folder"
	case kind == "zarr" && !zarr.Is(out):
		return "is no Zarr folder"
	case kind == "zarr":
		return foreignInStore(out)
	case kind == "csv":
		return foreignInFolder(out)
	}
	return ""
}

// foreignInFolder names what is no chain in a folder of chains.
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

// chunkName matches the names of chunks, such as 0.0 and, in folders of their own, 0.
var chunkName = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*$`)

// foreignInStore names a file in a Zarr folder that no store has.
func foreignInStore(dir string) (stays string) {
	arrays := map[string]bool{} // folders with the chunks of an array, by whether they are
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		parent := filepath.Dir(path)
		if e.IsDir() {
			arrays[path] = exists(filepath.Join(path, ".zarray")) || path != dir && arrays[parent] && chunkName.MatchString(e.Name())
			return nil
		}
		switch name := e.Name(); {
		case !e.Type().IsRegular():
		case name == ".zgroup", name == ".zattrs", name == ".zarray", name == ".zmetadata", name == runlock.Name, atomicfile.Temporary(name):
			return nil
		case arrays[parent] && chunkName.MatchString(name):
			return nil
		}
		stays, _ = filepath.Rel(dir, path)
		stays = "holds " + stays + ", which is not of the store"
		return fs.SkipAll
	})
	if err != nil {
		return err.Error()
	}
	return stays
}
