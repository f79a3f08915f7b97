// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"sync"

	"github.com/cosmos72/gomacro/base"
)

// catcher is the name under which cells see the function that takes panics of goroutines. No cell can
// write it.
const catcher = "·caught"

// caught collects the panics of goroutines that cells began.
var caught panics

// panics are texts that are still to be told.
type panics struct {
	sync.Mutex
	texts []string
}

// add takes what a goroutine recovered; nil is no panic, and an interrupt has been told already.
func (p *panics) add(r any) {
	if r == nil || r == base.SigInterrupt {
		return
	}
	p.Lock()
	defer p.Unlock()
	p.texts = append(p.texts, fmt.Sprint(r))
}

// tell prints what was caught since the last time, below the cell that runs.
func (p *panics) tell() {
	p.Lock()
	defer p.Unlock()
	for _, text := range p.texts {
		fmt.Fprintf(os.Stderr, "A goroutine of a cell ended with a panic: %s\n", text)
	}
	p.texts = nil
}

// guardGoroutines makes every goroutine that the nodes begin catch its panics, which would end the
// kernel otherwise. A statement go f(a, b) becomes a block of two: _f, _0, _1 := f, a, b, so that
// function and arguments are evaluated where the statement stands, and a goroutine that calls
// _f(_0, _1) after defer func() { ·caught(recover()) }(). Constants stay in the
// call, which gives them their types, as do the names of built-in functions. Goroutines that compiled
// code begins are not guarded.
func guardGoroutines(nodes []ast.Node) {
	ours := map[ast.Stmt]bool{}
	guarded := func(s ast.Stmt) ast.Stmt {
		if g, isGo := s.(*ast.GoStmt); isGo && !ours[g] {
			return guard(g, ours)
		}
		return s
	}
	list := func(l []ast.Stmt) {
		for i := range l {
			l[i] = guarded(l[i])
		}
	}
	for i, n := range nodes {
		if s, isStatement := n.(ast.Stmt); isStatement {
			nodes[i] = guarded(s)
		}
		ast.Inspect(nodes[i], func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt:
				list(n.List)
			case *ast.CaseClause:
				list(n.Body)
			case *ast.CommClause:
				list(n.Body)
			case *ast.LabeledStmt:
				n.Stmt = guarded(n.Stmt)
			}
			return true
		})
	}
}

// guard writes one statement anew.
func guard(g *ast.GoStmt, ours map[ast.Stmt]bool) ast.Stmt {
	at := g.Pos()
	name := func(s string) *ast.Ident { return &ast.Ident{Name: s, NamePos: at} }
	call := &ast.CallExpr{Fun: g.Call.Fun, Args: append([]ast.Expr{}, g.Call.Args...), Lparen: g.Call.Lparen, Ellipsis: g.Call.Ellipsis, Rparen: g.Call.Rparen}
	keep := &ast.AssignStmt{Tok: token.DEFINE, TokPos: at}
	hold := func(e ast.Expr, as string) ast.Expr {
		keep.Lhs, keep.Rhs = append(keep.Lhs, name(as)), append(keep.Rhs, e)
		return name(as)
	}
	if !isBuiltin(call.Fun) {
		call.Fun = hold(call.Fun, "_f")
	}
	for i, a := range call.Args {
		if !isConstant(a) {
			call.Args[i] = hold(a, fmt.Sprint("_", i))
		}
	}
	function := func(body ...ast.Stmt) *ast.CallExpr {
		f := &ast.FuncLit{Type: &ast.FuncType{Func: at, Params: &ast.FieldList{Opening: at, Closing: at}}, Body: &ast.BlockStmt{Lbrace: at, List: body, Rbrace: at}}
		return &ast.CallExpr{Fun: f, Lparen: at, Rparen: at}
	}
	statement := func(fun ast.Expr, args ...ast.Expr) ast.Stmt {
		return &ast.ExprStmt{X: &ast.CallExpr{Fun: fun, Args: args, Lparen: at, Rparen: at}}
	}
	caught := statement(name(catcher), &ast.CallExpr{Fun: name("recover"), Lparen: at, Rparen: at})
	begin := &ast.GoStmt{Go: at, Call: function(&ast.DeferStmt{Defer: at, Call: function(caught)}, &ast.ExprStmt{X: call})}
	ours[begin] = true
	if len(keep.Lhs) == 0 {
		return &ast.BlockStmt{Lbrace: at, List: []ast.Stmt{begin}, Rbrace: at}
	}
	return &ast.BlockStmt{Lbrace: at, List: []ast.Stmt{keep, begin}, Rbrace: at}
}

// isBuiltin reports whether an expression is the name of a function that is no value.
func isBuiltin(e ast.Expr) bool {
	id, isName := e.(*ast.Ident)
	if !isName {
		return false
	}
	switch id.Name {
	case "close", "copy", "delete", "panic", "print", "println", "recover":
		return true
	}
	return false
}

// isConstant reports whether an expression is written as a constant, which may have no type yet.
func isConstant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return e.Name == "nil" || e.Name == "true" || e.Name == "false" || e.Name == "iota"
	case *ast.ParenExpr:
		return isConstant(e.X)
	case *ast.UnaryExpr:
		return isConstant(e.X)
	case *ast.BinaryExpr:
		return isConstant(e.X) && isConstant(e.Y)
	}
	return false
}
