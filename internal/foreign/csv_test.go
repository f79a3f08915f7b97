// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign_test

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// Texts that a spreadsheet would calculate are texts in a table; numbers stay numbers, and invisible characters are seen.
func TestTablesHoldNoFormulas(t *testing.T) {
	var b strings.Builder
	w := foreign.CSV(&b)
	ok(t, w.WriteAll([][]string{{"=cmd|calc!A1.csv", "+x", "-x.csv", "@sum", "a\u200bb"}, {"-1.5", "+3", "-inf", "1e-5", "-"}, {"", "=", "a=b", "-1-1", "NaN"}}))
	want := "'=cmd|calc!A1.csv,'+x,'-x.csv,'@sum,a\\u200bb\n-1.5,+3,-inf,1e-5,-\n,=,a=b,'-1-1,NaN\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	for _, r := range "\u00ad\u061c\u200b\u200c\u200d\u200e\u2060\ufeff" {
		if got := foreign.Text("a" + string(r)); strings.ContainsRune(got, r) {
			t.Errorf("%U stays invisible", r)
		}
	}
}
