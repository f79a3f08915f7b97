// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// ErrIncomplete is matched by errors.Is if a file or value lacks a required part.
var ErrIncomplete = errors.New("incomplete")

// FormatError says what is wrong with a file or value, and where. Functions that
// find several mistakes return all of them, joined.
type FormatError struct {
	File string // name of the file; "" for values that come from no file
	Line int    // line of a text, from 1; 0 for none
	Key  string // name of the setting, energy group, dataset or field
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
	return errtext.Join("cyrsoxs", where, e.Key, e.What, errtext.Cause(e.Err, ErrIncomplete), e.Try)
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// mistakes collects errors.
type mistakes []error

func (m *mistakes) add(key, try, format string, args ...any) *FormatError {
	e := &FormatError{Key: key, What: fmt.Sprintf(format, args...), Try: try}
	*m = append(*m, e)
	return e
}

// in adds the name of the file to all errors and joins them; it returns nil if there are none.
func (m mistakes) in(file string) error {
	for _, err := range m {
		if e, ok := err.(*FormatError); ok {
			e.File = file
		}
	}
	return errors.Join(m...)
}
