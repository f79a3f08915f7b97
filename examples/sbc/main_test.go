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
a: ranks are so uneven by chance in 0.052 of cases; -0.5 standard errors too many at the ends
b: ranks are so uneven by chance in 0.71 of cases; -0.7 standard errors too many at the ends
Diagnostics satisfactory.

the prior of a counted three times
a: ranks are so uneven by chance in 0.0016 of cases; +4.7 standard errors too many at the ends
b: ranks are so uneven by chance in 0.71 of cases; -0.8 standard errors too many at the ends
1 problem: calibration.

`
	if got := b.String(); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}
