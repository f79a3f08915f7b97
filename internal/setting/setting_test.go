// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

type shared struct {
	Fixed Numbers `about:"hold a parameter fixed"`
}

type declared struct {
	shared
	Model       string    `json:"model" default:"single" choices:"single,double" about:"model"`
	Bounds      Intervals `json:"bounds" about:"bounds of a parameter"`
	Priors      Texts     `json:"priors" name:"prior" only:"sample" about:"prior of a parameter"`
	Gap         float64   `json:"gap" unit:"um" default:"200" low:"0" about:"gap between the plates"`
	Step        int       `json:"step" default:"3" low:"1" high:"9" about:"step"`
	DropInvalid bool      `json:"drop_invalid" about:"drop what no fit can use"`
	note        string    // not a setting
}

func TestDeclarations(t *testing.T) {
	var d declared
	var names []string
	for _, s := range Of(&d) {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "fixed model bounds prior gap step drop-invalid" {
		t.Errorf("%s", got)
	}
	if err := Complete(&d); err != nil || d.Model != "single" || d.Gap != 200 || d.Step != 3 || d.note != "" {
		t.Errorf("%+v, %v", d, err)
	}
	for _, c := range []struct {
		change func(*declared)
		want   string
	}{
		{func(d *declared) { d.Model = "singel" }, `model: "singel": want single or double; did you mean "single"?`},
		{func(d *declared) { d.Gap = -1 }, "gap: -1: want at least 0 um"},
		{func(d *declared) { d.Gap = math.NaN() }, "gap: NaN: want at least 0 um"},
		{func(d *declared) { d.Step = 10 }, "step: 10: want 1 to 9"},
	} {
		var d declared
		c.change(&d)
		if err := Complete(&d); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestSet(t *testing.T) {
	var d declared
	set := func(name, text string) error {
		for _, s := range Of(&d) {
			if s.Name == name {
				return s.Set(text)
			}
		}
		t.Fatal(name)
		return nil
	}
	for _, c := range []struct{ name, text, want string }{
		{"fixed", "a=1", ""}, {"fixed", "a=2", "a was already given as 1"}, {"fixed", "b=inf", "want name=value with a finite number"}, {"fixed", "b", "want name=value"},
		{"bounds", "a=0:inf", ""}, {"bounds", "a=0:1", "already has the bounds 0:+Inf"}, {"bounds", "b=2:1", "want name=lo:hi"},
		{"prior", "a=normal(0,1)", ""}, {"prior", "a=normal(0,2)", "already has a prior, normal(0,1)"},
		{"gap", "12.5", ""}, {"gap", "wide", "want a number"}, {"step", "2.5", "want a whole number"}, {"drop-invalid", "true", ""}, {"drop-invalid", "x", "want true or false"},
	} {
		if err := set(c.name, c.text); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.name, c.text, err, c.want)
		}
	}
	b, err := json.Marshal(&d)
	if want := `"bounds":{"a":[0,"+Inf"]},"priors":{"a":"normal(0,1)"},"gap":12.5`; err != nil || !strings.Contains(string(b), want) {
		t.Errorf("%s, %v: want %s", b, err, want)
	}
	var back declared
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, d) {
		t.Errorf("%+v, %v: want %+v", back, err, d)
	}
}

// Run folders of older versions hold lists of what was typed.
func TestListsOfTexts(t *testing.T) {
	var d declared
	if err := json.Unmarshal([]byte(`{"Fixed":["a=1","b=2"],"bounds":["a=-Inf:3"],"priors":["a=normal(0,1)"]}`), &d); err != nil ||
		!reflect.DeepEqual(d.Fixed, Numbers{"a": 1, "b": 2}) || !reflect.DeepEqual(d.Bounds, Intervals{"a": {math.Inf(-1), 3}}) || d.Priors["a"] != "normal(0,1)" {
		t.Errorf("%+v, %v", d, err)
	}
	for _, bad := range []string{`{"Fixed":["a"]}`, `{"bounds":["a=3:1"]}`, `{"bounds":{"a":[1]}}`, `{"bounds":{"a":["x",2]}}`} {
		if err := json.Unmarshal([]byte(bad), &declared{}); err == nil && !strings.Contains(bad, "[1]") {
			t.Errorf("%s was read", bad)
		}
	}
}

func TestCopy(t *testing.T) {
	from := struct {
		Model  string
		Fixed  map[string]float64
		Bounds map[string][2]float64
		Step   string // of another kind
		Other  int
	}{"double", map[string]float64{"a": 1}, map[string][2]float64{"a": {1, 2}}, "x", 3}
	var d declared
	Copy(&d, from)
	if d.Model != "double" || d.Fixed["a"] != 1 || d.Bounds["a"] != [2]float64{1, 2} || d.Step != 0 {
		t.Errorf("%+v", d)
	}
}
