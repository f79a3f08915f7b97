// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package syntax

// Walk calls f for all expressions of a statement.
func Walk(s Stmt, f func(Expr)) {
	exprs := func(list ...Expr) {
		for _, x := range list {
			walkExpr(x, f)
		}
	}
	stmts := func(list ...Stmt) {
		for _, x := range list {
			if x != nil {
				Walk(x, f)
			}
		}
	}
	switch s := s.(type) {
	case *Declare:
		walkSized(s.Type, f)
		exprs(s.Init)
	case *Assign:
		exprs(s.To, s.From)
	case *Increase:
		exprs(s.X)
	case *Tilde:
		exprs(s.X, s.Lower, s.Upper)
		exprs(s.Args...)
	case *Do:
		exprs(s.Call)
	case *Return:
		exprs(s.X)
	case *Tell:
		exprs(s.Args...)
	case *If:
		exprs(s.Cond)
		stmts(s.Then, s.Else)
	case *While:
		exprs(s.Cond)
		stmts(s.Body)
	case *For:
		exprs(s.Lo, s.Hi)
		stmts(s.Body)
	case *Each:
		exprs(s.Over)
		stmts(s.Body)
	case *Block:
		stmts(s.List...)
	case *Profile:
		stmts(s.Body)
	}
}

func walkSized(t *Sized, f func(Expr)) {
	for _, x := range t.Dims {
		walkExpr(x, f)
	}
	for _, x := range t.Sizes {
		walkExpr(x, f)
	}
	for _, e := range t.Elems {
		walkSized(e, f)
	}
	for _, x := range []Expr{t.Lower, t.Upper, t.Offset, t.Multiplier} {
		walkExpr(x, f)
	}
}

func walkExpr(x Expr, f func(Expr)) {
	if x == nil {
		return
	}
	f(x)
	list := func(xs []Expr) {
		for _, e := range xs {
			walkExpr(e, f)
		}
	}
	switch x := x.(type) {
	case *Unary:
		walkExpr(x.X, f)
	case *Binary:
		list([]Expr{x.X, x.Y})
	case *Choice:
		list([]Expr{x.Cond, x.X, x.Y})
	case *Call:
		list(x.Args)
	case *Index:
		walkExpr(x.X, f)
		for _, p := range x.List {
			list([]Expr{p.Single, p.Lo, p.Hi})
		}
	case *Field:
		walkExpr(x.X, f)
	case *List:
		list(x.Items)
	}
}
