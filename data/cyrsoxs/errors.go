// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/data"
)

// ErrIncomplete is matched by errors.Is if a file or value lacks a required part.
var ErrIncomplete = data.ErrIncomplete

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError

// mistakes collects errors.
type mistakes []error

func (m *mistakes) add(key, try, format string, args ...any) *FormatError {
	e := &FormatError{Format: "cyrsoxs", Place: key, What: fmt.Sprintf(format, args...), Try: try}
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
