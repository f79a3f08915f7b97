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
		{[]string{"a + b*x", "--start", "a=nan"}, "nan is no finite number"},
		{[]string{"a*exp(b*x)", "--by", "g"}, "starts were found from the data: in "},
	} {
		_, _, errors := apptest.Do(t, append([]string{"fit", "curve", table}, c.args...)...)
		if !strings.Contains(errors, c.want) || strings.Count(errors, "starts were found") > 1 {
			t.Errorf("%q: %s\nwant %s", c.args, errors, c.want)
		}
	}
}
