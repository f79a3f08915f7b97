// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// source is one file of Go, without its tests.
type source struct {
	path string // path from the root of the repository
	fset *token.FileSet
	file *ast.File
}

// sources reads the files of Go below a folder, without tests, examples and test data.
func sources(root, below string) ([]source, error) {
	var list []source
	err := filepath.WalkDir(filepath.Join(root, below), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "testdata" || name == "bin" || name == "run" || len(name) > 2 && strings.HasPrefix(name, ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		list = append(list, source{filepath.ToSlash(rel), fset, file})
		return nil
	})
	return list, err
}

func (s source) folder() string { return path.Dir(s.path) }

// public says that other modules can import the folder of a file.
func (s source) public() bool {
	return !strings.Contains("/"+s.path, "/internal/") && s.file.Name.Name != "main" && !strings.HasPrefix(s.path, "examples/")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
