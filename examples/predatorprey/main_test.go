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
	if testing.Short() {
		t.Skip("it solves differential equations for three seconds")
	}
	var b bytes.Buffer
	if err := report(&b); err != nil {
		t.Fatal(err)
	}
	const want = `theta[birth]     0.547 +- 0.062
theta[eaten]     0.028 +- 0.004
theta[death]     0.800 +- 0.090
theta[feeding]   0.024 +- 0.004
start[hare]     34.028 +- 2.909
start[lynx]      5.933 +- 0.516
sigma[hare]      0.250 +- 0.046
sigma[lynx]      0.252 +- 0.042
All checks of the draws passed.
The model agrees with the data.
`
	if got := b.String(); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}
