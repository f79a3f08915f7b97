// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"testing"
)

func TestReport(t *testing.T) {
	var b bytes.Buffer
	if err := report(&b); err != nil {
		t.Fatal(err)
	}
	const want = `D                   1992 +- 29
contrast.q1       0.3015 +- 0.0042
background.q1     0.9999 +- 0.004
contrast.q2        0.274 +- 0.0027
background.q2     0.9988 +- 0.0025
contrast.q3       0.2418 +- 0.0019
background.q3          1 +- 0.0017
contrast.q4       0.2096 +- 0.0016
background.q4      1.002 +- 0.0013
converged
D within 1935 .. 2050 nm^2/s (95 %)
relaxation time at 0.055/nm 0.166 s, within 0.161 .. 0.171
The data determine the parameters (condition 15).
The model agrees with the data (reduced chi-square 1.17, expected 0.653 to 1.43).
`
	if got := b.String(); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}
