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
	// ErrRefused is matched by errors.Is for pickles that call or construct something that no
	// checkpoint of weights needs.
	ErrRefused = errors.New("refused")
	// ErrUnsupported is matched by errors.Is for files of old versions and for element types that this
	// package lacks.
	ErrUnsupported = errors.New("not supported")
	// ErrNotFound is matched by errors.Is for keys that a dictionary does not have.
	ErrNotFound = errors.New("not found")
	// ErrType is matched by errors.Is if a value or its elements have a different type from the one
	// asked for.
	ErrType = errors.New("wrong type")
)

// tryAgain is the remedy for damaged checkpoints.
const tryAgain = "copy the file again, or save it again with torch.save"

// FormatError says what is wrong with a checkpoint, and where.
type FormatError struct {
	File   string // name given to Load or Save
	Record string // name of the file in the archive; "" for the archive itself
	Offset int64  // position in the record in bytes; -1 if the error has no particular position
	What   string // description of the mistake, with the numbers
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

// MissingError says that a dictionary does not have a key.
type MissingError struct {
	Key  string
	Near []string // existing keys, the most similar first
}

// Error names the missing key and similar keys.
func (e *MissingError) Error() string {
	s := "torch: there is no " + e.Key
	if len(e.Near) == 0 {
		return s + ": list what exists with Keys"
	}
	return s + ": nearest are " + strings.Join(e.Near[:min(len(e.Near), 4)], ", ")
}

// Unwrap returns ErrNotFound, so that errors.Is matches it.
func (e *MissingError) Unwrap() error { return ErrNotFound }
