// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"path"
	"strings"
)

// Code holds all parsed Go code below a root folder.
type Code struct {
	Fset  *token.FileSet
	Files []File
}

// File is a Go file.
type File struct {
	Path string // path relative to the root, with slashes
	Ast  *ast.File
}

// Test reports whether the file is a test file.
func (f File) Test() bool { return strings.HasSuffix(f.Path, "_test.go") }

// Dir returns the folder of the file.
func (f File) Dir() string { return path.Dir(f.Path) }

// Parse reads all code below root, including tests.
func Parse(root string) (*Code, error) {
	c := &Code{Fset: token.NewFileSet()}
	err := Walk(root, ".go", func(p string, text []byte) error {
		f, err := parser.ParseFile(c.Fset, p, text, parser.ParseComments|parser.SkipObjectResolution)
		c.Files = append(c.Files, File{p, f})
		return err
	})
	return c, err
}

// Snippet is a piece of code in a document or in a comment.
type Snippet struct {
	Where string // position as path:line
	Pkg   string // folder of the comment's package; "" in documents
	Text  string
}

// Comments returns the code blocks in comments of packages, types, functions and variables.
// Formulas, tables and other languages are excluded: a block is code if it declares something by :=
// or calls one of the named packages.
func (c *Code) Comments(isPackage func(name string) bool) (out []Snippet) {
	for _, f := range c.Files {
		if f.Test() {
			continue
		}
		take := func(doc *ast.CommentGroup) {
			if doc == nil {
				return
			}
			var p comment.Parser
			for _, b := range p.Parse(doc.Text()).Content {
				if code, ok := b.(*comment.Code); ok && looksLikeGo(code.Text, isPackage) {
					out = append(out, Snippet{c.Fset.Position(doc.Pos()).String(), f.Dir(), code.Text})
				}
			}
		}
		take(f.Ast.Doc)
		for _, d := range f.Ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				take(d.Doc)
			case *ast.GenDecl:
				take(d.Doc)
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						take(s.Doc)
					}
				}
			}
		}
	}
	return out
}

func looksLikeGo(text string, isPackage func(name string) bool) bool {
	if strings.Contains(text, ":=") {
		return true
	}
	for _, m := range qualified.FindAllStringSubmatch(text, -1) {
		if isPackage(m[1]) {
			return true
		}
	}
	return false
}
