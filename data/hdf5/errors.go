// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
)

var (
	// ErrNotFound is matched by errors.Is for a path or attribute that a file
	// does not have.
	ErrNotFound = errors.New("not found")
	// ErrUnsupported is matched by errors.Is for parts of HDF5 that this package does not read, such as
	// the zfp filter; the package comment lists them.
	ErrUnsupported = errors.New("not supported")
	// ErrType is matched by errors.Is if the elements cannot be converted to the Go type asked for.
	ErrType = errors.New("wrong type")
)

// FormatError says what is wrong with a file, and where.
type FormatError struct {
	File   string // name given to Open
	Path   string // path of the object being read; "" if none has been read yet
	Offset int64  // position in the file in bytes; -1 if the error has no particular position
	What   string // description of the mistake, with the numbers
	Try    string // remedy to try
	Err    error  // cause or sentinel; may be nil
}

// Error returns file, object, byte, what is wrong and what to try.
func (e *FormatError) Error() string {
	at := ""
	if e.Offset >= 0 {
		at = fmt.Sprintf("at byte %d", e.Offset)
	}
	return errtext.Join("hdf5", e.File, e.Path, at, e.What, errtext.Cause(e.Err, ErrUnsupported, ErrType, fs.ErrInvalid), e.Try)
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

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

// MissingError says that a file has no such object or attribute.
type MissingError struct {
	File string
	Key  string   // the path, or path@attribute
	Near []string // existing keys, the most similar first
}

// Error names the file, the missing key and similar keys.
func (e *MissingError) Error() string {
	s := fmt.Sprintf("hdf5: %s has no %s", e.File, e.Key)
	if len(e.Near) == 0 {
		return s + ": there is nothing with a similar name; list what exists with Keys"
	}
	return s + ": nearest are " + strings.Join(e.Near, ", ")
}

// Unwrap returns ErrNotFound, so that errors.Is matches it.
func (e *MissingError) Unwrap() error { return ErrNotFound }

const damaged = "the file is damaged or cut off; copy or download it again"

// bad returns an error for damage at an address of the file.
func (f *File) bad(addr uint64, format string, args ...any) *FormatError {
	return &FormatError{File: f.name, Offset: f.base + int64(addr&(1<<62-1)), What: fmt.Sprintf(format, args...), Try: damaged}
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
	if errors.As(err, &e) && e.Path == "" {
		e.Path = path
	}
	return err
}
