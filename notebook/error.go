package notebook

import "fmt"

// Error is what the functions of this package panic with. Its text says what went wrong, in
// which step, and what to try.
type Error struct {
	Step string // the call that failed, such as Sample
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Step, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// must panics if there is an error.
func must(step string, err error) {
	if err != nil {
		panic(&Error{step, err})
	}
}

// value returns v, and panics if there is an error.
func value[T any](step string, v T, err error) T {
	must(step, err)
	return v
}
