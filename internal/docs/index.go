// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"regexp"
	"strings"
)

// Index holds the names that the code declares and uses, to check documents against.
type Index struct {
	tests    map[string]map[string]bool // tests, benchmarks, fuzz targets and examples by folder
	declared map[string]map[string]bool // other declared names, with fields and methods, by folder
	used     map[string]bool            // every identifier that occurs anywhere
	folders  map[string][]string        // folders by package name
	Files    map[string]bool            // paths of Go files
	Bases    map[string]bool            // base names of Go files
}

var testName = regexp.MustCompile(`^(Test|Benchmark|Fuzz|Example)([A-Z_]\w*)?$`)

// Index collects the names of all files.
func (c *Code) Index() *Index {
	x := &Index{tests: map[string]map[string]bool{}, declared: map[string]map[string]bool{}, used: map[string]bool{},
		folders: map[string][]string{}, Files: map[string]bool{}, Bases: map[string]bool{}}
	for _, f := range c.Files {
		dir := f.Dir()
		x.Files[f.Path] = true
		x.Bases[f.Path[strings.LastIndex(f.Path, "/")+1:]] = true
		if x.tests[dir] == nil {
			x.tests[dir], x.declared[dir] = map[string]bool{}, map[string]bool{}
			name := strings.TrimSuffix(f.Ast.Name.Name, "_test")
			if name == "main" {
				name = dir[strings.LastIndex(dir, "/")+1:]
			}
			x.folders[name] = append(x.folders[name], dir)
		}
		ast.Inspect(f.Ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				x.used[n.Name] = true
			case *ast.FuncDecl:
				if f.Test() && n.Recv == nil && testName.MatchString(n.Name.Name) {
					x.tests[dir][n.Name.Name] = true
				}
				x.declared[dir][n.Name.Name] = true
			case *ast.TypeSpec:
				x.declared[dir][n.Name.Name] = true
			case *ast.ValueSpec:
				for _, id := range n.Names {
					x.declared[dir][id.Name] = true
				}
			case *ast.Field:
				for _, id := range n.Names {
					x.declared[dir][id.Name] = true
				}
			}
			return true
		})
	}
	return x
}

// Test reports whether there is a test of that name in any of the packages called pkg, or anywhere
// if pkg is "".
func (x *Index) Test(pkg, name string) bool {
	for dir, tests := range x.tests {
		if tests[name] && (pkg == "" || x.Is(dir, pkg)) {
			return true
		}
	}
	return false
}

// Tests returns the tests of a folder and, if deep, of the folders below it.
func (x *Index) Tests(dir string, deep bool) (out []string) {
	for d, tests := range x.tests {
		if d == dir || deep && (dir == "." || strings.HasPrefix(d, dir+"/")) {
			for name := range tests {
				out = append(out, name)
			}
		}
	}
	return out
}

// Package reports whether this module has a package of that name.
func (x *Index) Package(name string) bool { return len(x.folders[name]) > 0 || short[name] != "" }

// Is reports whether the package of a folder is called pkg.
func (x *Index) Is(dir, pkg string) bool {
	if short[pkg] == dir {
		return true
	}
	for _, d := range x.folders[pkg] {
		if d == dir {
			return true
		}
	}
	return false
}

// Declares reports whether a package called pkg declares a name, possibly as a field.
func (x *Index) Declares(pkg, name string) bool {
	for dir, names := range x.declared {
		if names[name] && x.Is(dir, pkg) {
			return true
		}
	}
	return false
}

// Used reports whether a name occurs anywhere in the code.
func (x *Index) Used(name string) bool { return x.used[name] }
