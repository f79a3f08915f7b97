// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package libconfig

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/internal/errtext"
)

var (
	// ErrNotFound is matched by errors.Is if a setting is missing.
	ErrNotFound = errors.New("not found")
	// ErrKind is matched if a setting is not of the requested kind.
	ErrKind = errors.New("wrong kind")
)

// FormatError says what is wrong with a file or a setting, and where.
type FormatError struct {
	File   string
	Line   int    // line in the file, from 1; 0 if the error concerns the file as a whole
	Column int    // column in bytes, from 1; 0 if the error concerns the line as a whole
	What   string // description of the mistake
	Try    string // remedy to try
	Err    error  // cause or sentinel; may be nil
}

// Error returns file, line, column, what is wrong and what to try.
func (e *FormatError) Error() string {
	where := e.File
	if e.Line > 0 {
		where += fmt.Sprintf(":%d", e.Line)
	}
	if e.Column > 0 {
		where += fmt.Sprintf(":%d", e.Column)
	}
	return errtext.Join("libconfig", where, e.What, errtext.Cause(e.Err, ErrNotFound, ErrKind), e.Try)
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }
