// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package netcdf

import (
	"fmt"

	"github.com/euryale-dev/euryale/data"
)

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError

func bad(key, format string, args ...any) *FormatError {
	return &FormatError{Format: "netcdf", Place: key, What: fmt.Sprintf(format, args...)}
}
