// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"
)

// operation is an exported function of Gorgonia that makes nodes, and how a test
// draws one of its uses.
type operation struct {
	name string
	// draw uses the operation in a sketch. It panics where Gorgonia refuses.
	draw  func(s *sketch) []*G.Node
	wrong bool // Gorgonia's rule of the gradient is wrong, at least now and then
	none  bool // the result is of no use in a cost: Gorgonia cannot multiply it
	typ   gt.Dtype
}

// operations is the table of all of them.
func operations() []operation {
	var list []operation
	for _, part := range [][]operation{sources(), elementwise(), broadcasts(), reshaping(), products(), layers()} {
		list = append(list, part...)
	}
	return list
}

func one(n *G.Node, err error) []*G.Node { return []*G.Node{must(n, err)} }

// notOperations are the exported functions that return nodes, but compute nothing
// that a graph could be made of.
var notOperations = map[string]string{
	"NewScalar": "an input", "NewVector": "an input", "NewMatrix": "an input", "NewTensor": "an input", "NewUniqueNode": "any node",
	"Grad": "derivatives: every graph has them", "Backpropagate": "what Grad calls",
	"Read": "a statement: every graph has some", "Set": "a statement, of which Warnings tells",
	"Must": "an assertion", "Sort": "nodes in order", "UnstableSort": "nodes in order", "NodesFromInputs": "nodes as a list",
}

// The table has every exported function that makes nodes.
func TestTableOfOperations(t *testing.T) {
	known := map[string]bool{}
	for _, op := range operations() {
		if known[op.name] {
			t.Errorf("%s stands twice in the table", op.name)
		}
		known[op.name] = true
	}
	file, _ := runtime.FuncForPC(reflect.ValueOf(G.Add).Pointer()).FileLine(0)
	files, err := parser.ParseDir(token.NewFileSet(), filepath.Dir(file), func(f fs.FileInfo) bool {
		return !strings.HasSuffix(f.Name(), "_test.go") && !strings.Contains(f.Name(), "cuda")
	}, 0)
	if err != nil || files["gorgonia"] == nil {
		t.Skipf("SKIPPED: Gorgonia's source is not at %s: %v", file, err)
	}
	count := 0
	for _, f := range files["gorgonia"].Files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.IsExported() && makesNodes(fn.Type) {
				count++
				if name := fn.Name.Name; !known[name] && notOperations[name] == "" {
					t.Errorf("%s is neither in the table nor among what computes nothing", name)
				}
			}
		}
	}
	if count < 100 {
		t.Errorf("%d functions make nodes, want some 120: is %s Gorgonia?", count, file)
	}
}

func makesNodes(f *ast.FuncType) bool {
	if f.Results == nil {
		return false
	}
	var b strings.Builder
	for _, r := range f.Results.List {
		fmt.Fprint(&b, typeName(r.Type), " ")
	}
	return strings.HasPrefix(b.String(), "*Node ") || strings.HasPrefix(b.String(), "Nodes ")
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return "*" + typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}
