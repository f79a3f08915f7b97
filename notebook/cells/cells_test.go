// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cells_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/notebook/cells"
)

// brief writes cells as kind:line:source, which tests compare.
func brief(n *cells.Notebook) string {
	var list []string
	for _, c := range n.Cells {
		list = append(list, c.Kind[:1]+":"+string(rune('0'+c.Line))+":"+c.Source)
	}
	return strings.Join(list, "|")
}

// Fences are those of CommonMark 0.31, section 4.5.
func TestParse(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"text and code":                   {"# T\n\n```go\nx\n```\nend\n", "m:1:# T|c:4:x|m:6:end"},
		"tildes":                          {"~~~go\nx\n~~~\n", "c:2:x"},
		"a longer fence closes":           {"```go\nx\n`````\n", "c:2:x"},
		"a shorter one does not":          {"````go\nx\n```\ny\n````\n", "c:2:x\n```\ny"},
		"nor one of other characters":     {"~~~go\nx\n```\n~~~\n", "c:2:x\n```"},
		"nor one with words":              {"```go\nx\n``` go\n```\n", "c:2:x\n``` go"},
		"three spaces are no indentation": {"   ```go\n   x\n     y\n   ```\n", "c:2:x\n  y"},
		"four are":                        {"    ```go\n\n```go\nx\n```\n", "m:1:    ```go|c:4:x"},
		"golang in capitals, with words":  {"``` GoLang tags=a\nx\n```\n", "c:2:x"},
		"text stays text":                 {"```text\nx\n```\n```go\ny\n```", "m:1:```text\nx\n```|c:5:y"},
		"a fence within a fence":          {"````md\n```go\nx\n```\n````\n```go\ny\n```", "m:1:````md\n```go\nx\n```\n````|c:7:y"},
		"code in a line is no fence":      {"```go``` is\n\n```go\nx\n```", "m:1:```go``` is|c:4:x"},
		"a comment of HTML":               {"<!--\n```go\nold\n```\n-->\n```go\nx\n```", "m:1:<!--\n```go\nold\n```\n-->|c:7:x"},
		"byte order mark and CRLF":        {"\ufeff# T\r\n```go\r\nx\r\ny\r\n```\r\n", "m:1:# T|c:3:x\ny"},
		"blank lines before code":         {"```go\n\n\tx\n\n```", "c:3:\tx"},
		"an empty cell is none":           {"```go\n```\n```go\nx\n```", "c:4:x"},
	} {
		n, err := cells.Parse("a.md", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := brief(n); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a\n\n```go\nx\n":          "notebook a.md, line 3: the fence ``` is never closed",
		"~~~~text\n~~~\n":          "line 1: the fence ~~~~",
		"# only text\n":            "there is no Go cell",
		"```text\nx\n```\n":        "there is no Go cell",
		"```Go,ignore\nx\n```":     "there is no Go cell",
		"```golanguage\nx\n```":    "there is no Go cell",
		"```go\n  \n```":           "there is no Go cell",
		"<!--\n```go\nx\n```\n-->": "there is no Go cell",
	} {
		_, err := cells.Parse("a.md", []byte(text))
		var e *cells.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// What may be meant as a cell and is none is told with its line.
func TestWarnings(t *testing.T) {
	n, err := cells.Parse("a.md", []byte("1. A list:\n\n    ```go\n    x\n    ```\n\n\t```golang\n\n```{go}\ny\n```\n\n```go,ignore\nz\n```\n```go\n    ```go\n```\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := "a.md, line 3: a fence of Go that is indented|a.md, line 7: a fence of Go that is indented|a.md, line 9: a fence of {go} is text"
	for i, w := range strings.Split(want, "|") {
		if len(n.Warnings) != 3 || !strings.HasPrefix(n.Warnings[i], w) {
			t.Fatalf("%q, want %s", n.Warnings, w)
		}
	}
	if _, err := cells.Parse("a.ipynb", []byte("{}")); err == nil || !strings.Contains(err.Error(), "jupyter nbconvert --to markdown a.ipynb") {
		t.Error(err)
	}
}

// What is written is read again, and is the notebook format that Jupyter's own schema describes.
func TestWriteAndRead(t *testing.T) {
	n := &cells.Notebook{Name: "a.md", Cells: []cells.Cell{
		{Kind: cells.Markdown, Source: "# T\nx < y"},
		{Kind: cells.Code, Source: "a\nb", Count: 1, Outputs: []cells.Output{
			cells.Stream("stdout", "1\n2\n"),
			cells.Result(1, map[string]any{"text/html": "<p>\n</p>", "image/png": "aGVsbG8="}, map[string]any{"image/png": map[string]any{"width": 672.0}}),
			cells.Display(map[string]any{"text/plain": "x"}, nil),
		}},
		{Kind: cells.Code, Source: "never run"},
	}}
	file := filepath.Join(t.TempDir(), "a.ipynb")
	for range 2 { // in place of an older one
		if err := n.Write(file); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\"# T\\n\"", "x < y", `"execution_count": null`, `"nbformat_minor": 5`, `"name": "euryale"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
	if strings.Count(string(text), "execution_count") != 3 {
		t.Errorf("a cell of text has a count:\n%s", text)
	}
	again, err := cells.Read("a.ipynb", text)
	if err != nil {
		t.Fatal(err)
	}
	was, _ := json.Marshal(n.Cells)
	is, _ := json.Marshal(again.Cells)
	if string(was) != string(is) || again.Kernel != cells.Euryale {
		t.Errorf("%s\nbecame\n%s\nof %v", was, is, again.Kernel)
	}
	if _, err := cells.Read("a", []byte(`{"nbformat":3}`)); err == nil || !strings.Contains(err.Error(), "format 3") {
		t.Error(err)
	}
	if _, err := cells.Read("a", []byte(`{"cells":[{"source":[1]}]}`)); err == nil {
		t.Error("a source of numbers was read")
	}
}

func TestFiles(t *testing.T) {
	got, err := cells.Files("out", ".ipynb", []string{"a/x.md", "y.markdown"})
	if err != nil || len(got) != 2 || got[0] != filepath.Join("out", "x.ipynb") || got[1] != filepath.Join("out", "y.ipynb") {
		t.Errorf("%v %v", got, err)
	}
	if _, err := cells.Files(".", ".ipynb", []string{"y.md", "../cells/c.ipynb"}); err == nil || !strings.Contains(err.Error(), "c.ipynb would overwrite itself") {
		t.Error(err)
	}
	if _, err := cells.Files("out", ".ipynb", []string{"a/x.md", "b/x.md"}); err == nil || !strings.Contains(err.Error(), "a/x.md and b/x.md would both") {
		t.Error(err)
	}
}

// No text makes the reader panic, and code is never lost or made up.
func FuzzParse(f *testing.F) {
	f.Add("```go\nx\n```")
	f.Add("~~~\n```go\n~~~\n\ufeff<!-- ```go\n-->")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := cells.Parse("f.md", []byte(text))
		if err != nil {
			return
		}
		for _, c := range n.Cells {
			if strings.TrimSpace(c.Source) == "" || c.Line < 1 {
				t.Errorf("cell %+v of %q", c, text)
			}
		}
		b, err := n.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cells.Read("f", b); err != nil {
			t.Error(err)
		}
	})
}
