// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stancsv_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/stancsv"
)

// Tables of CmdStan's methods: those of the methods that draw are read, without what is no draw; the others are refused by
// name.
func TestMethods(t *testing.T) {
	table := "lp__,a\n-1,5\n-2,0.1\n-3,0.2\n"
	for method, want := range map[string]struct {
		draws   int
		refused string
	}{
		"sample": {3, ""}, "variational": {2, ""}, "pathfinder": {3, ""}, "laplace": {3, ""}, "generate_quantities": {3, ""}, "": {3, ""},
		"optimize": {0, "method = optimize"}, "diagnose": {0, "method = diagnose"}, "log_prob": {0, "method = log_prob"},
	} {
		for _, mark := range []string{"", "\ufeff"} {
			text := table
			if method != "" {
				text = "# method = " + method + " (Default)\n" + table
			}
			c, err := stancsv.Read(strings.NewReader(mark+text), "x.csv")
			switch {
			case want.refused != "":
				if err == nil || !strings.Contains(err.Error(), want.refused) || !strings.Contains(err.Error(), "no draws") {
					t.Errorf("%s: %v, want a refusal with %q", method, err, want.refused)
				}
			case err != nil:
				t.Errorf("%s: %v", method, err)
			case len(c.Draws) != want.draws || c.Method() != method:
				t.Errorf("%s: %d draws of method %q, want %d", method, len(c.Draws), c.Method(), want.draws)
			case (c.Mean != nil) != (method == "variational"):
				t.Errorf("%s: the mean is %v", method, c.Mean)
			case c.Mean != nil && c.Mean[1] != 5:
				t.Errorf("the mean is %v, want 5", c.Mean)
			}
		}
	}
}

// CmdStan's diagnose writes comments alone, which are named as what they are.
func TestDiagnoseFile(t *testing.T) {
	text := "# stan_version_major = 2\n# method = diagnose\n#   diagnose\n#     test = gradient (Default)\n# TEST GRADIENT MODE\n#\n#  Log probability=-12.5\n#\n# param idx           value           model     finite diff           error\n#         0        0.123            -1.5           -1.5       1e-09\n"
	if _, err := stancsv.Read(strings.NewReader(text), "x.csv"); err == nil || !strings.Contains(err.Error(), "CmdStan's test of gradients") {
		t.Error(err)
	}
}

// Chains whose columns have another order are brought into that of the first; a column that only one of them has is named.
func TestArrange(t *testing.T) {
	make := func(columns string) *stancsv.Chain {
		return &stancsv.Chain{Columns: strings.Split(columns, ","), Draws: [][]float64{{1, 2, 3}}, Warmup: [][]float64{{4, 5, 6}}}
	}
	chains := []*stancsv.Chain{make("lp__,a,b"), make("b,lp__,a")}
	if err := stancsv.Arrange(chains, []string{"1", "2"}); err != nil {
		t.Fatal(err)
	}
	if c := chains[1]; !slices.Equal(c.Columns, chains[0].Columns) || !slices.Equal(c.Draws[0], []float64{2, 3, 1}) || !slices.Equal(c.Warmup[0], []float64{5, 6, 4}) {
		t.Errorf("arranged: %+v", c)
	}
	for want, columns := range map[string]string{"it lacks the column b": "lp__,a,c", "only it has the column c": "lp__,a,b,c"} {
		err := stancsv.Arrange([]*stancsv.Chain{make("lp__,a,b"), make(columns)}, []string{"one.csv", "two.csv"})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "two.csv") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
