// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"errors"
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
)

var (
	// ErrNotFound is matched by errors.Is for an HDU, column or keyword that a file does not have.
	ErrNotFound = errors.New("not found")
	// ErrUnsupported is matched by errors.Is for parts of FITS that this package does not read; the
	// package comment lists them.
	ErrUnsupported = errors.New("not supported")
	// ErrType is matched by errors.Is if the elements cannot be converted to the Go type asked for.
	ErrType = errors.New("wrong type")
	// ErrChecksum is matched by errors.Is if DATASUM or CHECKSUM does not agree with the data.
	ErrChecksum = errors.New("wrong checksum")
)

// FormatError says what is wrong with a file, and where.
type FormatError struct {
	File   string // name given to Open or Create
	HDU    string // number and name of the HDU; "" if none has been read yet
	Offset int64  // position in the (decompressed) file in bytes; -1 if the error has no particular position
	What   string // description of the mistake, with the numbers
	Try    string // remedy to try
	Err    error  // cause or sentinel; may be nil
}

// Error returns file, HDU, byte, what is wrong and what to try.
func (e *FormatError) Error() string {
	at := ""
	if e.Offset >= 0 {
		at = fmt.Sprintf("at byte %d", e.Offset)
	}
	return errtext.Join("fits", e.File, e.HDU, at, e.What, errtext.Cause(e.Err, ErrUnsupported, ErrType, ErrChecksum), e.Try)
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// MissingError says that a file has no such HDU, column or keyword.
type MissingError struct {
	File string
	HDU  string   // number and name of the HDU that was searched; "" when looking for an HDU
	Kind string   // the word extension, column or keyword
	Name string   // name that was asked for
	Near []string // existing names, the most similar first
}

// Error names the file, the missing name and similar names.
func (e *MissingError) Error() string {
	s := errtext.Join("fits", e.File, e.HDU, fmt.Sprintf("there is no %s %s", e.Kind, e.Name))
	if len(e.Near) == 0 {
		return s
	}
	return s + ": nearest are " + strings.Join(e.Near[:min(len(e.Near), 4)], ", ")
}

// Unwrap returns ErrNotFound, so that errors.Is matches it.
func (e *MissingError) Unwrap() error { return ErrNotFound }
