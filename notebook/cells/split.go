// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// sort of a statement of a cell.
type sort int

const (
	plain       sort = iota // whatever a function may contain
	variable                // x := 1 or var x = 1
	declaration             // const or type
	function                // func f() { ... }
	method                  // func (t T) m() { ... }
	imports
)

// statement is a statement of a cell, or a declaration outside functions.
type statement struct {
	sort    sort
	cell    int    // number among the cells of code, from 1
	comment string // the lines of comments before it
	text    string // with a comment that ends its last line
	line    int    // of the notebook's file, at which text begins
	last    bool   // whether it is the last one of its cell
	defines []string
	node    ast.Node // ast.Stmt, *ast.FuncDecl, or *ast.GenDecl of imports
}

// statements returns the statements of all cells of code, in order.
func (n *Notebook) statements() ([]*statement, error) {
	var all []*statement
	count := 0
	for _, c := range n.Cells {
		if c.Kind != Code {
			continue
		}
		count++
		list, err := split(c.Source)
		if err != nil {
			at := &Error{Notebook: n.Name, Cell: count, Text: err.Error()}
			if list, isList := err.(scanner.ErrorList); isList && len(list) > 0 {
				at.Text, at.Line = list[0].Msg, list[0].Pos.Line+max(c.Line-1, 0)
			}
			return nil, at
		}
		for i, s := range list {
			s.cell, s.last = count, i == len(list)-1
			s.line += max(c.Line-1, 0)
		}
		all = append(all, list...)
	}
	return all, nil
}

// split parts the source of a cell, where declarations stand between statements, as no Go file
// has them.
func split(source string) ([]*statement, error) {
	var all []*statement
	for _, p := range pieces(source) {
		list, err := p.statements(source)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// piece is a part of a source: an import, a function, a method, or statements between them.
type piece struct {
	sort       sort
	begin, end int // offsets
}

// pieces parts a source at its imports and functions.
func pieces(source string) []piece {
	tokens := scan(source)
	var all []piece
	begin, depth, starts := 0, 0, true
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		if kind := declares(tokens[i:]); starts && depth == 0 && kind != plain {
			all = append(all, piece{plain, begin, t.at})
			i += ends(tokens[i:])
			begin = len(source)
			if i < len(tokens) {
				begin = min(tokens[i].at+1, len(source))
			}
			all = append(all, piece{kind, t.at, begin})
			continue
		}
		switch t.token {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			depth--
		}
		starts = t.token == token.SEMICOLON
	}
	return append(all, piece{plain, begin, len(source)})
}

// lexeme is a token and its offset.
type lexeme struct {
	token token.Token
	at    int
}

func scan(source string) []lexeme {
	file := token.NewFileSet().AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, []byte(source), func(token.Position, string) {}, 0)
	var all []lexeme
	for {
		pos, t, _ := s.Scan()
		if t == token.EOF {
			return all
		}
		all = append(all, lexeme{t, file.Offset(pos)})
	}
}

// declares returns the sort of the declaration that tokens begin with: imports, a function or a
// method, or plain where it is none of them. A function literal has no name.
func declares(tokens []lexeme) sort {
	is := func(i int, t token.Token) bool { return i < len(tokens) && tokens[i].token == t }
	switch {
	case is(0, token.IMPORT):
		return imports
	case is(0, token.FUNC) && is(1, token.IDENT):
		return function
	case is(0, token.FUNC) && is(1, token.LPAREN):
		depth := 0
		for i := 1; i < len(tokens); i++ {
			switch tokens[i].token {
			case token.LPAREN:
				depth++
			case token.RPAREN:
				depth--
			}
			if depth == 0 {
				if is(i+1, token.IDENT) && is(i+2, token.LPAREN) {
					return method
				}
				break
			}
		}
	}
	return plain
}

// ends returns the index of the semicolon, written or implied, that ends a declaration.
func ends(tokens []lexeme) int {
	depth := 0
	for i, t := range tokens {
		switch t.token {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			depth--
		case token.SEMICOLON:
			if depth <= 0 {
				return i
			}
		}
	}
	return len(tokens)
}

// statements parses a piece.
func (p piece) statements(source string) ([]*statement, error) {
	text := source[p.begin:p.end]
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	before, after := "package p; ", ""
	if p.sort == plain {
		before, after = "package p; func _() { ", "\n}"
	}
	line := 1 + strings.Count(source[:p.begin], "\n")
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", before+text+after, parser.SkipObjectResolution)
	if err != nil {
		if list, isList := err.(scanner.ErrorList); isList {
			for _, e := range list {
				e.Pos.Line += line - 1
			}
		}
		return nil, err
	}
	if p.sort != plain {
		comment, body := leadingComment(text)
		s := &statement{sort: p.sort, comment: comment, text: strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(body), ";")),
			line: line + strings.Count(text[:len(text)-len(body)], "\n"), node: file.Decls[0]}
		if f, isFunction := file.Decls[0].(*ast.FuncDecl); isFunction && p.sort == function {
			s.defines = []string{f.Name.Name}
		}
		return []*statement{s}, nil
	}
	return ofBody(fset, file.Decls[0].(*ast.FuncDecl).Body.List, text, len(before), line), nil
}

// ofBody cuts a text into the statements that were parsed of it.
func ofBody(fset *token.FileSet, list []ast.Stmt, text string, before, line int) []*statement {
	var all []*statement
	done := 0
	for _, node := range list {
		if _, empty := node.(*ast.EmptyStmt); empty {
			continue
		}
		from, to := fset.Position(node.Pos()).Offset-before, min(fset.Position(node.End()).Offset-before, len(text))
		rest, _, _ := strings.Cut(text[to:], "\n")
		end := to
		if tail := strings.TrimSpace(rest); strings.HasPrefix(tail, "//") {
			end = to + len(rest)
		}
		s := &statement{comment: commentsOf(text[done:from]), text: strings.TrimSpace(text[from:end]), line: line + strings.Count(text[:from], "\n"), node: node}
		s.classify()
		all = append(all, s)
		done = end
	}
	return all
}

// commentsOf keeps the lines of comments of what stands between statements.
func commentsOf(text string) string {
	var keep []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line != ";" {
			keep = append(keep, strings.TrimPrefix(line, "; "))
		}
	}
	return strings.Join(keep, "\n")
}

// leadingComment parts the comments at the beginning of a text from the rest.
func leadingComment(text string) (comment, rest string) {
	at := scan(text)
	if len(at) == 0 {
		return "", text
	}
	return commentsOf(text[:at[0].at]), text[at[0].at:]
}

// classify finds the sort of a statement and the names that it defines.
func (s *statement) classify() {
	switch node := s.node.(type) {
	case *ast.AssignStmt:
		if node.Tok != token.DEFINE {
			return
		}
		s.sort = variable
		for _, e := range node.Lhs {
			s.define(e.(*ast.Ident))
		}
	case *ast.DeclStmt:
		s.sort = declaration
		d := node.Decl.(*ast.GenDecl)
		if d.Tok == token.VAR {
			s.sort = variable
		}
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				s.define(spec.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					s.define(name)
				}
			}
		}
	}
}

func (s *statement) define(name *ast.Ident) {
	if name.Name != "_" {
		s.defines = append(s.defines, name.Name)
	}
}

// mentions reports whether an identifier anywhere in a statement is one of these names.
func (s *statement) mentions(names map[string]int) string {
	found := ""
	ast.Inspect(s.node, func(n ast.Node) bool {
		if sel, isSelector := n.(*ast.SelectorExpr); isSelector {
			ast.Inspect(sel.X, func(n ast.Node) bool {
				if id, isName := n.(*ast.Ident); isName && names[id.Name] > 0 {
					found = id.Name
				}
				return true
			})
			return false
		}
		if id, isName := n.(*ast.Ident); isName && names[id.Name] > 0 {
			found = id.Name
		}
		return true
	})
	return found
}

// IsPrint reports whether an expression is a call such as fmt.Println, whose return values are of no
// interest.
func IsPrint(e ast.Expr) bool {
	call, isCall := e.(*ast.CallExpr)
	if !isCall {
		return false
	}
	f, isSelector := call.Fun.(*ast.SelectorExpr)
	if !isSelector {
		return false
	}
	pkg, isName := f.X.(*ast.Ident)
	return isName && pkg.Name == "fmt" && (strings.HasPrefix(f.Sel.Name, "Print") || strings.HasPrefix(f.Sel.Name, "Fprint"))
}

// again is the error of a name that is defined twice where it may not be.
func again(n *Notebook, s *statement, name string, first int, why string) error {
	return &Error{Notebook: n.Name, Line: s.line, Cell: s.cell, Text: fmt.Sprintf("the cell defines %s again, which cell %d defined: %s; use another name", name, first, why)}
}
