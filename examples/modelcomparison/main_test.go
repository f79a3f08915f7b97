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
	const want = `                   elpd   se    p   diff  dse  stacking  pseudo-BMA+  trusted
line, long tails  -44.7  8.7  3.2      0    0      1.00         1.00      yes
line              -57.5  9.4  5.8  -12.8  3.1      0.00         0.00       no
parabola          -58.2  9.1  6.0  -13.5  3.0      0.00         0.00       no
line, long tails predicts best; every other model is worse by more than 2 standard errors of the difference and by more than 4 in elpd. The estimates of line and parabola failed their checks, so the ranks may be wrong: to see what to do, run ` + "`euryale loo`" + ` on each of these models, or call the method Diagnose of its ELPD in Go.
`
	if got := b.String(); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}
