// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"fmt"

	"github.com/euryale-dev/euryale/data"
)

// ErrIncomplete is matched by errors.Is if a file lacks a required part.
var ErrIncomplete = data.ErrIncomplete

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError

func bad(file, key, format string, args ...any) *FormatError {
	return &FormatError{Format: "survey", File: file, Place: key, What: fmt.Sprintf(format, args...)}
}
