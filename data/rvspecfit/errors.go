// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/internal/errtext"
)

var (
	// ErrIncomplete is matched by errors.Is if a file lacks a required part.
	ErrIncomplete = errors.New("incomplete")
	// ErrRefused is matched by errors.Is for Python pickles, which are programs and are not run.
	ErrRefused = errors.New("refused")
)

// FormatError says what is wrong with a file of a library, and where.
type FormatError struct {
	File string
	Key  string // name of the dataset, column or record
	What string // description of the mistake, with the numbers
	Try  string // remedy to try
	Err  error  // cause or sentinel; may be nil
}

// Error returns file, key, what is wrong and what to try.
func (e *FormatError) Error() string {
	return errtext.Join("rvspecfit", e.File, e.Key, e.What, errtext.Cause(e.Err, ErrIncomplete, ErrRefused), e.Try)
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

func bad(file, key, format string, args ...any) *FormatError {
	return &FormatError{File: file, Key: key, What: fmt.Sprintf(format, args...)}
}
