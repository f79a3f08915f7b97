package optim

import "github.com/euryale-dev/euryale/internal/given"

// PanicError is a panic of a user's function, turned into an error, with its Value and
// its Stack.
type PanicError = given.PanicError
