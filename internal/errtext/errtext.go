// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package errtext composes the texts of errors: package, place, what is wrong with which numbers,
// the cause and what to try, separated by colons.
//
//	text := errtext.Join("netcdf", e.File, e.What, errtext.Cause(e.Err), e.Try)
package errtext

import (
	"fmt"
	"slices"
	"strings"
)

// Join joins the parts with colons and leaves out empty ones.
func Join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// OwnPart follows the list of names in the error of a name that is not registered.
const OwnPart = "; a part of your own needs a command that imports its package"

// Count returns a number of things in words, such as 1 point or 2 points.
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", one, "s")
}

// Agree returns the word that agrees with a number of things: one for 1, and many for other numbers.
func Agree(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Choose tells which of n things numbered from first to last can be chosen: "choose one of its 3 bins, from 1 to 3", or
// "its only bin is 1".
func Choose(n int, one string, first, last int) string {
	if n == 1 {
		return fmt.Sprintf("its only %s is %d", one, first)
	}
	return fmt.Sprintf("choose one of its %s, from %d to %d", Count(n, one), first, last)
}

// Without returns err without a prefix of its text, such as "dist: ", so that an error that wraps it does not repeat
// it. The functions errors.Is and errors.As find err in the result.
func Without(prefix string, err error) error {
	if err == nil || !strings.HasPrefix(err.Error(), prefix) {
		return err
	}
	return &shorter{strings.TrimPrefix(err.Error(), prefix), err}
}

type shorter struct {
	text string
	err  error
}

func (s *shorter) Error() string { return s.text }
func (s *shorter) Unwrap() error { return s.err }

// Cause returns the text of an error. It is empty for nil, and for the errors in said, which tell
// programs what the text already says in words.
func Cause(err error, said ...error) string {
	if err == nil || slices.Contains(said, err) {
		return ""
	}
	return err.Error()
}
