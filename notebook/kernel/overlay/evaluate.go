package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"os/signal"
	"strings"

	"github.com/cosmos72/gomacro/ast2"
	"github.com/cosmos72/gomacro/base"
	basereflect "github.com/cosmos72/gomacro/base/reflect"
	interp "github.com/cosmos72/gomacro/fast"
	"github.com/cosmos72/gomacro/xreflect"
	"github.com/gofrs/uuid"

	"github.com/euryale-dev/euryale/notebook"
)

// prepare makes an interrupt of the kernel stop what a cell does, and not the kernel: a run of
// package notebook ends and keeps its draws, anything else fails its cell.
func prepare(ir *interp.Interp) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		for s := range interrupts {
			if !notebook.Interrupt() {
				ir.Interrupt(s)
			}
		}
	}()
}

// evaluate runs the code of a cell and returns the values of its last expression. An error that
// is among them fails the cell, as a panic does, with the line of the cell.
func evaluate(ir *interp.Interp, outerr OutErr, code string, publish func(kind string, content interface{}) error) (values []interface{}, kinds []xreflect.Type, err error) {
	notebook.Connect(screen{publish, map[string]bool{}})
	defer notebook.Connect(nil)
	last := token.NoPos // of the last statement, once the cell runs
	defer func() {
		if r := recover(); r != nil {
			values, kinds, err = nil, nil, failure(ir, r, last)
		}
	}()
	code = evalSpecialCommands(ir, outerr, code)
	c := ir.Comp
	c.Options &^= base.OptShowPrompt | base.OptTrapPanic
	c.Line = 0
	nodes := c.ParseBytes([]byte(code))
	tree := ast2.AnyToAst(nodes, "cell")
	if tree == nil || len(nodes) == 0 {
		return nil, nil, nil
	}
	var compiled *interp.Expr
	quietly(func() { compiled = ir.CompileAst(tree) })
	last = nodes[len(nodes)-1].Pos()
	results, types := ir.RunExpr(compiled)
	if _, isExpression := nodes[len(nodes)-1].(ast.Expr); !isExpression {
		return nil, nil, nil
	}
	return shown(results, types)
}

// quietly does something without what it prints: the interpreter warns of every generic function
// of a package that a cell imports.
func quietly(do func()) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		do()
		return
	}
	stdout := os.Stdout
	os.Stdout = null
	defer func() {
		os.Stdout = stdout
		null.Close()
	}()
	do()
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
	return kernel.autoRenderResults(values, kinds)
}

// failure makes the error of a cell of what was recovered.
func failure(ir *interp.Interp, r any, last token.Pos) error {
	if r == base.SigInterrupt {
		return errors.New("interrupted")
	}
	text := fmt.Sprint(r)
	if e, ok := r.(error); ok {
		text = e.Error()
	}
	if last == token.NoPos {
		return errors.New(strings.TrimPrefix(text, "repl.go:"))
	}
	if line := lineOf(ir, last); line > 0 {
		return fmt.Errorf("line %d of the cell: %s", line, text)
	}
	return errors.New(text)
}

// lineOf returns the line of the statement that a cell was in, whose last one is at last; 0
// where it is not known. The interpreter keeps no place for a last expression.
func lineOf(ir *interp.Interp, last token.Pos) (line int) {
	defer func() { _ = recover() }() // a guess must not fail
	at := last
	if env := ir.PrepareEnv(); env.IP >= 0 && env.IP < len(env.DebugPos) {
		at = env.DebugPos[env.IP]
	}
	return ir.Comp.Fileset.Position(at).Line
}

// screen shows what runs tell while they last, below the cell.
type screen struct {
	publish func(kind string, content interface{}) error
	known   map[string]bool
}

// Show displays a text, in HTML where the front end can, in place of what it showed before
// under the same name.
func (s screen) Show(name, text, html string) {
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
func (s screen) ID() string {
	id, err := uuid.NewV4()
	if err != nil {
		return fmt.Sprint(ExecCounter)
	}
	return id.String()
}
