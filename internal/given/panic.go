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
