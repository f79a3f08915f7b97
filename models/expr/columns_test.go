// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/models/expr"
)

// Columns that a formula cannot use are errors that name them.
func TestColumnsThatCannotBeUsed(t *testing.T) {
	for want, document := range map[string]string{
		`"y" uses y, whose value in row 3 is "six" and no number`:                                                             `{"expr": "b", "data": {"y": [1, 2, "six"]}, "start": {"b": 1}}`,
		`"y" uses y, whose first value, in row 1, is "mV" and no number: if this is a row of units, delete it`:                `{"expr": "b", "data": {"y": ["mV", "2"]}, "start": {"b": 1}}`,
		`"b*x" uses x, which is a column of labels such as "1" and not of numbers: write its numbers without quotation marks`: `{"expr": "b*x", "data": {"x": ["1", "2"], "y": [1, 2]}, "start": {"b": 1}}`,
		`y: "y" uses y, which is a column of labels such as "1"`:                                                              `{"expr": "b", "data": {"y": ["1", "2"]}, "start": {"b": 1}}`,
		`"sigma" uses s, which is a column of labels`:                                                                         `{"expr": "b", "data": {"y": [1, 2], "s": ["1", "1"]}, "sigma": "s", "start": {"b": 1}}`,
		"column x: row 2 has 1e400, which is beyond the range of 64-bit numbers":                                              `{"expr": "b*x", "data": {"x": [1, 1e400], "y": [1, 2]}, "start": {"b": 1}}`,
		"column x: row 2 has no value (null): leave the row out":                                                              `{"expr": "b*x", "data": {"x": [1, null], "y": [1, 2]}, "start": {"b": 1}}`,
		"column y: row 1 has [1]: want a number or a string":                                                                  `{"expr": "b*x", "data": {"x": [1, 2], "y": [[1], 2]}, "start": {"b": 1}}`,
		"uses z, which is neither a parameter nor a column: correct the name, or declare it: give it a start or a column":     `{"expr": "b*z", "data": {"x": [1, 2], "y": [1, 2]}, "start": {"b": 1}}`,
	} {
		p, err := expr.Parse([]byte(document))
		if err == nil {
			_, _, err = p.LeastSquares()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	p, err := expr.Parse([]byte(`{"expr": "b*x", "data": {"x": ["1", "2"], "y": [1, 2]}, "sigma": "s", "priors": {"b": "normal(0, 1)", "s": "halfnormal(1)"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Model(); err == nil || !strings.Contains(err.Error(), `column x holds labels such as "1"`) {
		t.Error(err)
	}
}

// A user's function that does not fit is named, in fits and in posteriors, without a hint at a start.
func TestFunctionsThatDoNotFit(t *testing.T) {
	formula.Register("testnone", 1, func([]*ad.Node) *ad.Node { return nil })
	formula.Register("testpair", 1, func([]*ad.Node) *ad.Node { return ad.Const([]float64{1, 2}) })
	for f, want := range map[string]string{
		"testnone(b)":      "the function testnone returned nil",
		"x + testpair(b)":  "the function testpair returned the shape [2] for arguments of the shapes [[]]",
		"testpair(b)":      `"testpair(b)" has the shape [2] for 3 rows: want a number, or one for each row, which is up to the functions testpair`,
		"2*testpair(b)/pi": "has the shape [2] for 3 rows",
	} {
		text := `{"expr": "` + f + `", "data": {"x": [1, 2, 3], "y": [1, 2, 3]}, `
		p, err := expr.Parse([]byte(text + `"start": {"b": 1}}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err = p.LeastSquares(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "give it a start") {
			t.Errorf("%s: want %q: %v", f, want, err)
		}
		if p, err = expr.Parse([]byte(text + `"sigma": "s", "priors": {"b": "normal(0, 1)", "s": "halfnormal(1)"}}`)); err != nil {
			t.Fatal(err)
		}
		if _, err = p.Model(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q: %v", f, want, err)
		}
	}
}
