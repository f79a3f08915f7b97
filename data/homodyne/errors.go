// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// FormatError says what is wrong with a file, and where.
type FormatError struct {
	File string
	Line int    // line of a text, from 1; 0 for none
	Key  string // path inside the file
	What string // description of the mistake, with the numbers
	Try  string // remedy to try
	Err  error  // underlying error; may be nil
}

// Error returns file, line, key, what is wrong and what to try.
func (e *FormatError) Error() string {
	line := ""
	if e.Line > 0 {
		line = fmt.Sprintf("line %d", e.Line)
	}
	return errtext.Join("homodyne", e.File, line, foreign.Short(e.Key, 120), e.What, errtext.Cause(e.Err), e.Try)
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// bad returns an error about a place in a file. What is said after the last semicolon is what to try.
func bad(file, key, format string, args ...any) *FormatError {
	what, try := fmt.Sprintf(format, args...), ""
	if i := strings.LastIndex(what, "; "); i >= 0 {
		what, try = what[:i], what[i+2:]
	}
	return &FormatError{File: file, Key: key, What: what, Try: try}
}
