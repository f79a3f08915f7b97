// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/zarr"
)

// MayReplace refuses to write where something exists that --overwrite may not replace, or
// that it could replace but --overwrite was not given.
func MayReplace(out, kind string, overwrite bool) error {
	st, err := os.Lstat(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	switch stays := whatStays(out, kind, st.IsDir()); {
	case stays != "":
		return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s exists and %s, so it is not overwritten", out, stays), Hint: "choose another name than " + out}
	case !overwrite:
		return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s exists", out), Hint: "--overwrite, or another name than " + out}
	}
	return nil
}

// whatStays says why convert must not replace what exists at out; it returns "" if
// convert may replace it.
func whatStays(out, kind string, folder bool) string {
	switch wanted := kind == "zarr" || kind == "csv"; {
	case folder && !wanted:
		return "is a folder"
	case !folder && wanted:
		return "is no folder"
	case kind == "zarr" && !zarr.Is(out):
		return "is no Zarr folder"
	case kind == "zarr":
		return staysInStore(out)
	case kind == "csv":
		return foreignInFolder(out)
	}
	return ""
}

// foreignInFolder describes the first entry of a folder of chains that is not a chain; it
// returns "" if there is none.
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

// staysInStore describes a file in a Zarr folder that belongs to no store; it returns ""
// if there is none.
func staysInStore(out string) string {
	err := zarr.Foreign(out)
	var foreign *zarr.ForeignError
	switch {
	case errors.As(err, &foreign):
		return "holds " + foreign.File + ", which is not of the store"
	case err != nil:
		return err.Error()
	}
	return ""
}
