// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/types"
	"strings"
)

// module is the import path of this module, and gonb those that its cells need besides.
const (
	module      = "github.com/euryale-dev/euryale"
	gonbModule  = "github.com/janpfeifer/gonb"
	gonbVersion = "v0.11.3"
)

// ForGoNB converts the notebook into one for GoNB, which compiles each cell together with the
// declarations of the cells before it and keeps nothing else between cells. Variables become
// declarations outside functions, which are computed again in every cell, and the value in which a cell
// ends moves to a cell of its own. It is an error if a statement changes a variable. root is the folder
// of this module's checkout.
func (n *Notebook) ForGoNB(importer types.Importer, root string) (*Notebook, error) {
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
	out := &Notebook{Name: n.Name, Kernel: GoNB, Cells: []Cell{{Kind: Code, Source: first(root)}}}
	defined, number := map[string]int{}, 0
	for _, c := range n.Cells {
		if c.Kind != Code {
			out.Cells = append(out.Cells, Cell{Kind: c.Kind, Source: c.Source, Line: c.Line})
			continue
		}
		number++
		declared, shown, err := p.forGoNB(number, defined)
		if err != nil {
			return nil, err
		}
		if declared != "" {
			out.Cells = append(out.Cells, Cell{Kind: Code, Source: declared, Line: c.Line})
		}
		if shown != "" {
			out.Cells = append(out.Cells, Cell{Kind: Code, Source: shown, Line: c.Line})
		}
	}
	return out, nil
}

// first is the cell that finds this module and declares how values are shown.
func first(root string) string {
	return fmt.Sprintf(`!*cp %[1]s/go.sum . && go mod edit -replace=%[2]s=%[1]s -require=%[2]s@v0.0.0 -require=%[3]s@%[4]s

import (
	"fmt"
	"os"

	"%[3]s/gonbui"
)

// displayValues shows what a cell ends in. An error ends the cell.
func displayValues(values ...any) {
	for _, v := range values {
		switch v := v.(type) {
		case nil:
		case error:
			fmt.Fprintln(os.Stderr, v)
			os.Exit(1)
		case interface{ HTML() string }:
			gonbui.DisplayHTML(v.HTML())
		default:
			fmt.Println(v)
		}
	}
}`, root, module, gonbModule, gonbVersion)
}

// forGoNB returns the declarations of a cell and the cell that shows what it ends in.
func (p *program) forGoNB(cell int, defined map[string]int) (declared, shown string, err error) {
	var out strings.Builder
	for _, s := range p.statements {
		if s.cell != cell {
			continue
		}
		for _, name := range s.defines {
			if defined[name] > 0 {
				return "", "", again(p.book, s, name, defined[name], "GoNB has one of each name for all cells")
			}
			defined[name] = cell
		}
		text := s.text
		_, isExpression := s.node.(*ast.ExprStmt)
		switch {
		case isExpression && s.last:
			shown = "%%\n" + p.ending(s)
			continue
		case s.sort == plain:
			what, _, _ := strings.Cut(s.text, "\n")
			return "", "", &Error{Notebook: p.book.Name, Line: s.line, Cell: cell, Text: fmt.Sprintf("GoNB keeps declarations but no state between cells, so the effect of %q would be lost: define a new variable with a function, or do it at the end of the cell", what)}
		case s.sort == variable:
			text = asVariable(s)
		}
		if s.comment != "" {
			out.WriteString(s.comment + "\n")
		}
		out.WriteString(text + "\n")
	}
	formatted, err := format.Source([]byte(out.String()))
	if err != nil {
		return "", "", fmt.Errorf("cells: GoNB's cell %d of %s: %w", cell, p.book.Name, err)
	}
	return strings.TrimSpace(string(formatted)), shown, nil
}

// ending is the expression that a cell ends in as it is shown.
func (p *program) ending(s *statement) string {
	if p.silent[s] || IsPrint(s.node.(*ast.ExprStmt).X) {
		return s.text
	}
	return p.shown(s, "displayValues")
}

// asVariable writes a short variable declaration as one that may stand outside functions.
func asVariable(s *statement) string {
	a, isShort := s.node.(*ast.AssignStmt)
	if !isShort {
		return s.text
	}
	at := int(a.TokPos - a.Pos())
	return "var " + s.text[:at] + "=" + s.text[at+len(":="):]
}
