// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

// FieldError is a mistake in what a problem says of one name, such as the prior of a parameter.
type FieldError struct {
	Field string // name of the field in problem files, such as priors
	Name  string
	Err   error
}

// Error says what is wrong.
func (e *FieldError) Error() string { return e.Err.Error() }

// Unwrap returns the error inside.
func (e *FieldError) Unwrap() error { return e.Err }

// ofPrior says that an error is about the prior of a parameter.
func ofPrior(name string, err error) error {
	if err == nil {
		return nil
	}
	return &FieldError{"priors", name, err}
}
