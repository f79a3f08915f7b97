// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package idata

import "github.com/euryale-dev/euryale/data"

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError
