// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package given

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a panic of a user's function, converted to an error.
type PanicError struct {
	Value any
	Stack string
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("panicked: %v\n%s", e.Value, e.Stack)
}

// Caught, when deferred, converts a panic to an error of its function.
func Caught(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{v, string(debug.Stack())}
	}
}

// CaughtAs, deferred, makes a panic the error of its function, in the form that wrap gives
// the PanicError.
func CaughtAs(err *error, wrap func(error) error) {
	if v := recover(); v != nil {
		*err = wrap(&PanicError{v, string(debug.Stack())})
	}
}
