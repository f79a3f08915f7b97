// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/infer/check"
)

// A verdict is one line that says where details are, if it leaves any out. Warnings stay where the model is right, and notes of the command always.
func TestLinesOfVerdicts(t *testing.T) {
	note := check.Flag{Kind: "pixels left out", Text: "3 pixels were left out"}
	good := check.Verdict{OK: true, Points: 9}
	bad := check.Verdict{Points: 9, Flags: []check.Flag{{Kind: "drift", Text: "a drift would fit better; this explains much", Remedy: "add a slope"}}, Notes: []check.Flag{note}}
	bare := check.Verdict{Points: 9, Flags: []check.Flag{{Kind: "outliers", Text: "1 point lies far away"}}}
	noted := check.Verdict{OK: true, Points: 9, Notes: []check.Flag{note}}
	for _, c := range []struct {
		name    string
		v       check.Verdict
		verbose bool
		want    []string
	}{
		{"good", good, false, []string{"The model agrees with the data (reduced chi-square 0, expected 0 to 0).", "warning: tau is at its bound", "note: D0 is in A^2/s"}},
		{"noted", noted, false, []string{"The model agrees with the data (reduced chi-square 0, expected 0 to 0). Notes: --verbose.", "warning: tau is at its bound", "note: D0 is in A^2/s"}},
		{"bad", bad, false, []string{"The model disagrees with the data (reduced chi-square 0, expected 0 to 0): a drift would fit better. Try: add a slope. Details: --verbose.", "note: D0 is in A^2/s"}},
		{"bare", bare, false, []string{"The model disagrees with the data (reduced chi-square 0, expected 0 to 0): 1 point lies far away. Details: --verbose.", "note: D0 is in A^2/s"}},
		{"verbose", bad, true, []string{"The model disagrees with the data (reduced chi-square 0, expected 0 to 0): a drift would fit better. Try: add a slope.",
			"- a drift would fit better; this explains much. Try: add a slope", "warning: tau is at its bound", "note: D0 is in A^2/s", "note: 3 pixels were left out"}},
	} {
		if got := CheckDocument(c.v).lines(c.verbose, []string{"tau is at its bound"}, []string{"D0 is in A^2/s"}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q\nwant %q", c.name, got, c.want)
		}
	}
	if got := (&CheckDoc{Summary: "The model agrees with the data.", OK: true}).lines(false, nil, nil); !slices.Equal(got, []string{"The model agrees with the data."}) {
		t.Errorf("a document without a line: %q", got)
	}
}
