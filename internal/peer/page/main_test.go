// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"strings"
	"testing"
)

func TestFilled(t *testing.T) {
	const document = "# Speed\n\n<!-- measured: a.txt -->\nold\n<!-- end of what was measured -->\n\nMore.\n\n<!-- measured: b.txt -->\nkept\n<!-- end of what was measured -->\n"
	read := func(file string) (string, error) {
		if file == "b.txt" {
			return "", fs.ErrNotExist
		}
		return "# a machine, load 1\n| work | ms |\n|---|---|\n| sum | 1 |\nnoise\n# a machine, load 1\n# load 2\n| work | ms |\n|---|---|\n| product | 2 |\n", nil
	}
	got, err := filled(document, read)
	if err != nil {
		t.Fatal(err)
	}
	want := "# Speed\n\n<!-- measured: a.txt -->\n\n- a machine, load 1\n- load 2\n\n| work | ms |\n|---|---|\n| sum | 1 |\n| product | 2 |\n\n<!-- end of what was measured -->\n\nMore.\n\n<!-- measured: b.txt -->\nkept\n<!-- end of what was measured -->\n"
	if got != want {
		t.Errorf("the document is\n%s\nwant\n%s", got, want)
	}
	if again, err := filled(got, read); err != nil || again != got {
		t.Errorf("once more it is\n%s (%v)", again, err)
	}
	if _, err := filled("<!-- measured: a.txt -->\nno end", read); err == nil || !strings.Contains(err.Error(), "end of what was measured") {
		t.Errorf("without an end: %v", err)
	}
	empty := func(string) (string, error) { return "# a machine\n", nil }
	if _, err := filled(document, empty); err == nil || !strings.Contains(err.Error(), "a.txt has no table") {
		t.Errorf("without a table: %v", err)
	}
}
