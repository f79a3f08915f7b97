// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/data"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError

// bad returns an error about a place in a file. What is said after the last semicolon is what to try.
func bad(file, key, format string, args ...any) *FormatError {
	what, try := fmt.Sprintf(format, args...), ""
	if i := strings.LastIndex(what, "; "); i >= 0 {
		what, try = what[:i], what[i+2:]
	}
	return &FormatError{Format: "homodyne", File: file, Place: foreign.Short(key, 120), What: what, Try: try}
}
