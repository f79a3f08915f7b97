// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package netcdf

import (
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// FormatError reports a file that is not netCDF 4 or has unsupported parts.
type FormatError struct {
	File string
	Key  string // path of the object in the file
	What string
	Try  string
	Err  error
}

func (e *FormatError) Error() string {
	return errtext.Join("netcdf", strings.TrimSpace(e.File+" "+e.Key), e.What, errtext.Cause(e.Err), e.Try)
}

func (e *FormatError) Unwrap() error { return e.Err }

func bad(key, format string, args ...any) *FormatError {
	return &FormatError{Key: key, What: fmt.Sprintf(format, args...)}
}
