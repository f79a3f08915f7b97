// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/data"
)

var (
	// ErrNotFound is matched by errors.Is for a path or attribute that a file
	// does not have.
	ErrNotFound = data.ErrNotFound
	// ErrUnsupported is matched by errors.Is for parts of HDF5 that this package does not read, such as
	// the zfp filter; the package comment lists them.
	ErrUnsupported = data.ErrUnsupported
	// ErrType is matched by errors.Is if the elements cannot be converted to the Go type asked for.
	ErrType = data.ErrType
)

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError

// LostError says which objects of a file are damaged. The other objects have been read.
type LostError struct {
	File string
	Lost []error // errors of the damaged objects, one each, with their paths
}

// Error names the first few damaged objects.
func (e *LostError) Error() string {
	s := fmt.Sprintf("hdf5: %s: %d objects cannot be read", e.File, len(e.Lost))
	if len(e.Lost) == 1 {
		s = fmt.Sprintf("hdf5: %s: one object cannot be read", e.File)
	}
	for _, err := range e.Lost[:min(len(e.Lost), 3)] {
		s += "\n  " + err.Error()
	}
	return s
}

// Unwrap returns the errors of the objects.
func (e *LostError) Unwrap() []error { return e.Lost }

// MissingError says that a file has no such part.
type MissingError = data.MissingError

const damaged = "the file is damaged or cut off; copy or download it again"

// bad returns an error for damage at an address of the file.
func (f *File) bad(addr uint64, format string, args ...any) *FormatError {
	return &FormatError{Format: "hdf5", File: f.name, Offset: f.base + int64(addr&(1<<62-1)), What: fmt.Sprintf(format, args...), Try: damaged}
}

// unsupported returns an error for something valid that this package does not read.
func (f *File) unsupported(addr uint64, try, format string, args ...any) *FormatError {
	e := f.bad(addr, format, args...)
	e.Try, e.Err = try, ErrUnsupported
	return e
}

// within adds the object's path to an error that lacks one.
func within(path string, err error) error {
	var e *FormatError
	if errors.As(err, &e) && e.Place == "" {
		e.Place = path
	}
	return err
}
