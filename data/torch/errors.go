// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package torch

import "github.com/euryale-dev/euryale/data"

var (
	// ErrRefused is matched by errors.Is for pickles that call or construct something that no
	// checkpoint of weights needs.
	ErrRefused = data.ErrRefused
	// ErrUnsupported is matched by errors.Is for files of old versions and for element types that this
	// package lacks.
	ErrUnsupported = data.ErrUnsupported
	// ErrNotFound is matched by errors.Is for keys that a dictionary does not have.
	ErrNotFound = data.ErrNotFound
	// ErrType is matched by errors.Is if a value or its elements have a different type from the one
	// asked for.
	ErrType = data.ErrType
)

// tryAgain is the remedy for damaged checkpoints.
const tryAgain = "copy the file again, or save it again with torch.save"

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError

// MissingError says that a file has no such part.
type MissingError = data.MissingError
