// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"bytes"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// vague names say nothing about what is inside.
var vague = []string{"util", "utils", "common", "helpers", "helper", "core", "base", "types", "misc", "shared"}

func TestPackagesAreNamedAfterTheirNoun(t *testing.T) {
	for _, src := range sources(t) {
		if slices.Contains(vague, path.Base(path.Dir(src.path))) || slices.Contains(vague, strings.TrimSuffix(path.Base(src.path), ".go")) {
			t.Errorf("%s: the name says nothing: name it after what it holds", src.path)
		}
	}
}

// opens and prints are what only some folders may do. The sampler writes its own
// checkpoints, the compiler of kernels keeps what it made, and work lists are files; gen and the examples
// are programs.
var (
	opens     = []string{"os.Open", "os.OpenFile", "os.Create", "os.CreateTemp", "os.ReadFile", "os.WriteFile"}
	mayOpen   = []string{"batch/", "autodiff/gradtest/", "cluster/", "data/", "app/", "cli/clitest/", "examples/", "internal/", "kernels/gen/", "kernels/cuda/rtc/", "notebook/kernel/", "infer/checkpoint.go"}
	prints    = []string{"fmt.Print", "fmt.Println", "fmt.Printf", "os.Stdout", "os.Stderr", "log.Print", "log.Println", "log.Printf", "log.Fatal"}
	mayPrint  = []string{"app/main.go", "cluster/cmd/", "viz/term/", "examples/", "internal/", "kernels/gen/", "notebook/"}
	opensText = "only data and app open files: take an io.Reader"
)

func TestOnlySomeOpenFilesAndPrint(t *testing.T) {
	for _, src := range sources(t) {
		ast.Inspect(src.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			name := pkg.Name + "." + sel.Sel.Name
			if slices.Contains(opens, name) && !under(src.path, mayOpen) {
				t.Errorf("%s: %s: %s", src.path, name, opensText)
			}
			if slices.Contains(prints, name) && !under(src.path, mayPrint) {
				t.Errorf("%s: %s: only app/main.go and viz/term print", src.path, name)
			}
			return true
		})
	}
}

// mayRead are programs and tools, which read files of the repository. All others read files of people, among which may be a named pipe
// that never answers: they read through internal/foreign.
var mayRead = []string{"autodiff/gradtest/", "app/apptest/", "cli/clitest/", "examples/", "internal/", "kernels/gen/", "notebook/kernel/"}

func TestReadersRefusePipes(t *testing.T) {
	for _, src := range sources(t) {
		ast.Inspect(src.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && !under(src.path, mayRead) {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "os" && slices.Contains([]string{"Open", "ReadFile"}, sel.Sel.Name) {
					t.Errorf("%s: os.%s: use foreign.Open or foreign.ReadFile", src.path, sel.Sel.Name)
				}
			}
			return true
		})
	}
}

// The names in tables come from files of people, and tables are shown on terminals: one writer makes their texts harmless.
func TestTablesAreWrittenByOneWriter(t *testing.T) {
	writers := 0
	for _, src := range sources(t) {
		ast.Inspect(src.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "csv" && sel.Sel.Name == "NewWriter" {
				if writers++; src.path != "internal/foreign/csv.go" {
					t.Errorf("%s: csv.NewWriter: use foreign.CSV", src.path)
				}
			}
			return true
		})
	}
	if writers == 0 {
		t.Error("csv.NewWriter is called nowhere: this test does not see what it looks for")
	}
}

// Gorgonia's tensors are a tenth of the program, and meet callers only: engines take numbers, so that the page does without them.
func TestEnginesTakeNumbers(t *testing.T) {
	mayKnow := []string{"autodiff/gorgonia/", "tensor/device/", "kernels/cuda/drv/", "notebook/", "internal/", "examples/"}
	known := 0
	for _, src := range sources(t) {
		if under(src.path, mayKnow) {
			continue
		}
		for _, imported := range src.ast.Imports {
			if !strings.HasPrefix(imported.Path.Value, `"gorgonia.org/`) {
				continue
			}
			if known++; !leftOutOfPage(src.ast) {
				t.Errorf("%s imports %s without the line //go:build !page: see decision 0039", src.path, imported.Path.Value)
			}
		}
		ast.Inspect(src.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"Eval", "FromDense"}, sel.Sel.Name) {
				if pkg, ok := sel.X.(*ast.Ident); ok && (pkg.Name == "ad" || pkg.Name == "tensor") {
					t.Errorf("%s: %s.%s: use autodiff.Numbers", src.path, pkg.Name, sel.Sel.Name)
				}
			}
			return true
		})
	}
	if known < 4 {
		t.Errorf("%d files import Gorgonia's packages: they are not found any more", known)
	}
}

func leftOutOfPage(f *ast.File) bool {
	return slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool { return c.List[0].Text == "//go:build !page" })
}

// A package that fails with the caller's line says that it builds graphs for its callers, or the line would be its own.
func TestBuildersOfGraphsAreRegistered(t *testing.T) {
	fails, registered := map[string]string{}, map[string]bool{}
	for _, src := range sources(t) {
		ast.Inspect(src.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "ad" && sel.Sel.Name == "Fail" {
					fails[path.Dir(src.path)] = src.path
				} else if ok && pkg.Name == "given" && sel.Sel.Name == "BuildsGraphs" {
					registered[path.Dir(src.path)] = true
				}
			}
			return true
		})
	}
	for dir, file := range fails {
		if !registered[dir] && !strings.HasPrefix(dir, "examples/") {
			t.Errorf("%s calls autodiff.Fail, and %s does not call given.BuildsGraphs in init", file, dir)
		}
	}
	if len(fails) < 5 {
		t.Errorf("%d packages call autodiff.Fail: they are not found any more", len(fails))
	}
}

func under(p string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(p, f) })
}

// wellKnown methods mean the same everywhere.
var wellKnown = []string{"Error", "Unwrap", "Is", "As"}

func TestExportedMethodsHaveComments(t *testing.T) {
	for _, src := range sources(t) {
		for _, d := range src.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv != nil && f.Name.IsExported() && f.Doc == nil && ast.IsExported(receiver(f)) && !slices.Contains(wellKnown, f.Name.Name) {
				t.Errorf("%s: method %s.%s has no comment", src.path, receiver(f), f.Name)
			}
		}
	}
}

func receiver(f *ast.FuncDecl) string {
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// A file is read in one sitting; generated ones are not read.
func TestFilesAreShort(t *testing.T) {
	for _, src := range sources(t) {
		text, err := os.ReadFile(filepath.Join(root, src.path))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n")); n > 700 && !ast.IsGenerated(src.ast) {
			t.Errorf("%s has %d lines: want at most 700, and 450 mostly", src.path, n)
		}
	}
}

// Every file names its licence; generated ones are left to their generators.
func TestFilesNameTheirLicence(t *testing.T) {
	const header = "// Copyright The Euryale Authors\n// SPDX-License-Identifier: Apache-2.0\n\n"
	for _, src := range sources(t) {
		text, err := os.ReadFile(filepath.Join(root, src.path))
		if err != nil {
			t.Fatal(err)
		}
		if !ast.IsGenerated(src.ast) && !bytes.HasPrefix(text, []byte(header)) {
			t.Errorf("%s does not begin with\n%s", src.path, header)
		}
	}
}

// Every public package shows how it is used, on its page of documentation.
func TestPackagesHaveExamples(t *testing.T) {
	seen := map[string]bool{}
	for _, src := range sources(t) {
		dir := path.Dir(src.path)
		if seen[dir] || src.ast.Name.Name == "main" || strings.Contains("/"+dir+"/", "/internal/") || under(src.path, []string{"app/", "examples/"}) {
			continue
		}
		seen[dir] = true
		tests, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(tests, func(name string) bool {
			text, err := os.ReadFile(name)
			return err == nil && bytes.Contains(text, []byte("\nfunc Example"))
		}) {
			t.Errorf("package %s has no example: write one in %s/example_test.go", dir, dir)
		}
	}
	if len(seen) < 60 {
		t.Errorf("%d public packages: they are not found any more", len(seen))
	}
}
