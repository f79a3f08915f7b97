// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/docs"
)

var (
	goName   = regexp.MustCompile(`^\*?(?:([a-z]\w*)\.)?([A-Z]\w*[a-z]\w*)((?:\.[A-Z]\w*)*)(?:\(.*\)|\{\})?$`)
	testLike = regexp.MustCompile(`^(Test|Benchmark|Fuzz|Example)[A-Z]`)
)

// foreign are names of other projects in documents, which our code does not use.
var foreign = []string{"MatMul", "BatchNorm", "CTCLoss", "UnsafeLet", "SymDiff", "Materialize", "WithGrad", "InverseSqrt", "OuterProd", "HDF5DirName", "NewBrain",
	"AlgorithmType", "WPIntegrator", "SpecData", "GaussianModel", "LKJCholeskyCov", "NegativeBinomial"}

// Names of Go in documents exist: tests, and functions, types, methods, fields.
func TestNamesInDocuments(t *testing.T) {
	x := code(t).Index()
	found := 0
	for _, p := range pages(t) {
		for _, s := range p.Spans {
			m := goName.FindStringSubmatch(s.Text)
			if m == nil {
				continue
			}
			found++
			pkg, name := m[1], m[2]
			switch {
			case testLike.MatchString(name):
				if !x.Test(pkg, name) {
					t.Errorf("%s:%d: there is no test %s", p.Path, s.Line, s.Text)
				}
			case pkg != "" && x.Package(pkg) && pkg != "gorgonia" && pkg != "tensor":
				for _, n := range append([]string{name}, strings.FieldsFunc(m[3], func(r rune) bool { return r == '.' })...) {
					if !x.Declares(pkg, n) {
						t.Errorf("%s:%d: package %s has no %s", p.Path, s.Line, pkg, n)
					}
				}
			case !x.Used(name) && !slices.Contains(foreign, name):
				t.Errorf("%s:%d: nothing is called %s", p.Path, s.Line, s.Text)
			}
		}
	}
	if found < 100 {
		t.Errorf("%d names in documents: they are not found any more", found)
	}
}

var testWord = regexp.MustCompile(`\b(?:([a-z]\w*)\.)?((?:Test|Benchmark|Fuzz)[A-Z]\w+)\b`)

// codeLine is a line of code in a comment, where tests of readers may stand.
var codeLine = regexp.MustCompile(`(?m)^\t.*$`)

// Tests that comments name exist.
func TestTestsInComments(t *testing.T) {
	c := code(t)
	x := c.Index()
	for _, f := range c.Files {
		for _, group := range f.Ast.Comments {
			for _, m := range testWord.FindAllStringSubmatch(codeLine.ReplaceAllString(group.Text(), ""), -1) {
				if !x.Test("", m[2]) && !x.Used(m[2]) {
					t.Errorf("%s: there is no test %s", c.Fset.Position(group.Pos()), m[0])
				}
			}
		}
	}
}

// placeholder is a part of a path that stands for others.
var placeholder = regexp.MustCompile(`^[A-Z]+(\.\w+)?$|^name\.go$|^NNNN|[*{}<>$ ]|\.\.`)

// Files and folders that documents name exist, and links lead somewhere.
func TestPathsInDocuments(t *testing.T) {
	x := code(t).Index()
	tops, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	exists := func(p string) bool {
		_, err := os.Stat(filepath.Join(root, p))
		return err == nil
	}
	made := []string{"run", "bench", "bin", "data"} // and "data" names groups of files too: below, if it is a folder of ours
	for _, p := range pages(t) {
		for _, s := range p.Spans {
			first, rest, deep := strings.Cut(s.Text, "/")
			parts := strings.Split(s.Text, "/")
			ours := slices.ContainsFunc(tops, func(e os.DirEntry) bool { return e.Name() == first })
			switch {
			case slices.ContainsFunc(parts, placeholder.MatchString), !deep && path.Ext(s.Text) != ".go":
			case !deep:
				if !x.Bases[s.Text] {
					t.Errorf("%s:%d: no file is called %s", p.Path, s.Line, s.Text)
				}
			case ours && (!slices.Contains(made, first) || first == "data" && !strings.Contains(rest, "/")):
				if !exists(s.Text) && !exists(path.Join(path.Dir(p.Path), s.Text)) {
					t.Errorf("%s:%d: there is no %s", p.Path, s.Line, s.Text)
				}
			}
		}
		for _, l := range p.Links {
			target, _, _ := strings.Cut(l.Text, "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			if !exists(path.Join(path.Dir(p.Path), target)) {
				t.Errorf("%s:%d: a link to %s, which is not there", p.Path, l.Line, l.Text)
			}
		}
	}
}

var (
	target     = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
	makeInGo   = regexp.MustCompile("\\bmake ([a-z]+-[a-z0-9-]+|peers)\\b")
	makeInText = regexp.MustCompile(`\bmake ([a-z][a-z0-9-]+)`)
)

// Targets of make that documents, comments and messages name exist.
func TestTargetsInDocuments(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, m := range target.FindAllStringSubmatch(string(makefile), -1) {
		targets = append(targets, m[1])
	}
	check := func(where, text string, pattern *regexp.Regexp) {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(targets, m[1]) {
				t.Errorf("%s: %s: the Makefile has no such target", where, m[0])
			}
		}
	}
	for _, p := range pages(t) {
		for _, b := range p.Blocks {
			if b.Lang == "sh" || b.Lang == "console" || b.Lang == "" && strings.HasPrefix(b.Text, "make ") {
				check(p.Path, b.Text, makeInText)
			}
		}
		for _, s := range p.Spans {
			if strings.HasPrefix(s.Text, "make ") {
				check(p.Path, s.Text, makeInText)
			}
		}
	}
	if err := docs.Walk(root, ".go", func(path string, text []byte) error {
		check(path, string(text), makeInGo)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// Commands `go test PACKAGE -run X -bench Y` and `go run PACKAGE` name packages that
// exist, and patterns that match something in them.
func TestGoCommandsInDocuments(t *testing.T) {
	x := code(t).Index()
	for _, p := range pages(t) {
		for _, c := range p.Commands("go") {
			words := strings.Fields(strings.ReplaceAll(c.Text, "'", ""))
			if len(words) == 0 || words[0] != "test" && words[0] != "run" {
				continue
			}
			var tests []string
			for _, w := range words[1:] {
				dir, ours := strings.CutPrefix(w, "./")
				dir, deep := strings.CutSuffix(dir, "...")
				dir = path.Clean(dir)
				if !ours || strings.HasSuffix(dir, "NAME") {
					continue
				}
				if s, err := os.Stat(filepath.Join(root, dir)); err != nil || !s.IsDir() {
					t.Errorf("%s:%d: go %s: there is no %s", p.Path, c.Line, c.Text, w)
				}
				tests = append(tests, x.Tests(dir, deep)...)
			}
			for i, w := range words[:len(words)-1] {
				pattern, _, _ := strings.Cut(words[i+1], "/")
				if w != "-run" && w != "-bench" || pattern == "^$" || pattern == "-" || pattern == "xxx" {
					continue
				}
				re, err := regexp.Compile(pattern)
				if err != nil || !slices.ContainsFunc(tests, re.MatchString) {
					t.Errorf("%s:%d: go %s: nothing is called %s", p.Path, c.Line, c.Text, pattern)
				}
			}
		}
	}
}
