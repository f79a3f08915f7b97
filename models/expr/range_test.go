// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"strings"
	"testing"
)

// Data of which no sum of squares, or no fit, can be made are refused with the value or the number that is in the way.
func TestDataThatNoFitCanUse(t *testing.T) {
	for fields, want := range map[string]string{
		`"data": {"t": [1], "y": [3.5]}`:                                              "1 row cannot determine 3 parameters: want 3 or more rows, or hold 2 with --fix",
		`"data": {"t": [1, 2], "y": [3.5, 4]}`:                                        "2 rows cannot determine 3 parameters",
		`"data": {"t": [1, 2], "y": [3.5, 4]}, "fixed": {"c": 0}`:                     "",
		`"data": {"t": [1, 2], "y": [3.5, 4]}, "tied": {"c": "a"}`:                    "",
		`"data": {"t": [1, 2, 3, 4], "y": [4, 1e300, 2, 1]}`:                          "y is 1e+300 in row 2, whose square is beyond",
		`"data": {"t": [1, 2, 3e299, 4], "y": [4, 3, 2, 1]}`:                          "t is 3e+299 in row 3, whose square is beyond",
		`"data": {"t": [0, 2e-310, 3e-310, 4e-310], "y": [4, 3, 2, 1]}`:               "the largest value of t is 4e-310, whose square is below",
		`"data": {"t": [1, 2, 3, 4], "y": [0, 3e-310, 2e-310, 1e-310]}`:               "the largest value of y is 3e-310, whose square is below",
		`"sigma": "s", "data": {"t": [1, 2], "y": [1, 2], "s": [1, 5e-324]}`:          "2 rows cannot determine",
		`"sigma": "s", "data": {"t": [1, 2, 3], "y": [1, 2, 3], "s": [1, 5e-324, 1]}`: "y/s is +Inf in row 2, whose square is beyond",
	} {
		p, err := Parse(fmt.Appendf(nil, `{"expr": "a*exp(-t/tau) + c", "start": {"a": 1, "tau": 1%s}, %s}`, map[bool]string{true: "", false: `, "c": 1`}[strings.Contains(fields, "fixed") || strings.Contains(fields, "tied")], fields))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err = p.LeastSquares(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: want %q: %v", fields, want, err)
		}
	}
}

// Bounds that leave nothing of a prior are told before anything is sampled.
func TestBoundsThatLeaveNothingOfAPrior(t *testing.T) {
	for prior, want := range map[string]string{"lognormal(1, 1)": "the prior of a, lognormal(1, 1), which is above 0, has a probability of 0 between", "uniform(2, 3)": "which lies between 2 and 3", "normal(-3, 1)": "", "normal(100, 0.5)": "the prior of a, normal(100, 0.5), has a probability of 0 between", "uniform(-3, 3)": ""} {
		p := line(t, fmt.Sprintf(`"expr": "a+b*x", "sigma": "s", "priors": {"a": %q, "b": "normal(0,10)", "s": "halfnormal(1)"}, "bounds": {"a": [-5, -1]}`, prior))
		if _, err := p.Model(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "its bounds, -5 and -1: change")) {
			t.Errorf("%s: %v", prior, err)
		}
	}
}
