// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// form is a form of files. The file that reads it registers it.
type form struct {
	// rank orders the forms that fit the same file: smaller ones are tried first.
	rank int
	// fits reports whether a file is of the form, by its name and its first bytes; for a folder those are nil.
	fits func(name string, head []byte, folder bool) bool
	open func(name string, s Settings) (*content, error)
}

// forms are the registered forms by name.
var forms = map[string]form{}

func register(name string, f form) { forms[name] = f }

// Forms returns the names of the forms, in alphabetical order.
func Forms() []string { return slices.Sorted(maps.Keys(forms)) }

// pointer is how the files begin that Git LFS leaves in place of large ones.
const pointer = "version https://git-lfs"

// Open reads a file or a folder. The error names the file, what is wrong and what to try.
func Open(name string, s Settings) (*Set, error) {
	c, err := open(name, s)
	if err != nil {
		return nil, err
	}
	if c.close != nil {
		defer c.close()
	}
	set, err := c.set(s)
	if err != nil {
		return nil, err
	}
	return set, set.mask(c, s)
}

// Recognised reports whether a file or folder is of a form that holds measured patterns: images, netCDF, HDF5 or Zarr. Tables as text, of
// which any could be one, are not recognised; see Tabulated. It does not read the numbers of large files.
func Recognised(name string) bool {
	c, err := open(name, Settings{})
	if err != nil {
		return false
	}
	if c.close != nil {
		c.close()
	}
	return c.form != "table"
}

func open(name string, s Settings) (*content, error) {
	if s.Bin < 0 || s.Exposure < 0 || s.Saturation < 0 {
		return nil, defect(name, "give a bin, an exposure and a saturation of at least 0", "the settings have a bin of %d, an exposure of %g s and a saturation of %g", s.Bin, s.Exposure, s.Saturation)
	}
	if s.QUnit != "" && s.QUnit != "1/nm" && s.QUnit != "1/A" {
		return nil, defect(name, `give "1/nm" or "1/A" as the unit of q`, "the settings have the unit %q of q", s.QUnit)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("scatter: %w", err)
	}
	var head []byte
	if !info.IsDir() {
		if head, err = headOf(name); err != nil {
			return nil, err
		}
	}
	if bytes.HasPrefix(head, []byte(pointer)) {
		return nil, defect(name, "run git lfs pull", "this is a pointer of Git LFS and not the file")
	}
	byRank := slices.SortedFunc(maps.Keys(forms), func(a, b string) int { return forms[a].rank - forms[b].rank })
	for _, form := range byRank {
		if !forms[form].fits(name, head, info.IsDir()) {
			continue
		}
		c, err := forms[form].open(name, s)
		if err != nil {
			return nil, within(name, err)
		}
		c.name, c.form = name, form
		c.nameAxes()
		return c, nil
	}
	what := "its first bytes are of none of the forms that are read"
	if kind := foreign.NotText(head); kind != "" && !info.IsDir() {
		what = "it is " + kind
	} else if info.IsDir() {
		what = "the folder holds no store of Zarr and no images"
	}
	return nil, defect(name, "give netCDF, Zarr, NeXus, HDF5, FITS, TIFF, NPY or NPZ, a table as text, or a folder of TIFF or FITS images", "%s", what)
}

// headOf returns the first bytes of a file.
func headOf(name string) ([]byte, error) {
	f, err := foreign.Open(name)
	if err != nil {
		return nil, fmt.Errorf("scatter: %w", err)
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, fmt.Errorf("scatter: %w", err)
	}
	return head[:n], nil
}

// within names the file in an error of a reader that does not.
func within(name string, err error) error {
	if own := (*FormatError)(nil); errors.As(err, &own) && own.Format == "scatter" {
		return err
	}
	if strings.Contains(err.Error(), name) {
		return fmt.Errorf("scatter: %w", err)
	}
	return &FormatError{Format: "scatter", File: name, What: "it cannot be read", Err: err}
}
