// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// ErrIncomplete is matched by errors.Is if a file lacks a required part.
var ErrIncomplete = errors.New("incomplete")

// FormatError says what is wrong with a file of spectra, and where.
type FormatError struct {
	File string
	Line int    // line of a text, from 1; 0 for none
	Key  string // name of the extension or column
	What string // description of the mistake, with the numbers
	Try  string // remedy to try
	Err  error  // cause or ErrIncomplete; may be nil
}

// Error returns file, line, key, what is wrong and what to try.
func (e *FormatError) Error() string {
	where := e.File
	if e.Line > 0 {
		where += fmt.Sprintf(":%d", e.Line)
	}
	return errtext.Join("survey", where, e.Key, e.What, errtext.Cause(e.Err, ErrIncomplete), e.Try)
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

func bad(file, key, format string, args ...any) *FormatError {
	return &FormatError{File: file, Key: key, What: fmt.Sprintf(format, args...)}
}
