// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// Every rule that has the nodes of an update is registered, so that it can train networks and errors name it.
func TestGraphRulesAreRegistered(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "nodes" {
				continue
			}
			if rule := f.Recv.List[0].Type.(*ast.Ident).Name; strings.Contains(graphRuleNames(), rule) {
				found++
			} else {
				t.Errorf("%s has the nodes of an update, but is not among %s", rule, graphRuleNames())
			}
		}
	}
	if found != len(graphRules) {
		t.Errorf("%d rules have the nodes of an update, but %d are registered", found, len(graphRules))
	}
}
