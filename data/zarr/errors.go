// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"fmt"

	"github.com/euryale-dev/euryale/data"
)

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError

// copyAgain is the remedy for damaged stores.
const copyAgain = "copy the store again, or write it again"

func bad(format string, args ...any) *FormatError {
	return &FormatError{Format: "zarr", What: fmt.Sprintf(format, args...)}
}
