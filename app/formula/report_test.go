// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

// The page of a fit has its parameters with their errors, and that of groups those of each with its verdict.
func TestPagesOfFitsHaveTheirParameters(t *testing.T) {
	file := apptest.Write(t, "d.csv", "g,x,y\na,0,1.02\na,1,2.1\na,2,2.9\na,3,4.05\na,4,4.9\nb,0,0.5\nb,1,1.1\nb,2,1.4\nb,3,2.1\nb,4,2.4\n")
	t.Chdir(t.TempDir())
	for flags, want := range map[string][]string{
		"--fix c=0 --out one": {"<td>m</td><td>0.99 ± 0.13</td>", "<td>c</td><td>0 (fixed or tied)</td>"},
		"--by g --out groups": {"<h2>g=a</h2>", "<td>m</td><td>0.971 ± 0.028</td>", "<h2>g=b</h2>", "The model agrees with the data."},
	} {
		args := append([]string{"fit", "curve", file, "m*x+c", "--quiet"}, strings.Fields(flags)...)
		if code, _, stderr := apptest.Do(t, args...); code != exit.OK {
			t.Fatalf("%s: exit %d: %s", flags, code, stderr)
		}
		page, err := os.ReadFile(args[len(args)-1] + "/report.html")
		for _, w := range want {
			if err != nil || !strings.Contains(string(page), w) {
				t.Errorf("%s: %v: the page lacks %q", flags, err, w)
			}
		}
	}
}
