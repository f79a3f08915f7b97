// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"
)

// alone returns the number that an expression is, or the numbers that a variable may be.
func (t *takings) alone(e ast.Expr) []float64 {
	if v, ok := number(t.info.Types[e].Value); ok {
		return []float64{v}
	}
	if id, ok := e.(*ast.Ident); ok {
		return t.assumed[t.info.ObjectOf(id)]
	}
	return nil
}

// within returns the numbers in an expression, except those in functions and in literals of named
// types.
func (t *takings) within(e ast.Expr) (out []float64) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CompositeLit:
			return t.name(t.info.TypeOf(n)) == ""
		case ast.Expr:
			out = append(out, t.alone(n)...)
		}
		return true
	})
	return out
}

// fields returns the fields that an expression selects, or that a variable stands for. Addresses,
// conversions, and the minimum or maximum of a field and something else count as the field.
func (t *takings) fields(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return t.fields(e.X)
	case *ast.StarExpr:
		return t.fields(e.X)
	case *ast.UnaryExpr:
		return t.fields(e.X)
	case *ast.CallExpr:
		id, _ := e.Fun.(*ast.Ident)
		if len(e.Args) > 0 && (t.info.Types[e.Fun].IsType() || id != nil && (id.Name == "max" || id.Name == "min")) {
			return t.fields(e.Args[0])
		}
	case *ast.SelectorExpr:
		if sel := t.info.Selections[e]; sel != nil && sel.Kind() == types.FieldVal {
			return []string{t.name(owner(sel)) + "." + e.Sel.Name}
		}
	case *ast.Ident:
		if o := t.info.Uses[e]; o != nil {
			return t.stands[o]
		}
	}
	return nil
}

// owner returns the type that declares the selected field itself, possibly an embedded type.
func owner(sel *types.Selection) types.Type {
	of := sel.Recv()
	for _, i := range sel.Index()[:len(sel.Index())-1] {
		if p, ok := of.Underlying().(*types.Pointer); ok {
			of = p.Elem()
		}
		of = of.Underlying().(*types.Struct).Field(i).Type()
	}
	return of
}

// name returns the folder and the name of a type, or of the type that it points to.
func (t *takings) name(of types.Type) string {
	if of == nil {
		return ""
	}
	if p, ok := of.(*types.Pointer); ok {
		of = p.Elem()
	}
	n, ok := of.(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return ""
	}
	return strings.TrimPrefix(n.Obj().Pkg().Path(), t.module+"/") + "." + n.Obj().Name()
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

func number(v constant.Value) (float64, bool) {
	if v == nil || v.Kind() != constant.Int && v.Kind() != constant.Float {
		return 0, false
	}
	x, _ := constant.Float64Val(v)
	return x, true
}
