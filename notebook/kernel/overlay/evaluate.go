// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"maps"
	"sync"

	"github.com/cosmos72/gomacro/ast2"
	"github.com/cosmos72/gomacro/base"
	basereflect "github.com/cosmos72/gomacro/base/reflect"
	interp "github.com/cosmos72/gomacro/fast"
	"github.com/cosmos72/gomacro/xreflect"
	"github.com/gofrs/uuid"

	"github.com/euryale-dev/euryale/notebook"
	"github.com/euryale-dev/euryale/notebook/cells"
)

// evaluate runs the code of a cell and returns the values of its last expression. An error that
// is among them fails the cell, as a panic does, with the line of the cell.
func evaluate(ir *interp.Interp, outerr OutErr, code string, publish func(kind string, content interface{}) error) (values []interface{}, kinds []xreflect.Type, err error) {
	notebook.Connect(&screen{publish: publish, known: map[string]bool{}})
	defer notebook.Connect(nil)
	defer caught.tell()
	defer cell.begin(ir)()
	defer func() {
		if r := recover(); r != nil {
			values, kinds, err = nil, nil, failure(ir, r)
		}
	}()
	code = evalSpecialCommands(ir, outerr, code)
	c := ir.Comp
	c.Options &^= base.OptShowPrompt | base.OptTrapPanic
	c.Stdout, c.Stderr = noWarnings{}, noWarnings{}
	c.Line = 0
	nodes := c.ParseBytes([]byte(code))
	if err := checkImports(nodes); err != nil {
		return nil, nil, err
	}
	guardGoroutines(nodes)
	tree := ast2.AnyToAst(withLines(c.Fileset, nodes), "cell")
	if tree == nil || len(nodes) == 0 {
		return nil, nil, nil
	}
	compiled := compile(ir, tree)
	end := nodes[len(nodes)-1]
	cell.run(end.Pos())
	results, types := ir.RunExpr(compiled)
	if e, isExpression := end.(ast.Expr); !isExpression || cells.IsPrint(e) {
		return nil, nil, nil
	}
	return shown(results, types)
}

// compile compiles a cell. One that does not compile declares nothing: the names are what they were. But
// the interpreter changes a type of a cell that is declared again in place.
func compile(ir *interp.Interp, tree ast2.Ast) *interp.Expr {
	c := ir.Comp
	binds, types := maps.Clone(c.Binds), maps.Clone(c.Types)
	whole := false
	defer func() {
		if !whole {
			c.Binds, c.Types = binds, types
			c.Code.Clear()
		}
	}()
	compiled := ir.CompileAst(tree)
	whole = true
	return compiled
}

// shown returns what is displayed of the values of an expression: all but errors that are nil.
func shown(results []xreflect.Value, types []xreflect.Type) (values []interface{}, kinds []xreflect.Type, err error) {
	some := false
	for i, r := range results {
		v := basereflect.ValueInterface(r)
		isError := types[i].ReflectType() == errorType
		if e, failed := v.(error); failed && isError {
			return nil, nil, e
		}
		if isError {
			continue
		}
		some = some || v != nil
		values, kinds = append(values, v), append(kinds, types[i])
	}
	if !some {
		return nil, nil, nil
	}
	return values, kinds, nil
}

// rendered returns what is displayed of values; one that cannot be displayed says why.
func (kernel *Kernel) rendered(values []interface{}, kinds []xreflect.Type) (d Data) {
	defer func() {
		if r := recover(); r != nil {
			d = Data{Data: MIMEMap{"text/plain": fmt.Sprintf("the value cannot be displayed: %v", r)}}
		}
	}()
	return sized(kernel.autoRenderResults(values, kinds))
}

// screen shows what runs tell while they last, below the cell. Several goroutines may run.
type screen struct {
	publish func(kind string, content interface{}) error
	mu      sync.Mutex
	known   map[string]bool
}

// Show displays a text, in HTML where the front end can, in place of what it showed before
// under the same name.
func (s *screen) Show(name, text, html string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := "display_data"
	if s.known[name] {
		kind = "update_display_data"
	}
	s.known[name] = true
	data := map[string]any{"text/plain": text}
	if html != "" {
		data["text/html"] = html
	}
	_ = s.publish(kind, map[string]any{"data": data, "metadata": map[string]any{}, "transient": map[string]any{"display_id": name}})
}

// ID makes a name for a display that no other has.
func (s *screen) ID() string {
	id, err := uuid.NewV4()
	if err != nil {
		return fmt.Sprint(ExecCounter)
	}
	return id.String()
}
