// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"strings"
	"testing"
)

// A letter of another alphabet is shown whole, with what names may have.
func TestOtherLetters(t *testing.T) {
	for text, want := range map[string]string{"α*x": "found \"α\", which no name may have", "2*x+é": "found \"é\"", "x+€": "found \"€\" instead of a number"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
