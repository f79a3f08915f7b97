// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package errtext composes the texts of errors: package, place, what is wrong with which numbers,
// the cause and what to try, separated by colons.
//
//	text := errtext.Join("netcdf", e.File, e.What, errtext.Cause(e.Err), e.Try)
package errtext

import (
	"slices"
	"strings"
)

// Join joins the parts with colons and leaves out empty ones.
func Join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// Cause returns the text of an error. It is empty for nil, and for the errors in said, which tell
// programs what the text already says in words.
func Cause(err error, said ...error) string {
	if err == nil || slices.Contains(said, err) {
		return ""
	}
	return err.Error()
}
