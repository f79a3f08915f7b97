// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/foreign"
)

func TestText(t *testing.T) {
	for s, want := range map[string]string{
		"plain é\t\n": "plain é\t\n", "\x1b[31mred\a": `\x1b[31mred\x07`, "a\rb\x00": `a\x0db\x00`, "\u009b2J": `\x9b2J`, "x\u202ey": `x\u202ey`, "bad \xff": `bad \xff`, "\x7f": `\x7f`,
	} {
		if got := foreign.Text(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
		var b bytes.Buffer
		w := foreign.Writer(&b)
		for i := range len(s) { // byte by byte
			if n, err := w.Write([]byte(s[i : i+1])); n != 1 || err != nil {
				t.Error(n, err)
			}
		}
		if !strings.HasPrefix(want, b.String()) || len(want)-b.Len() > 4 { // the last may be part of a character
			t.Errorf("%q byte by byte: %q, want %q", s, &b, want)
		}
	}
}

func TestShort(t *testing.T) {
	s := strings.Repeat("é", 1000)
	if got := foreign.Short(s, 90); len(got) > 150 || !strings.Contains(got, "bytes left out") || foreign.Text(got) != got || foreign.Short("abc", 3) != "abc" {
		t.Error(got)
	}
}

func TestNotText(t *testing.T) {
	for head, want := range map[string]string{
		"SIMPLE  =   T": "FITS", "\xff\xfet\x00a\x00u\x00": "UTF-16", "t\x00a\x00u\x00,\x00": "UTF-16", "\x00t\x00a": "UTF-16", "\x1f\x8b\x08": "gzip", "abc\x00def": "binary", "\x93NUMPY": "NumPy",
		"tau,g2\n1,2\n": "", "": "", "\xef\xbb\xbftau": "", "naïve": "",
	} {
		if got := foreign.NotText([]byte(head)); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1, "b": {"a": [1, {"c": null, "d": "x"}, "a", "a"]}, "c": "a"}`: "",
		"\xef\xbb\xbf{}":                         "",
		`[{"a": 1}, {"a": 1}]`:                   "",
		`{"a": {}, "b": [], "c": {"a": []}}`:     "",
		"{\"a\": 1,\n  \"b\": 2, \"a\": 3}":      `line 2, column 14: the key "a" appears twice in the document`,
		`{"data": {"x": [1], "y": 2, "x": 3}}`:   `the key "x" appears twice in "data"`,
		`{"a": 1} {`:                             "more text after the end",
		"{\"a\": 1,\n \"b\": }":                  "line 2, column 7",
		`{"a": `:                                 "ends too early",
		`{"a": [1, NaN]}`:                        `NaN is not JSON: leave the value out, or write "NaN" or null where it may be missing`,
		`{"a": -Infinity}`:                       `-Infinity is not JSON: leave the value out, or write "-Infinity" or null where it may be missing`,
		``:                                       "ends too early",
		"\xff\xfe{\x00}\x00":                     "UTF-16",
		strings.Repeat("[", 5000):                "deep",
		`{"a": 1, "` + "\\u0061" + `": 2}`:       `"a" appears twice`,
		"SIMPLE  =                    T / FITS ": "FITS",
	} {
		_, err := foreign.JSON([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}
