// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"go/types"
)

// takings collects the numbers that the code uses if a field is not set: those assigned to it, named
// beside it in a call or a table, or standing under a condition on it. Variables, parameters and
// other fields that take over the value count as the field.
type takings struct {
	module string
	info   *types.Info
	funcs  map[types.Object]*ast.FuncType // function types of this package, with the names of parameters

	numbers map[string]map[float64]bool // numbers by folder.Type.Field
	handed  map[string][]string         // fields that take over the value of another field
	stands  map[types.Object][]string   // fields that a variable stands for
	assumed map[types.Object][]float64  // constants assigned to each variable
}

func newTakings(module string) *takings {
	return &takings{module: module, numbers: map[string]map[float64]bool{}, handed: map[string][]string{}}
}

// of returns the numbers of a field and of the fields that take over its value.
func (t *takings) of(field string) map[float64]bool {
	out, seen := map[float64]bool{}, map[string]bool{}
	var add func(f string)
	add = func(f string) {
		if seen[f] {
			return
		}
		seen[f] = true
		for v := range t.numbers[f] {
			out[v] = true
		}
		for _, g := range t.handed[f] {
			add(g)
		}
	}
	add(field)
	return out
}

// read examines a package: first what stands for fields, then numbers. Files for other processors
// are left out, so their names stay undefined.
func (t *takings) read(k *Checker, dir string, files []*ast.File) {
	t.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	t.funcs, t.stands, t.assumed = map[types.Object]*ast.FuncType{}, map[types.Object][]string{}, map[types.Object][]float64{}
	conf := types.Config{Importer: k.imports, Error: func(error) {}}
	conf.Check(k.module+"/"+dir, k.Code.Fset, files, t.info)
	for _, visit := range []func(n ast.Node){t.functions, t.handOn, t.handOn, t.take} {
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool { visit(n); return true })
		}
	}
}

func (t *takings) functions(n ast.Node) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		t.funcs[t.info.Defs[n.Name]] = n.Type
	case *ast.AssignStmt:
		for i, r := range n.Rhs {
			id, isName := n.Lhs[min(i, len(n.Lhs)-1)].(*ast.Ident)
			if f, ok := r.(*ast.FuncLit); ok && isName {
				t.funcs[t.info.ObjectOf(id)] = f.Type
			}
		}
	}
}

// handOn records variables, parameters and fields that take over the value of a field.
func (t *takings) handOn(n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, l := range n.Lhs {
			if len(n.Lhs) != len(n.Rhs) {
				return
			}
			r := n.Rhs[i]
			if id, ok := l.(*ast.Ident); ok {
				o := t.info.ObjectOf(id)
				t.stands[o] = union(t.stands[o], t.fields(r))
				if v, ok := number(t.info.Types[r].Value); ok {
					t.assumed[o] = append(t.assumed[o], v)
				}
				continue
			}
			t.hand(t.fields(r), t.fields(l))
		}
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if id, ok := kv.Key.(*ast.Ident); ok {
					t.hand(t.fields(kv.Value), []string{t.name(t.info.TypeOf(n)) + "." + id.Name})
				}
			}
		}
	case *ast.CallExpr:
		var o types.Object
		switch f := n.Fun.(type) {
		case *ast.Ident:
			o = t.info.Uses[f]
		case *ast.SelectorExpr:
			o = t.info.Uses[f.Sel]
		}
		if f := t.funcs[o]; f != nil {
			var params []*ast.Ident
			for _, p := range f.Params.List {
				params = append(params, p.Names...)
			}
			for i, a := range n.Args[:min(len(n.Args), len(params))] {
				p := t.info.Defs[params[i]]
				t.stands[p] = union(t.stands[p], t.fields(a))
			}
		}
	}
}

func (t *takings) hand(from, to []string) {
	for _, f := range from {
		t.handed[f] = union(t.handed[f], to)
	}
}

// take records the numbers that stand with fields.
func (t *takings) take(n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, l := range n.Lhs {
			if _, ok := l.(*ast.Ident); !ok && len(n.Lhs) == len(n.Rhs) {
				t.add(t.fields(l), t.within(n.Rhs[i]))
			}
		}
	case *ast.CallExpr:
		t.together(n.Args)
	case *ast.CompositeLit:
		t.together(n.Elts)
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				t.add(t.fields(kv.Key), t.within(kv.Value))
				if id, ok := kv.Key.(*ast.Ident); ok {
					t.add([]string{t.name(t.info.TypeOf(n)) + "." + id.Name}, t.within(kv.Value))
				}
			}
		}
	case *ast.IfStmt:
		t.under([]ast.Expr{n.Cond}, n.Body.List)
	case *ast.CaseClause:
		t.under(n.List, n.Body)
	}
}

// together records the numbers of a list that also contains fields.
func (t *takings) together(list []ast.Expr) {
	for _, e := range list {
		for _, other := range list {
			if f := t.fields(e); len(f) > 0 && other != e {
				t.add(f, t.within(other))
			}
		}
	}
}

// under records what is assigned or returned under a comparison of fields.
func (t *takings) under(conditions []ast.Expr, body []ast.Stmt) {
	var fields []string
	for _, c := range conditions {
		ast.Inspect(c, func(n ast.Node) bool {
			if b, ok := n.(*ast.BinaryExpr); ok {
				fields = union(fields, append(t.fields(b.X), t.fields(b.Y)...))
			}
			return true
		})
	}
	for _, s := range body {
		switch s := s.(type) {
		case *ast.AssignStmt:
			for i, l := range s.Lhs {
				if len(s.Lhs) == len(s.Rhs) && len(t.fields(l)) > 0 {
					t.add(fields, t.within(s.Rhs[i]))
				}
			}
		case *ast.ReturnStmt:
			for _, r := range s.Results {
				t.add(fields, t.within(r))
			}
		}
	}
}

func (t *takings) add(fields []string, values []float64) {
	for _, f := range fields {
		for _, v := range values {
			if t.numbers[f] == nil {
				t.numbers[f] = map[float64]bool{}
			}
			t.numbers[f][v] = true
		}
	}
}
