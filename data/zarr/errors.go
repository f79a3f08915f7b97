// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// FormatError reports a store that is damaged or has an unsupported format.
type FormatError struct {
	Store string
	Key   string // array or file in the store
	What  string
	Try   string
	Err   error
}

func (e *FormatError) Error() string {
	return errtext.Join("zarr", strings.TrimSpace(e.Store+" "+e.Key), e.What, errtext.Cause(e.Err), e.Try)
}

func (e *FormatError) Unwrap() error { return e.Err }

// copyAgain is the remedy for damaged stores.
const copyAgain = "copy the store again, or write it again"

func bad(format string, args ...any) *FormatError {
	return &FormatError{What: fmt.Sprintf(format, args...)}
}
