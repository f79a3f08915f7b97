// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"testing"
)

// Draws are the same for any number of threads; a change of the sampler changes
// them, and the story must still be true then.
func TestReport(t *testing.T) {
	var b bytes.Buffer
	if err := report(&b); err != nil {
		t.Fatal(err)
	}
	const want = `as it should be
a: ranks are so uneven by chance in 0.12 of cases; -0.1 standard errors too many at the ends
b: ranks are so uneven by chance in 0.99 of cases; -0.2 standard errors too many at the ends
The ranks do not depart from uniform ones.

the prior of a counted three times
a: ranks are so uneven by chance in 0.00039 of cases; +3.8 standard errors too many at the ends
b: ranks are so uneven by chance in 0.89 of cases; -0.4 standard errors too many at the ends
The ranks of a are not uniform.

`
	if got := b.String(); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}
