// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// redefinitions finds what the statements that define a name again do. With an identical type they
// assign to the variable that is there, as in the interpreter, where functions and pointers see it. With
// another type they make another variable, which is refused if something has captured the name.
type redefinitions struct {
	book      *Notebook
	kinds     map[string]types.Type
	ours      map[types.Object]bool
	captured  map[string]int // the cell in which a function captured the name
	addressed map[string]int // the cell in which its address was taken
	same      map[*statement]map[string]bool
}

// redefined looks at the statements of main in order.
func (p *program) redefined(nodes []ast.Stmt, placed []*statement, info *types.Info) (map[*statement]map[string]bool, error) {
	r := redefinitions{p.book, map[string]types.Type{}, map[types.Object]bool{}, map[string]int{}, map[string]int{}, map[*statement]map[string]bool{}}
	for i, node := range nodes {
		for _, id := range namesOf(node) {
			if err := r.define(placed[i], id, info); err != nil {
				return nil, err
			}
		}
		r.captures(placed[i], node, info)
	}
	for s := range r.same {
		if err := r.checkSpecs(s); err != nil {
			return nil, err
		}
	}
	return r.same, nil
}

// define takes a name that a statement defines.
func (r *redefinitions) define(s *statement, id *ast.Ident, info *types.Info) error {
	v, isVariable := info.Defs[id].(*types.Var)
	if !isVariable || id.Name == "_" {
		return nil
	}
	name := id.Name
	r.ours[v] = true
	old := r.kinds[name]
	r.kinds[name] = v.Type()
	invalid := types.Typ[types.Invalid]
	if old == nil || old == invalid || v.Type() == invalid { // the compiler will say what is wrong
		return nil
	}
	if types.Identical(old, v.Type()) {
		if cell := r.addressed[name]; cell > 0 && !isNumber(v.Type()) {
			return r.refuse(s, name, fmt.Sprintf("cell %d took its address, which is that of the old value in a cell and of the new one in a program", cell))
		}
		if r.same[s] == nil {
			r.same[s] = map[string]bool{}
		}
		r.same[s][name] = true
		return nil
	}
	if cell := max(r.captured[name], r.addressed[name]); cell > 0 {
		return r.refuse(s, name, fmt.Sprintf("it was of type %s and is of type %s, and cell %d has a function or pointer that uses the old one", old, v.Type(), cell))
	}
	return nil
}

func (r *redefinitions) refuse(s *statement, name, why string) error {
	return &Error{Notebook: r.book.Name, Line: s.line, Cell: s.cell, Text: fmt.Sprintf("the cell defines %s again: %s; use another name", name, why)}
}

// captures notes the variables that functions of a statement use, and those of which it takes the
// address.
func (r *redefinitions) captures(s *statement, node ast.Stmt, info *types.Info) {
	note := func(in ast.Node, list map[string]int) {
		ast.Inspect(in, func(n ast.Node) bool {
			if id, isName := n.(*ast.Ident); isName && r.ours[info.Uses[id]] {
				list[id.Name] = s.cell
			}
			return true
		})
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			note(n.Body, r.captured)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				note(n.X, r.addressed)
			}
		}
		return true
	})
}

// checkSpecs refuses a declaration of which one part would assign and declare.
func (r *redefinitions) checkSpecs(s *statement) error {
	d, isDeclaration := s.node.(*ast.DeclStmt)
	if !isDeclaration {
		return nil
	}
	for _, spec := range d.Decl.(*ast.GenDecl).Specs {
		v := spec.(*ast.ValueSpec)
		if n := r.olds(s, v); n > 0 && n < len(v.Names) {
			return r.refuse(s, v.Names[0].Name, "a Go program cannot declare new variables and assign to old ones in one declaration: split it in two")
		}
	}
	return nil
}

// olds counts the names of a part of a declaration that are to be assigned to.
func (r *redefinitions) olds(s *statement, v *ast.ValueSpec) int {
	n := 0
	for _, id := range v.Names {
		if r.same[s][id.Name] || id.Name == "_" {
			n++
		}
	}
	return n
}

// isNumber reports whether the interpreter keeps variables of a type in place when they are defined
// again, so that pointers see it.
func isNumber(t types.Type) bool {
	b, isBasic := t.Underlying().(*types.Basic)
	return isBasic && b.Info()&(types.IsNumeric|types.IsBoolean) != 0
}

// namesOf returns the names that a statement defines.
func namesOf(node ast.Stmt) (names []*ast.Ident) {
	switch node := node.(type) {
	case *ast.AssignStmt:
		if node.Tok == token.DEFINE {
			for _, e := range node.Lhs {
				names = append(names, e.(*ast.Ident))
			}
		}
	case *ast.DeclStmt:
		for _, spec := range node.Decl.(*ast.GenDecl).Specs {
			if v, isValue := spec.(*ast.ValueSpec); isValue {
				names = append(names, v.Names...)
			}
		}
	}
	return names
}

// parts returns the statements of main that a statement becomes. defined are the names of the innermost
// block.
func (p *program) parts(s *statement, defined map[string]bool) []string {
	same := p.same[s]
	if s.sort == function {
		return p.function(s)
	}
	if len(same) == 0 {
		return []string{p.statement(s)}
	}
	if d, isDeclaration := s.node.(*ast.DeclStmt); isDeclaration {
		return s.assigned(d.Decl.(*ast.GenDecl), same)
	}
	a := s.node.(*ast.AssignStmt)
	at := int(a.TokPos - a.Pos())
	if len(same) == len(s.defines) {
		return []string{s.text[:at] + "=" + s.text[at+len(":="):]}
	}
	inner := true
	for name := range same {
		inner = inner && defined[name]
	}
	if inner {
		return []string{s.text}
	}
	var names, after []string
	for _, e := range a.Lhs {
		name := e.(*ast.Ident).Name
		if same[name] {
			after = append(after, name+" = "+name+"Again")
			name += "Again"
		}
		names = append(names, name)
	}
	return append([]string{strings.Join(names, ", ") + " " + s.text[at:]}, after...)
}

// assigned writes the parts of a declaration of variables, those that assign as assignments.
func (s *statement) assigned(d *ast.GenDecl, same map[string]bool) (list []string) {
	text := func(from, to ast.Node) string {
		return s.text[from.Pos()-s.node.Pos() : to.End()-s.node.Pos()]
	}
	for _, spec := range d.Specs {
		v := spec.(*ast.ValueSpec)
		last := v.Names[len(v.Names)-1]
		switch {
		case !same[last.Name] && !same[v.Names[0].Name]:
			list = append(list, "var "+text(v, v))
		case len(v.Values) > 0:
			list = append(list, text(v.Names[0], last)+" = "+text(v.Values[0], v.Values[len(v.Values)-1]))
		default:
			for _, id := range v.Names {
				list = append(list, id.Name+" = *new("+text(v.Type, v.Type)+")")
			}
		}
	}
	return list
}

// function writes a function that uses variables of cells as a variable.
func (p *program) function(s *statement) []string {
	f := s.node.(*ast.FuncDecl)
	name := f.Name.Name
	signature := "func" + strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(s.text, "func")), name)
	switch {
	case p.same[s][name]:
		return []string{name + " = " + signature}
	case recursive(f):
		kind, _, _ := strings.Cut(signature, "{")
		return []string{fmt.Sprintf("var %s %s", name, strings.TrimSpace(kind)), name + " = " + signature}
	}
	return []string{name + " := " + signature}
}
