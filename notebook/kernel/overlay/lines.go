// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/token"
	"strconv"

	interp "github.com/cosmos72/gomacro/fast"
	"github.com/cosmos72/gomacro/go/etoken"
)

// marker is the name under which cells see the function that notes their lines. No cell can write it.
const marker = "·line"

// withLines puts a call before each statement of a cell that notes its line, because the
// interpreter does not know it while a call lasts. Declarations that follow each other stay together: the
// interpreter puts them in order.
func withLines(fset *etoken.FileSet, nodes []ast.Node) []ast.Node {
	var all []ast.Node
	mark := func(at token.Pos, line int) {
		number := &ast.BasicLit{ValuePos: at, Kind: token.INT, Value: strconv.Itoa(line)}
		all = append(all, &ast.CallExpr{Fun: &ast.Ident{NamePos: at, Name: marker}, Lparen: at, Args: []ast.Expr{number}, Rparen: at})
	}
	declared := true
	for _, n := range nodes {
		_, isDeclaration := n.(ast.Decl)
		switch {
		case !isDeclaration:
			mark(n.Pos(), fset.Position(n.Pos()).Line)
		case !declared:
			mark(n.Pos(), 0)
		}
		declared = isDeclaration
		all = append(all, n)
	}
	return all
}

// lineOf returns the line of the statement that the cell is in; 0 where it is not known.
func (c *running) lineOf(ir *interp.Interp) (line int) {
	if line := c.line.Load(); line > 0 {
		return int(line)
	}
	defer func() { _ = recover() }() // a guess must not fail
	at := c.last
	if env := ir.PrepareEnv(); env.IP >= 0 && env.IP < len(env.DebugPos) {
		at = env.DebugPos[env.IP]
	}
	return ir.Comp.Fileset.Position(at).Line
}
