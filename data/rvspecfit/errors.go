// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit

import (
	"fmt"

	"github.com/euryale-dev/euryale/data"
)

var (
	// ErrIncomplete is matched by errors.Is if a file lacks a required part.
	ErrIncomplete = data.ErrIncomplete
	// ErrRefused is matched by errors.Is for Python pickles, which are programs and are not run.
	ErrRefused = data.ErrRefused
)

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError

func bad(file, key, format string, args ...any) *FormatError {
	return &FormatError{Format: "rvspecfit", File: file, Place: key, What: fmt.Sprintf(format, args...)}
}
