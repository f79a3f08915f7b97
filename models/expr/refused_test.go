// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"strings"
	"testing"
)

// line is a problem about a straight line, with more fields.
func line(t *testing.T, fields string) *Problem {
	t.Helper()
	p, err := Parse(fmt.Appendf(nil, `{"data": {"x": [1,2,3,4,5], "y": [1.1,2,2.9,4.2,5.1], "draw": [1,2,3,4,5.5], "my/col": ["u","u","v","v","v"]}, %s}`, fields))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const lineModel = `"expr": "a+b*x", "sigma": "s", "priors": {"a": "normal(0,10)", "b": "normal(0,10)", "s": "halfnormal(1)"}`

// Names that files of draws cannot hold are refused before anything is sampled.
func TestNamesThatFilesCannotHold(t *testing.T) {
	for _, name := range []string{"a,b", "../../x", `q"x`, "q[1]", " r", "r r", "1a", "τ", "#r", "chain", "draw", "nan", "Inf", "x_dim_0", ""} {
		_, err := line(t, lineModel+fmt.Sprintf(`, "derived": {%q: "a/b"}`, name)).Model()
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"half", "_q", "a_dim", "inf1", "chain2", "Draw"} {
		if _, err := line(t, lineModel+fmt.Sprintf(`, "derived": {%q: "a/b"}`, name)).Model(); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for fields, want := range map[string]string{
		`"y": "draw", ` + lineModel: `y: the name "draw"`,
		`"expr": "chain+b*x", "sigma": "s", "priors": {"chain": "normal(0,1)", "b": "normal(0,1)", "s": "halfnormal(1)"}`:                                                  `priors: the name "chain"`,
		`"expr": "a+b*x", "sigma": "s", "priors": {"a": "normal(0,1)", "b": "normal(0,1)", "c": "normal(0,1)", "s": "halfnormal(1)"}, "groups": {"c": {"over": "my/col"}}`: `over in groups: "my/col"`,
	} {
		if _, err := line(t, fields).Model(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// A start that the prior or the bounds exclude is refused; one on a bound is moved inside.
func TestStartsThatAreExcluded(t *testing.T) {
	for fields, want := range map[string]string{
		`"start": {"a": 0, "b": 1, "s": -1}`:                                   "s is -1, but its prior or its bounds allow no value below 0",
		`"start": {"a": 5, "b": 1, "s": 1}, "bounds": {"a": [0, 2]}`:           "a is 5, but its prior or its bounds allow no value above 2",
		`"start": {"a": 1, "b": -2e9, "s": 1}, "bounds": {"b": [-1e9, 1e9]}`:   "b is -2e+09, but its prior or its bounds allow no value below -1e+09",
		`"start": {"a": 0, "b": 1, "s": 0}, "bounds": {"a": [0, 2]}`:           "",
		`"start": {"a": 0, "b": 1e9, "s": 1e-3}, "bounds": {"b": [-1e9, 1e9]}`: "",
	} {
		p := line(t, lineModel+", "+fields)
		m, err := p.Model()
		if err != nil {
			t.Fatal(err)
		}
		post, err := m.Compile()
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Starts(post, 2, 1)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: want %q: %v", fields, want, err)
		}
	}
}

// Mistakes in a document are told in its own words.
func TestMistakesInDocuments(t *testing.T) {
	data := `"data": {"x": [1,2,3,4,5], "y": [1.1,2,2.9,4.2,5.1]}`
	for document, want := range map[string]string{
		`null`:           "the document is null: want an object",
		"{" + data + "}": "field expr is missing or empty",
		`{"expr": "a+b*x", "data": {"x": 1, "y": 2}}`:                           "column x: the value is a number: want a list",
		`{"expr": "a", ` + data + `, "max_nfev": 1000000000000000000000000000}`: "field max_nfev is 1000000000000000000000000000: want a whole number",
		`{"expr": "a", ` + data + `, "max_nfev": 1.5}`:                          "field max_nfev is 1.5: want a whole number",
		`{"expr": "a", ` + data + `, "max_nfev": "many"}`:                       "field max_nfev is a text: want a whole number",
	} {
		if _, err := Parse([]byte(document)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q: %v", document, want, err)
		}
	}
	for fields, want := range map[string]string{
		`"f_scale": -1`: "f_scale is -1: want", `"max_nfev": -3`: "max_nfev is -3: want", `"ftol": -1`: "ftol is -1: want",
	} {
		if _, _, err := line(t, `"expr": "a+b*x", "start": {"a": 0, "b": 1}, `+fields).LeastSquares(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	for formula, want := range map[string]string{
		"a[x]+b*x": `"a[x]+b*x" uses the column x both as an index and as numbers`,
		"a+b*x":    `in "a+b*x", a must be written a[x]`,
	} {
		_, err := line(t, `"groups": {"a": {"over": "x"}}, `+strings.Replace(lineModel, "a+b*x", formula, 1)).Model()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
