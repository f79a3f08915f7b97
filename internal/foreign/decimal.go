// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"regexp"
	"strings"
)

// commaNumber is a number whose decimal sign is a comma.
var commaNumber = regexp.MustCompile(`^[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?$`)

// Decimal returns a number with a point in the place of a decimal comma, or "" if a text is no number with a decimal comma.
func Decimal(text string) string {
	if text = strings.TrimSpace(text); commaNumber.MatchString(text) {
		return strings.Replace(text, ",", ".", 1)
	}
	return ""
}

// NumberTry says how a text that is no number should be written: with a decimal point if it has a comma, and otherwise as usual says.
func NumberTry(text, usual string) string {
	if d := Decimal(text); d != "" {
		return "write " + d + ", as the decimal sign is a point"
	}
	return usual
}
