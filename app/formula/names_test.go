// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
)

// Names that were probably meant otherwise are told, starts that are no numbers are refused, and groups share one note about their starts.
func TestNamesThatWereMeantOtherwise(t *testing.T) {
	table := apptest.Write(t, "line.csv", "x,y,pi,g\n1,2,1,u\n2,4,2,u\n3,6,3,u\n4,8.1,4,v\n5,9.9,5,v\n6,12.1,6,v\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"a*e^(-x)"}, "e is taken for a parameter; the exponential function is exp(x)"},
		{[]string{"a*x + exp"}, "exp is taken for a parameter; the function is written exp(x)"},
		{[]string{"y = a*y + b*x"}, "the formula uses y, which it describes"},
		{[]string{"a + b*pi"}, "pi is the number 3.14159 in formulas"},
		{[]string{"a + b*x", "--start", "a=nan"}, "a=nan: want name=value with a finite number"},
		{[]string{"a*exp(b*x)", "--by", "g"}, "starts were found from the data by several fits each: of 2 groups"},
	} {
		_, _, errors := apptest.Do(t, append([]string{"fit", "curve", table}, c.args...)...)
		if !strings.Contains(errors, c.want) || strings.Count(errors, "starts were found") > 1 {
			t.Errorf("%q: %s\nwant %s", c.args, errors, c.want)
		}
	}
}

// Sampling says which parameters with flat priors the data do not keep within limits, as the second of a broken decay that one alone describes, and not where the data do.
func TestFlatPriorsWithoutPosterior(t *testing.T) {
	table := apptest.Write(t, "d.csv", "x,y\n0,5.1\n1,3.2\n2,1.9\n3,1.2\n4,0.8\n5,0.4\n6,0.35\n7,0.1\n")
	for formula, want := range map[string]bool{"a*exp(-x/tau)": false, "a*exp(-x/tau)/(1 + x/k)": true} {
		_, _, errors := apptest.Do(t, "sample", "curve", table, formula, "--sigma", "0.1", "--chains", "1", "--warmup", "20", "--draws", "20", "--retries", "0", "--no-report", "--out", t.TempDir()+"/run")
		if got := strings.Contains(errors, "the data keep k within no limits"); got != want {
			t.Errorf("%s: %s", formula, errors)
		}
	}
}
