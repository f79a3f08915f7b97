// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/notebook/cells"
)

// A notebook becomes a program and a notebook for GoNB, each in its place.
func TestConvert(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.md")
	if err := os.WriteFile(file, []byte("# T\n```go\nimport \"math\"\nmath.Sqrt(2)\n```\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run("program", filepath.Join(dir, "p"), "../../..", []string{file}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "p", "a", "main.go"))
	if err != nil || !strings.Contains(string(text), "display(math.Sqrt(2))") {
		t.Errorf("%v: %s", err, text)
	}
	if err := run("gonb", filepath.Join(dir, "g"), "../../..", []string{file}); err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(filepath.Join(dir, "g", "a.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	book, err := cells.Read("a.ipynb", text)
	if err != nil || book.Kernel != cells.GoNB || book.Cells[len(book.Cells)-1].Source != "%%\ndisplayValues(math.Sqrt(2))" {
		t.Errorf("%v: %+v", err, book)
	}
}

func TestConvertErrors(t *testing.T) {
	for want, c := range map[string]struct {
		to    string
		files []string
	}{
		"want program or gonb":           {"html", []string{"a.md"}},
		"no notebooks to convert: name":  {"gonb", nil},
		"would both be written":          {"gonb", []string{"a.md", "b/a.md"}},
		"the file is a Jupyter notebook": {"program", []string{"testdata/a.ipynb"}},
		"nowhere.md: no such file":       {"program", []string{"nowhere.md"}},
	} {
		if err := run(c.to, t.TempDir(), ".", c.files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
