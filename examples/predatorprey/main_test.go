// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
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
	const want = `theta[birth]     0.548 +- 0.065
theta[eaten]     0.028 +- 0.004
theta[death]     0.800 +- 0.093
theta[feeding]   0.024 +- 0.004
start[hare]     34.091 +- 2.887
start[lynx]      5.950 +- 0.541
sigma[hare]      0.248 +- 0.044
sigma[lynx]      0.252 +- 0.044
All checks of the draws passed.
The model agrees with the data.
`
	got, lines := strings.Split(b.String(), "\n"), strings.Split(want, "\n")
	for i, line := range lines {
		var name, ownName string
		var mean, sd, ownMean, ownSD float64
		if n, _ := fmt.Sscanf(line, "%s %f +- %f", &name, &mean, &sd); n < 3 {
			if i >= len(got) || got[i] != line {
				t.Fatalf("printed\n%s\nwant\n%s", b.String(), want)
			}
			continue
		}
		// The last bits of draws depend on the machine, and their number is finite.
		if n, _ := fmt.Sscanf(got[i], "%s %f +- %f", &ownName, &ownMean, &ownSD); n < 3 || ownName != name || math.Abs(ownMean-mean) > 0.2*sd+0.001 || math.Abs(ownSD-sd) > 0.2*sd+0.001 {
			t.Errorf("%s: want about %s", got[i], line)
		}
	}
}
