// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// comment is the text beside one exported name.
type comment struct {
	file string
	line int
	kind string // package, func, type, const, var, group or field
	name string
	text string
}

// comments returns the comments of what other packages can see: packages, exported declarations and
// the exported fields and methods of exported types.
func (s source) comments() []comment {
	var list []comment
	add := func(kind, name string, at token.Pos, groups ...*ast.CommentGroup) {
		for _, g := range groups {
			if g != nil {
				list = append(list, comment{s.path, s.fset.Position(at).Line, kind, name, oneLine(g.Text())})
			}
		}
	}
	add("package", s.file.Name.Name, s.file.Package, s.file.Doc)
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				add("func", d.Name.Name, d.Pos(), d.Doc)
			}
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				s.specs(d, add)
			}
		}
	}
	return list
}

func (s source) specs(d *ast.GenDecl, add func(kind, name string, at token.Pos, groups ...*ast.CommentGroup)) {
	public := slices.ContainsFunc(d.Specs, func(x ast.Spec) bool { return ast.IsExported(nameOf(x)) })
	switch {
	case public && d.Lparen != 0:
		add("group", nameOf(d.Specs[0]), d.Pos(), d.Doc)
	case public:
		add(d.Tok.String(), nameOf(d.Specs[0]), d.Pos(), d.Doc)
	}
	for _, x := range d.Specs {
		if !ast.IsExported(nameOf(x)) {
			continue
		}
		switch x := x.(type) {
		case *ast.TypeSpec:
			add("type", x.Name.Name, x.Pos(), x.Doc)
			fields(x, add)
		case *ast.ValueSpec:
			add(d.Tok.String(), x.Names[0].Name, x.Pos(), x.Doc, x.Comment)
		}
	}
}

func fields(t *ast.TypeSpec, add func(kind, name string, at token.Pos, groups ...*ast.CommentGroup)) {
	ast.Inspect(t.Type, func(n ast.Node) bool {
		var list *ast.FieldList
		switch n := n.(type) {
		case *ast.StructType:
			list = n.Fields
		case *ast.InterfaceType:
			list = n.Methods
		default:
			return true
		}
		for _, f := range list.List {
			if len(f.Names) > 0 && f.Names[0].IsExported() {
				add("field", t.Name.Name+"."+f.Names[0].Name, f.Pos(), f.Doc, f.Comment)
			}
		}
		return true
	})
}

func nameOf(s ast.Spec) string {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return s.Name.Name
	case *ast.ValueSpec:
		return s.Names[0].Name
	}
	return ""
}

// leaning are words that a comment cannot begin with and still be understood without the name beside
// it: prepositions, conjunctions and pronouns.
var leaning = words(`a-few about after all also although and as at because before between both but by each either every
	following for from given how if in inside into it its just least less likewise most no nor not of off on one only onto
	or otherwise out outside over per said see since so than that their then there these they this those through till to
	toward towards under unless until up upon what when where whether which while who whose why with within without`)

// fragment says why a comment is no more than a fragment; it is empty for others. A noun phrase that
// stands by itself, with its unit, is none.
func (c comment) fragment() string {
	last := c.name[strings.LastIndex(c.name, ".")+1:]
	if c.kind == "func" || c.kind == "type" || c.kind == "package" || begins(c.text, last) {
		if len(strings.Fields(c.text)) < 4 {
			return "too short to say anything"
		}
		return ""
	}
	if c.kind == "group" {
		return ""
	}
	list := strings.FieldsFunc(c.text, func(r rune) bool { return strings.ContainsRune(" ,;:(.", r) })
	head, _, _ := strings.Cut(c.text, ";")
	head, _, _ = strings.Cut(head, ",")
	head, _, _ = strings.Cut(head, ".")
	switch {
	case len(list) == 0:
		return "empty"
	case leaning[strings.ToLower(list[0])]:
		return "begins with " + list[0]
	case len(strings.Fields(head)) == 1 && !strings.HasPrefix(head, "["):
		return "is a single word"
	}
	return ""
}

// begins reports whether a text begins with a name as a whole word.
func begins(text, name string) bool {
	rest, ok := strings.CutPrefix(text, name)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], " ,;:."))
}

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}
