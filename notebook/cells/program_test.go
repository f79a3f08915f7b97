// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cells_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/euryale-dev/euryale/internal/exportdata"
	"github.com/euryale-dev/euryale/notebook/cells"
)

// standard is the types of the packages that the cells of these tests import.
var standard = sync.OnceValues(func() (*exportdata.Packages, error) {
	return exportdata.Load(".", nil, "fmt", "log", "math", "sort", "errors")
})

func importer(t *testing.T) *exportdata.Packages {
	t.Helper()
	p, err := standard()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// book is a notebook of these cells.
func book(sources ...string) *cells.Notebook {
	n := &cells.Notebook{Name: "b.md"}
	for i, s := range sources {
		n.Cells = append(n.Cells, cells.Cell{Kind: cells.Code, Source: s, Line: 100*i + 1})
	}
	return n
}

// Each program prints what the cells of its notebook show.
func TestProgram(t *testing.T) {
	for name, c := range map[string]struct {
		cells []string
		want  string
	}{
		"last expressions":      {[]string{"x := 1 // one\nx", "y := x + 1\ny * 2"}, "1\n4\n"},
		"unused":                {[]string{"import \"math\"\nx := 1\nvar y, z = 2, 3", "x := \"again\"", "import \"fmt\"\n3"}, "3\n"},
		"redefined":             {[]string{"x := 1\nx", "x := \"two\"\nx", "y := x\ny", "z, x := 1, 2.5"}, "1\ntwo\ntwo\n"},
		"defined again":         {[]string{"x := 1\nfunc f() int { return x }\nf()", "x := 10\nf()", "p := &x\n*p", "x := 11\n*p + f()"}, "1\n10\n10\n22\n"},
		"again in a block":      {[]string{"x, s := 1, \"a\"\nfunc f() int { return x }\nf()", "s := 3", "x, n := 10, s\nf() + n", "var x int // zero\nf()"}, "1\n13\n0\n"},
		"several again":         {[]string{"a, b := 1, 2\nf := func() int { return a + b }", "s := 1", "s := \"\"", "a, c := 10, 3\nf() + c", "var (\n\ta int\n\td = 5\n\tb = 7\n)\nf() + d", "func g(n int) int { return a }\nfunc h() int { return g(1) }", "func g(n int) int { return 100 + a }\nh()"}, "15\n12\n100\n"},
		"comments":              {[]string{"len(\"abc\") // c", "\"http://x\" // c", "1 + // c\n2", "\"a\" // say \"b\"", "3 /* d */"}, "3\nhttp://x\n3\na\n3\n"},
		"a reused error":        {[]string{"a, err := 1, error(nil)\na", "b, err := 2, err\nb"}, "1\n2\n"},
		"functions":             {[]string{"func twice(n int) int { return 2 * n }\nk := 3", "func plus(n int) int { return n + k }\nplus(twice(1))"}, "5\n"},
		"recursion":             {[]string{"k := 1\nfunc f(n int) int {\n\tif n == 0 {\n\t\treturn k\n\t}\n\treturn n * f(n-1)\n}", "f(4)"}, "24\n"},
		"types":                 {[]string{"type T struct{ n int }\nfunc (t T) String() string { return \"T!\" }\nconst c = 7", "T{c}"}, "T!\n"},
		"control":               {[]string{"import \"fmt\"\nsum := 0\nfor i := 0; i < 4; i++ {\n\tsum += i\n}\nif sum > 5 { fmt.Println(\"big\") }; sum"}, "big\n6\n"},
		"a print is shown once": {[]string{"import \"fmt\"\nfmt.Println(\"a\")"}, "a\n"},
		"no value":              {[]string{"import \"sort\"\nx := []int{2, 1}\nsort.Ints(x)", "x"}, "[1 2]\n"},
		"a value in the middle": {[]string{"x := 1\nx\nx + 1"}, "2\n"},
		"a function literal":    {[]string{"func() { x := 2; _ = x }()\nfunc(a int) int { return a }(4)"}, "4\n"},
		"a block at the end":    {[]string{"import \"fmt\"\nx := 1", "{\n\ty := x\n\tfmt.Println(y)\n}"}, "1\n"},
		"several values":        {[]string{"func two() (int, string) { return 1, \"b\" }\ntwo()"}, "1\nb\n"},
		"an error of nil":       {[]string{"func may() (int, error) { return 5, nil }\nmay()"}, "5\n"},
		"its own display":       {[]string{"display := 3\ndisplay"}, "3\n"},
		"import of the printer": {[]string{"import f \"fmt\"\nf.Sprint(1)", "import \"log\"\n2"}, "1\n2\n"},
	} {
		text, err := book(c.cells...).Program(importer(t)) // which type-checks it
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if testing.Short() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("go", "run", file).CombinedOutput()
			if err != nil || string(out) != c.want {
				t.Errorf("%q %v, want %q; of\n%s", out, err, c.want, text)
			}
		})
	}
}

// What cannot be converted says where, and why.
func TestProgramErrors(t *testing.T) {
	for want, sources := range map[string][]string{
		"line 102, cell 2: the cell defines f again, which cell 1 defined":                            {"func f() {}", "x := 1\nfunc f() {}"},
		"line 1, cell 1: a method uses the variable k of a cell":                                      {"func (t T) m() int { return k }", "k := 1\ntype T int"},
		"line 102, cell 2: the Go program made from the notebook does not compile: undefined: y":      {"x := 1", "z := x\ny"},
		"line 2, cell 1: the Go program made from the notebook does not compile: declared and not us": {"f := func() {\n\tx := 1\n}"},
		"line 3, cell 1: expected":                                                               {"x := 1\n\nx + ) 2"},
		"line 101, cell 2: the cell defines main, which has":                                     {"x := 1", "func main() {}"},
		"line 1, cell 1: the cell defines init, which":                                           {"func init() {}"},
		"line 101, cell 2: the cell defines x again: it was of type int and is of type s":        {"x := 1\nfunc f() int { return x }", "x := \"\""},
		"line 102, cell 2: the cell defines x again: it was of type int and is of type f":        {"x := 1\np := &x", "*p\nx := 1.5"},
		"line 101, cell 2: the Go program made from the notebook does not compile: undefined: z": {"x := 1\nfunc f() int { return x }", "x := z"},
		"line 101, cell 2: the cell defines s again: cell 1 took its address":                    {"s := \"a\"\np := &s", "s := \"b\"\n*p"},
		"line 101, cell 2: the cell defines x again: a Go program cannot declare new":            {"x := 1\nx", "var x, b = 4, 2"},
		"cell 2: the cell defines T again, which cell 1":                                         {"T := 1", "type T int"},
	} {
		_, err := book(sources...).Program(importer(t))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestForGoNB(t *testing.T) {
	n := book("import \"math\"\nx, y := 1, math.Pi // both\nf := func() int {\n\tz := x\n\treturn z\n}", "func g() int { return x }\ng()")
	n.Cells = append([]cells.Cell{{Kind: cells.Markdown, Source: "# T"}}, n.Cells...)
	got, err := n.ForGoNB(importer(t), "/checkout")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, c := range got.Cells[1:] {
		list = append(list, c.Source)
	}
	want := "# T|import \"math\"\n\nvar x, y = 1, math.Pi // both\nvar f = func() int {\n\tz := x\n\treturn z\n}|func g() int { return x }|%%\ndisplayValues(g())"
	if s := strings.Join(list, "|"); s != want {
		t.Errorf("%q, want %q", s, want)
	}
	if s := got.Cells[0].Source; !strings.Contains(s, "-replace=github.com/euryale-dev/euryale=/checkout") || got.Kernel != cells.GoNB {
		t.Error(s)
	}
	for want, sources := range map[string][]string{
		"line 102, cell 2: GoNB keeps declarations":    {"x := 1", "y := x\nx = 2\ny"},
		"line 1, cell 1: the cell defines main, which": {"func main() {}"},
		"cell 2: the cell defines x again":             {"x := 1", "x := 2\nx"},
	} {
		if _, err := book(sources...).ForGoNB(importer(t), "."); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
