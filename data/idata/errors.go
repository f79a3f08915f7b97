// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package idata

import (
	"fmt"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// FormatError reports a file that does not contain draws as JSON.
type FormatError struct {
	File   string
	Offset int // position in bytes from the start; -1 if the error concerns the whole file
	What   string
	Err    error
}

func (e *FormatError) Error() string {
	where := e.File
	if e.Offset >= 0 {
		where += fmt.Sprintf(" at byte %d", e.Offset)
	}
	return errtext.Join("idata", where, e.What, errtext.Cause(e.Err))
}

func (e *FormatError) Unwrap() error { return e.Err }
