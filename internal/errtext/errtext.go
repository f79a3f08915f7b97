// Package errtext writes the texts of errors: package, where, what is wrong with
// which numbers, the cause and what to try, with colons between.
//
//	text := errtext.Join("netcdf", e.File, e.What, errtext.Cause(e.Err), e.Try)
package errtext

import (
	"slices"
	"strings"
)

// Join puts colons between parts, leaving out the empty ones.
func Join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// Cause is the text of an error, and empty for none and for those that only tell
// programs what is said in words already.
func Cause(err error, said ...error) string {
	if err == nil || slices.Contains(said, err) {
		return ""
	}
	return err.Error()
}
