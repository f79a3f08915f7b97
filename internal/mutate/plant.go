// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
)

// fault is one planted fault: the bytes from start to end of a file are replaced.
type fault struct {
	path       string // path relative to the root
	line       int
	start, end int
	text       string // replacement text
	kind       string
	before     string // the original line, trimmed
	after      string // the line with the fault; lines joined, if it has several
}

// swaps maps operators to those that they are mistaken for.
var swaps = map[token.Token]string{
	token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*",
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.EQL: "!=", token.NEQ: "==", token.LAND: "||", token.LOR: "&&",
}

var assignments = map[token.Token]string{token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.MUL_ASSIGN: "/=", token.QUO_ASSIGN: "*="}

// texts lists calls whose arguments only people read.
var texts = []string{"Errorf", "Sprintf", "New", "panic", "register", "Skip", "Skipf"}

// faults lists every fault that can be planted in a file.
func faults(path string, source []byte) ([]fault, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, source, 0)
	if err != nil {
		return nil, err
	}
	p := &planter{path: path, source: source, fset: fset}
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			continue
		}
		ast.Inspect(d, p.visit)
	}
	return p.all, nil
}

type planter struct {
	path   string
	source []byte
	fset   *token.FileSet
	all    []fault
}

func (p *planter) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return !wordy(n)
	case *ast.BinaryExpr:
		if to, ok := swaps[n.Op]; ok && !isText(n.X) && !isText(n.Y) {
			p.plant(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), to, "operator")
		}
	case *ast.AssignStmt:
		if to, ok := assignments[n.Tok]; ok && !isText(n.Rhs[0]) {
			p.plant(n.TokPos, n.TokPos+2, to, "operator")
		}
	case *ast.BasicLit:
		if to := otherNumber(n); to != "" {
			p.plant(n.Pos(), n.End(), to, "constant")
		}
	case *ast.ReturnStmt:
		p.dropError(n)
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && !wordy(call) {
			p.plant(n.Pos(), n.End(), "", "statement")
		}
	case *ast.SliceExpr:
		if n.Low != nil {
			p.plant(n.Low.End(), n.Low.End(), "+1", "slice")
		}
		if n.High != nil {
			p.plant(n.High.End(), n.High.End(), "-1", "slice")
		}
	}
	return true
}

// dropError plants a fault that drops an error which a function returns.
func (p *planter) dropError(n *ast.ReturnStmt) {
	if len(n.Results) == 0 {
		return
	}
	last := n.Results[len(n.Results)-1]
	switch e := last.(type) {
	case *ast.Ident:
		if e.Name != "err" {
			return
		}
	case *ast.CallExpr:
		if !wordy(e) {
			return
		}
	default:
		return
	}
	p.plant(last.Pos(), last.End(), "nil", "error")
}

func (p *planter) plant(from, to token.Pos, text, kind string) {
	start, end := p.fset.Position(from).Offset, p.fset.Position(to).Offset
	first, last := start, end
	for first > 0 && p.source[first-1] != '\n' {
		first--
	}
	for last < len(p.source) && p.source[last] != '\n' {
		last++
	}
	src := string(p.source)
	f := fault{path: p.path, line: p.fset.Position(from).Line, start: start, end: end, text: text, kind: kind}
	f.before = strings.Join(strings.Fields(src[first:last]), " ")
	f.after = strings.Join(strings.Fields(src[first:start]+text+src[end:last]), " ")
	p.all = append(p.all, f)
}

// plantedIn returns the source with the fault in it.
func (f fault) plantedIn(source []byte) []byte {
	return []byte(string(source[:f.start]) + f.text + string(source[f.end:]))
}

// otherNumber returns a number near another: an integer plus one, or a number that is wrong in the
// fifth digit.
func otherNumber(n *ast.BasicLit) string {
	switch n.Kind {
	case token.INT:
		if v, err := strconv.ParseInt(n.Value, 0, 62); err == nil {
			return strconv.FormatInt(v+1, 10)
		}
	case token.FLOAT:
		if v, err := strconv.ParseFloat(n.Value, 64); err == nil && v != 0 {
			return strconv.FormatFloat(v*(1+1e-5), 'g', 17, 64)
		}
	}
	return ""
}

// wordy reports whether a call makes a text for people.
func wordy(c *ast.CallExpr) bool {
	name := ""
	switch f := c.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
		if x, ok := f.X.(*ast.Ident); name == "New" && (!ok || x.Name != "errors") {
			return false
		}
	}
	for _, t := range texts {
		if name == t {
			return true
		}
	}
	return false
}

func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return isText(e.X) || isText(e.Y)
	}
	return false
}

// faultsOf lists the faults of several files of the repository at root.
func faultsOf(root string, paths []string) ([]fault, error) {
	var all []fault
	for _, path := range paths {
		source, err := os.ReadFile(root + "/" + path)
		if err != nil {
			return nil, err
		}
		found, err := faults(path, source)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
