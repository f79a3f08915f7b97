// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import "github.com/euryale-dev/euryale/internal/given"

// PanicError is a panic of a user's function, turned into an error, with its Value and
// its Stack.
type PanicError = given.PanicError
