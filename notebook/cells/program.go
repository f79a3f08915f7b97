// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Program converts the notebook into a Go program whose main function contains the statements of the
// cells in order. The value in which a cell ends is printed. The program has been checked and compiles.
// If a later cell defines a variable again with the same type, the variable is assigned to; with
// another type, it is a new variable from there on, which is an error if a function or a pointer uses
// the old one. Types, constants, methods, and functions that use no variable of a cell are declared
// outside main; the other functions become variables of main. The importer must know the packages that
// the cells import, and fmt and log.
func (n *Notebook) Program(importer types.Importer) ([]byte, error) {
	p, err := n.program()
	if err != nil {
		return nil, err
	}
	if err := p.learn(importer); err != nil {
		return nil, err
	}
	if _, err := p.check(p.text(true), importer, nil); err != nil {
		return nil, err
	}
	text, err := format.Source([]byte(p.text(false)))
	if err != nil {
		return nil, fmt.Errorf("cells: program of %s: %w", n.Name, err)
	}
	return text, nil
}

// program is a Go program that a notebook becomes.
type program struct {
	book       *Notebook
	statements []*statement
	outside    map[*statement]bool // whether it stands outside main
	display    string              // name of the function that prints what a cell ends in

	// What the types tell.
	unused map[*statement][]string // variables that nothing uses
	silent map[*statement]bool     // expressions at the end of a cell that have no value, or that print
	values map[*statement]bool     // expressions that are values and no calls
	drop   map[string]bool         // imports that nothing uses, as they are written

	same   map[*statement]map[string]bool // names to which a statement assigns that defines them again
	placed []*statement                   // of each statement of main the one that it comes from
}

// program finds where each statement belongs.
func (n *Notebook) program() (*program, error) {
	all, err := n.statements()
	if err != nil {
		return nil, err
	}
	p := &program{book: n, statements: all, outside: map[*statement]bool{}, display: "display"}
	variables, fixed := map[string]int{}, map[string]int{} // by name, the cell that defines it
	for _, s := range all {
		p.outside[s] = s.sort == declaration || s.sort == method || s.sort == imports ||
			s.sort == function && s.mentions(variables) == ""
		for _, name := range s.defines {
			if name == p.display {
				p.display += "Values"
			}
			switch {
			case (s.sort == function || p.outside[s]) && (name == "main" || name == "init"):
				return nil, &Error{Notebook: n.Name, Line: s.line, Cell: s.cell, Text: fmt.Sprintf("the cell defines %s, which has a meaning of its own in a Go program: use another name", name)}
			case fixed[name] > 0:
				return nil, again(n, s, name, fixed[name], "a Go program has it once")
			case p.outside[s] && variables[name] > 0:
				return nil, again(n, s, name, variables[name], "a Go program has it once")
			case p.outside[s]:
				fixed[name] = s.cell
			default:
				variables[name] = s.cell
			}
		}
	}
	for _, s := range all {
		if name := s.mentions(variables); s.sort == method && name != "" && !s.bindsLocally(name) {
			return nil, &Error{Notebook: n.Name, Line: s.line, Cell: s.cell, Text: fmt.Sprintf("a method uses the variable %s of a cell, which a method in a Go program cannot do: make it a field or an argument", name)}
		}
	}
	return p, nil
}

// bindsLocally reports whether a function has an argument, a result or a variable of this name.
func (s *statement) bindsLocally(name string) bool {
	local := false
	ast.Inspect(s.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			local = local || slices.ContainsFunc(n.Names, func(id *ast.Ident) bool { return id.Name == name })
		case *ast.AssignStmt:
			local = local || n.Tok == token.DEFINE && slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return e.(*ast.Ident).Name == name })
		}
		return true
	})
	return local
}

// text writes the program, with the lines of the notebook in comments that the compiler reads if
// they are asked for.
func (p *program) text(lines bool) string {
	var out, main strings.Builder
	fmt.Fprintf(&out, "// The notebook %s as a program.\npackage main\n\n", p.book.Name)
	mark := func(w *strings.Builder, s *statement) {
		if s.comment != "" {
			w.WriteString(s.comment + "\n")
		}
		if lines {
			fmt.Fprintf(w, "//line %s:%d\n", p.book.Name, s.line)
		}
	}
	imported := p.imports()
	out.WriteString("import (\n" + strings.Join(imported, "\n") + "\n)\n\n")
	for _, s := range p.statements {
		if p.outside[s] && s.sort != imports {
			mark(&out, s)
			out.WriteString(s.text + "\n\n")
		}
	}
	blocks := p.body(&main, mark)
	out.WriteString("func main() {\n" + main.String() + strings.Repeat("}\n", blocks) + "}\n\n")
	if strings.Contains(main.String(), p.display+"(") {
		fmt.Fprintf(&out, displayed, p.display, p.display)
	}
	return out.String()
}

const displayed = `// %s prints what a cell ends in. An error ends the program.
func %s(values ...any) {
	for _, v := range values {
		if err, failed := v.(error); failed {
			log.Fatal(err)
		}
		if v != nil {
			fmt.Println(v)
		}
	}
}
`

// body writes the statements of main and returns how many blocks it leaves open.
func (p *program) body(w *strings.Builder, mark func(*strings.Builder, *statement)) (blocks int) {
	defined := map[string]bool{} // in the innermost block
	cell := 0
	p.placed = nil
	for _, s := range p.statements {
		if s.cell != cell {
			cell = s.cell
			fmt.Fprintf(w, "\n// Cell %d.\n", cell)
		}
		if p.outside[s] {
			continue
		}
		if p.shadows(s, defined) {
			w.WriteString("{\n")
			blocks++
			clear(defined)
		}
		mark(w, s)
		for _, part := range p.parts(s, defined) {
			w.WriteString(part + "\n")
			p.placed = append(p.placed, s)
		}
		for _, name := range s.defines {
			defined[name] = defined[name] || !p.same[s][name]
		}
		for _, name := range p.unused[s] {
			w.WriteString("_ = " + name + "\n")
		}
	}
	return blocks
}

// shadows reports whether a statement makes another variable of a name that its block has already.
func (p *program) shadows(s *statement, defined map[string]bool) bool {
	return slices.ContainsFunc(s.defines, func(name string) bool { return defined[name] && !p.same[s][name] })
}

// statement is a statement as it stands in main.
func (p *program) statement(s *statement) string {
	e, isExpression := s.node.(*ast.ExprStmt)
	switch {
	case !isExpression || p.unused == nil:
		return s.text
	case s.last && !p.silent[s] && !IsPrint(e.X):
		return p.shown(s, p.display)
	case p.values[s]:
		return "_ = " + s.text
	}
	return s.text
}

// shown is an expression as the argument of a function; a comment behind it stays behind.
func (p *program) shown(s *statement, function string) string {
	end := int(s.node.End() - s.node.Pos())
	return function + "(" + s.text[:end] + ")" + s.text[end:]
}

// recursive reports whether a function calls itself.
func recursive(f *ast.FuncDecl) bool {
	found := false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		id, isName := n.(*ast.Ident)
		found = found || isName && id.Name == f.Name.Name
		return true
	})
	return found
}

// imports returns the lines of imports: those of the cells, and of what prints.
func (p *program) imports() []string {
	var list []string
	for _, s := range p.statements {
		if s.sort != imports {
			continue
		}
		for _, spec := range s.node.(*ast.GenDecl).Specs {
			i := spec.(*ast.ImportSpec)
			text := i.Path.Value
			if i.Name != nil {
				text = i.Name.Name + " " + text
			}
			if !slices.Contains(list, text) && !p.drop[text] {
				list = append(list, text)
			}
		}
	}
	for _, s := range p.statements {
		if e, isExpression := s.node.(*ast.ExprStmt); isExpression && p.unused != nil && s.last && !p.silent[s] && !IsPrint(e.X) {
			for _, own := range []string{`"fmt"`, `"log"`} {
				if !slices.Contains(list, own) {
					list = append(list, own)
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b string) int { return strings.Compare(pathOf(a), pathOf(b)) })
	return list
}

func pathOf(spec string) string { return spec[strings.Index(spec, `"`):] }

// learn type-checks the statements as they are, to see what the compiler would refuse and an
// interpreter does not: variables and imports that nothing uses, and values that stand alone.
func (p *program) learn(importer types.Importer) error {
	file, nodes, info, err := p.look(importer)
	if err != nil {
		return err
	}
	if p.same, err = p.redefined(nodes, p.placed, info); err != nil {
		return err
	}
	if len(p.same) > 0 {
		if file, nodes, info, err = p.look(importer); err != nil {
			return err
		}
	}
	p.unused, p.silent, p.values, p.drop = map[*statement][]string{}, map[*statement]bool{}, map[*statement]bool{}, map[string]bool{}
	read := readOf(file, info)
	for _, spec := range file.Imports {
		object := info.Implicits[spec]
		if spec.Name != nil {
			object = info.Defs[spec.Name]
		}
		if object != nil && !read[object] {
			text := spec.Path.Value
			if spec.Name != nil {
				text = spec.Name.Name + " " + text
			}
			p.drop[text] = true
		}
	}
	for i, node := range nodes {
		p.learnOf(p.placed[i], node, info, read)
	}
	return nil
}

// look type-checks the program as it is so far and returns the statements of its main function.
func (p *program) look(importer types.Importer) (*ast.File, []ast.Stmt, *types.Info, error) {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}}
	file, err := p.check(p.text(true), importer, info)
	if err != nil {
		return nil, nil, nil, err
	}
	nodes := mainOf(file, p.body(&strings.Builder{}, func(*strings.Builder, *statement) {}))
	if len(nodes) != len(p.placed) {
		return nil, nil, nil, fmt.Errorf("cells: program of %s: %d statements were placed of %d: please report this bug", p.book.Name, len(nodes), len(p.placed))
	}
	return file, nodes, info, nil
}

// mainOf returns the statements of main, also those in the blocks that we opened, which end it.
func mainOf(file *ast.File, blocks int) []ast.Stmt {
	var all []ast.Stmt
	for _, d := range file.Decls {
		f, isFunction := d.(*ast.FuncDecl)
		if !isFunction || f.Name.Name != "main" {
			continue
		}
		list := f.Body.List
		for len(list) > 0 {
			block, isBlock := list[0].(*ast.BlockStmt)
			if isBlock && len(list) == 1 && blocks > 0 {
				list = block.List
				blocks--
				continue
			}
			all, list = append(all, list[0]), list[1:]
		}
	}
	return all
}

func (p *program) learnOf(s *statement, node ast.Stmt, info *types.Info, read map[types.Object]bool) {
	if node, isExpression := node.(*ast.ExprStmt); isExpression {
		kind := info.Types[node.X]
		p.silent[s] = kind.IsVoid()
		_, isCall := ast.Unparen(node.X).(*ast.CallExpr)
		p.values[s] = kind.IsValue() && !isCall
	}
	for _, id := range namesOf(node) {
		if v, isVariable := info.Defs[id].(*types.Var); isVariable && id.Name != "_" && !read[v] {
			p.unused[s] = append(p.unused[s], id.Name)
		}
	}
}

// readOf returns the objects that are used otherwise than by assigning to them.
func readOf(file *ast.File, info *types.Info) map[types.Object]bool {
	assigned := map[*ast.Ident]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if a, isAssignment := n.(*ast.AssignStmt); isAssignment && (a.Tok == token.ASSIGN || a.Tok == token.DEFINE) {
			for _, e := range a.Lhs {
				if id, isName := e.(*ast.Ident); isName {
					assigned[id] = true
				}
			}
		}
		return true
	})
	read := map[types.Object]bool{}
	for id, object := range info.Uses {
		if !assigned[id] {
			read[object] = true
		}
	}
	return read
}

// check parses and type-checks a text. With info it goes on after errors of types, which it does
// not return.
func (p *program) check(text string, importer types.Importer, info *types.Info) (*ast.File, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("cells: program of %s: %w", p.book.Name, err)
	}
	var first error
	config := types.Config{Importer: importer, Error: func(err error) {
		if first == nil {
			first = err
		}
	}}
	learning := info != nil
	_, _ = config.Check("main", fset, []*ast.File{file}, info)
	if first == nil || learning {
		return file, nil
	}
	return nil, p.located(fset, first)
}

// located is an error of the type checker with its place in the notebook.
func (p *program) located(fset *token.FileSet, err error) error {
	e, isTypes := err.(types.Error)
	if !isTypes {
		return err
	}
	line := fset.Position(e.Pos).Line
	at := &Error{Notebook: p.book.Name, Line: line, Text: "the Go program made from the notebook does not compile: " + e.Msg}
	for _, s := range p.statements {
		if s.line <= line {
			at.Cell = s.cell
		}
	}
	if fset.Position(e.Pos).Filename == "" { // in what we wrote ourselves, such as an import
		at.Line, at.Cell = 0, 0
	}
	return at
}

// Imports returns the import paths used in all cells, sorted.
func (n *Notebook) Imports() ([]string, error) {
	all, err := n.statements()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, s := range all {
		if s.sort == imports {
			for _, spec := range s.node.(*ast.GenDecl).Specs {
				paths = append(paths, string(bytes.Trim([]byte(spec.(*ast.ImportSpec).Path.Value), "\"`")))
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}
