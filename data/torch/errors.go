// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"errors"
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
)

var (
	// ErrRefused is matched for pickles that call or construct what no checkpoint of weights needs.
	ErrRefused = errors.New("refused")
	// ErrUnsupported is matched for files of old versions and element types that this package lacks.
	ErrUnsupported = errors.New("not supported")
	// ErrNotFound is matched for keys that a dictionary does not have.
	ErrNotFound = errors.New("not found")
	// ErrType is matched when a value or its elements are of another type than asked for.
	ErrType = errors.New("wrong type")
)

// FormatError says what is wrong with a checkpoint, and where.
type FormatError struct {
	File   string // name given to Load or Save
	Record string // file in the archive; "" for the archive
	Offset int64  // byte of the record; -1 if no single byte is to blame
	What   string // what is wrong, with the numbers
	Try    string // remedy to try
	Err    error  // cause or sentinel; may be nil
}

// Error returns file, record, byte, what is wrong and what to try.
func (e *FormatError) Error() string {
	at := ""
	if e.Offset >= 0 {
		at = fmt.Sprintf("at byte %d", e.Offset)
	}
	return errtext.Join("torch", e.File, e.Record, at, e.What, errtext.Cause(e.Err, ErrRefused, ErrUnsupported, ErrType), e.Try)
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// MissingError says that a dictionary has no such key.
type MissingError struct {
	Key  string
	Near []string // existing keys, nearest first
}

// Error names the key and its neighbours.
func (e *MissingError) Error() string {
	s := "torch: there is no " + e.Key
	if len(e.Near) == 0 {
		return s
	}
	return s + ": nearest are " + strings.Join(e.Near[:min(len(e.Near), 4)], ", ")
}

// Unwrap returns ErrNotFound.
func (e *MissingError) Unwrap() error { return ErrNotFound }
