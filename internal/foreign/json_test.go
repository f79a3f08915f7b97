// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// Errors of encoding/json name what JSON has, not types of Go.
func TestInWords(t *testing.T) {
	type inner struct {
		N int `json:"n"`
	}
	var doc struct {
		Name  string             `json:"name"`
		Data  map[string]float64 `json:"data"`
		List  []float64          `json:"list"`
		Inner inner              `json:"inner"`
		On    bool               `json:"on"`
	}
	for text, want := range map[string]string{
		`[1, 2]`:                "line 1, column 1: the value is a list: want an object {...}",
		`{"name": 3}`:           "line 1, column 10: field name is a number: want a text in quotation marks",
		"{\n\"data\": [1]}":     "line 2, column 9: field data is a list: want an object {...}",
		`{"list": "x"}`:         "line 1, column 12: field list is a text: want a list [...]",
		`{"inner": {"n": 1.5}}`: "line 1, column 19: field inner.n is 1.5: want a whole number",
		`{"on": {}}`:            "line 1, column 8: field on is an object: want true or false",
		"{\n \"nme\": 3}":       `line 2, column 2: there is no field "nme": remove it, or correct its name`,
	} {
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := foreign.InWords([]byte(text), d.Decode(&doc)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if err := foreign.InWords(nil, json.Unmarshal([]byte(`{"name": 3}`), &doc)); err == nil || err.Error() != "field name is a number: want a text in quotation marks" {
		t.Error(err)
	}
	part := fmt.Errorf("word 3: %w", json.Unmarshal([]byte(`"x"`), &doc))
	if err := foreign.InWords([]byte("{}"), part); err == nil || err.Error() != "word 3: the value is a text: want an object {...}" {
		t.Error(err)
	}
	if err := foreign.InWords(nil, io.EOF); err != io.EOF {
		t.Error(err)
	}
	if err := foreign.InWords(nil, nil); err != nil {
		t.Error(err)
	}
}

// A key that is there twice is an error with its name and place, in every document that is decoded.
func TestDecode(t *testing.T) {
	var doc struct {
		A int            `json:"a"`
		B map[string]int `json:"b"`
	}
	for text, want := range map[string]string{
		`{"a": 1, "b": {"x": 1}}`:            "",
		"{\"a\": 1,\n\"a\": 2}":              `line 2, column 4: the key "a" appears twice in the document: remove one`,
		`{"b": {"x": 1, "y": 2, "x": 3}}`:    `the key "x" appears twice in "b": remove one`,
		`{"a": 1} {}`:                        "more text after the end",
		`{"a": "x"}`:                         "field a is a text: want a whole number",
		"{\"\x1b[31m\": 1, \"\x1b[31m\": 2}": "line 1",
	} {
		err := foreign.Decode([]byte(text), &doc, true)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if err := foreign.Decode([]byte(`{"c": 1}`), &doc, true); err == nil || !strings.Contains(err.Error(), `there is no field "c"`) {
		t.Error(err)
	}
	if err := foreign.Decode([]byte(`{"c": 1}`), &doc, false); err != nil {
		t.Error(err)
	}
}

// Tables show what would control a terminal.
func TestCSV(t *testing.T) {
	var b strings.Builder
	w := foreign.CSV(&b)
	w.Write([]string{"1", "a\x1b[2J,b", "two\nlines", "\u202ex", "é"})
	if w.Flush(); w.Error() != nil || b.String() != "1,\"a\\x1b[2J,b\",\"two\nlines\",\\u202ex,é\n" {
		t.Errorf("%q, %v", b.String(), w.Error())
	}
}
