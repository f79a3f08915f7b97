// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import "github.com/euryale-dev/euryale/data"

var (
	// ErrNotFound is matched by errors.Is for an HDU, column or keyword that a file does not have.
	ErrNotFound = data.ErrNotFound
	// ErrUnsupported is matched by errors.Is for parts of FITS that this package does not read; the
	// package comment lists them.
	ErrUnsupported = data.ErrUnsupported
	// ErrType is matched by errors.Is if the elements cannot be converted to the Go type asked for.
	ErrType = data.ErrType
	// ErrChecksum is matched by errors.Is if DATASUM or CHECKSUM does not agree with the data.
	ErrChecksum = data.ErrChecksum
)

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError

// MissingError says that a file has no such part.
type MissingError = data.MissingError
