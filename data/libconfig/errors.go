// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package libconfig

import "github.com/euryale-dev/euryale/data"

var (
	// ErrNotFound is matched by errors.Is if a setting is missing.
	ErrNotFound = data.ErrNotFound
	// ErrKind is matched if a setting is not of the requested kind.
	ErrKind = data.ErrType
)

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError
