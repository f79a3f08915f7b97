// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package check finds the types of a program of the Stan language, and what is wrong with it.
package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
)

// Library tells which functions there are.
type Library interface {
	// Overloads returns the families of signatures of a function; none if there is no such function.
	Overloads(name string) []typing.Overload
	// Solver says whether a function takes another one as its first argument, and returns the type of its result.
	Solver(name string) (result func(args []typing.Type) (typing.Type, error), ok bool)
	// Names lists the functions, for suggestions.
	Names() []string
}

// origin is where a variable was declared.
type origin int

const (
	local  origin = iota // also an argument of a function
	global               // a block of the program
	loop                 // the variable of a loop
)

type variable struct {
	typ    typing.Type
	data   bool // depends on data only
	origin origin
	block  int // of a global variable
}

type checker struct {
	src    *syntax.Source
	lib    Library
	prog   *syntax.Program
	scopes []map[string]*variable
	funcs  map[string][]*syntax.Function
	block  int              // where the statements stand; -1 in functions
	fn     *syntax.Function // the function whose body is checked
	loops  int
	notes  []*syntax.Error
	told   map[*syntax.Declare]bool // of which a note says that a bound is missing
}

// stop carries a mistake out of the checker.
type stop struct{ err *syntax.Error }

// Check fills in the types of a program. It returns what deserves a warning.
func Check(prog *syntax.Program, lib Library) (notes []*syntax.Error, err error) {
	c := &checker{src: prog.Source, lib: lib, prog: prog, funcs: map[string][]*syntax.Function{}, block: -1, told: map[*syntax.Declare]bool{}}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stop:
			err = r.err
		default:
			panic(r)
		}
	}()
	c.push()
	c.declareFunctions()
	for i, b := range prog.Blocks {
		if b == nil {
			continue
		}
		c.block = i
		if i == syntax.Model {
			c.push()
			c.statements(b.List)
			c.pop()
		} else {
			c.statements(b.List)
		}
	}
	return append(slices.Clone(prog.Notes), c.notes...), nil
}

func (c *checker) fail(at syntax.Span, format string, args ...any) {
	panic(stop{&syntax.Error{Source: c.src, Span: at, Text: fmt.Sprintf(format, args...)}})
}

func (c *checker) note(at syntax.Span, format string, args ...any) {
	c.notes = append(c.notes, &syntax.Error{Source: c.src, Span: at, Text: fmt.Sprintf(format, args...)})
}

func (c *checker) push() { c.scopes = append(c.scopes, map[string]*variable{}) }
func (c *checker) pop()  { c.scopes = c.scopes[:len(c.scopes)-1] }

func (c *checker) find(name string) *variable {
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if v := c.scopes[i][name]; v != nil {
			return v
		}
	}
	return nil
}

func (c *checker) declare(at syntax.Span, name string, v *variable) {
	if c.find(name) != nil || c.funcs[name] != nil {
		c.fail(at, "Identifier %q is already in use.", name)
	}
	c.scopes[len(c.scopes)-1][name] = v
}

// near suggests a name that is spelt almost like one.
func (c *checker) near(name string, also ...string) string {
	var names []string
	for _, s := range c.scopes {
		for n := range s {
			names = append(names, n)
		}
	}
	for n := range c.funcs {
		names = append(names, n)
	}
	names = append(names, also...)
	if n := spelling.Meant(name, slices.DeleteFunc(names, func(n string) bool { return n == name })); n != "" {
		return fmt.Sprintf(" Did you mean %q?", n)
	}
	return ""
}

// declareFunctions checks the headers of functions, and then their bodies.
func (c *checker) declareFunctions() {
	for _, f := range c.prog.Functions {
		if len(c.lib.Overloads(f.Name)) > 0 || isSolver(c.lib, f.Name) {
			if same := c.sameAsLibrary(f); same {
				c.fail(f.At, "Identifier %q is already in use: it is a function of the language with these arguments. Choose another name.", f.Name)
			}
		}
		density := strings.HasSuffix(f.Name, "_lpdf") || strings.HasSuffix(f.Name, "_lpmf") || strings.HasSuffix(f.Name, "_lcdf") || strings.HasSuffix(f.Name, "_lccdf")
		if density && !f.Result.Is(typing.Real) {
			c.fail(f.Span, "Real return type required for probability functions ending in _lpdf, _lpmf, _lcdf or _lccdf. Declare it as real.")
		}
		if strings.HasSuffix(f.Name, "_lpdf") && (len(f.Args) == 0 || f.Args[0].Type.Kind == typing.Int) {
			c.fail(f.Span, "Probability density functions require real variates (first argument).%s", found(f))
		}
		if strings.HasSuffix(f.Name, "_lpmf") && (len(f.Args) == 0 || f.Args[0].Type.Kind != typing.Int) {
			c.fail(f.Span, "Probability mass functions require integer variates (first argument).%s", found(f))
		}
		for _, g := range c.funcs[f.Name] {
			if sameArgs(f, g) && (f.Body == nil || g.Body != nil) {
				c.fail(f.At, "Function %q has already been declared with these arguments. Remove one of the two, or rename it.", f.Name)
			}
		}
		if !slices.ContainsFunc(c.funcs[f.Name], func(g *syntax.Function) bool { return sameArgs(f, g) }) {
			c.funcs[f.Name] = append(c.funcs[f.Name], f)
		} else {
			for i, g := range c.funcs[f.Name] {
				if sameArgs(f, g) {
					c.funcs[f.Name][i] = f
				}
			}
		}
	}
	for _, f := range c.prog.Functions {
		if f.Body != nil {
			c.function(f)
		}
	}
	for _, list := range c.funcs {
		for _, f := range list {
			if f.Body == nil {
				c.fail(f.Span, "Function %q is declared without specifying a definition. Write its body, or remove the declaration.", f.Name)
			}
		}
	}
}

func found(f *syntax.Function) string {
	if len(f.Args) == 0 {
		return " This one has no arguments."
	}
	return fmt.Sprintf(" Instead found %s.", f.Args[0].Type)
}

func isSolver(lib Library, name string) bool {
	_, ok := lib.Solver(name)
	return ok
}

func (c *checker) sameAsLibrary(f *syntax.Function) bool {
	var args []typing.Type
	for _, a := range f.Args {
		args = append(args, a.Type)
	}
	for _, o := range c.lib.Overloads(f.Name) {
		if want, _, steps, ok := o.Match(args); ok && steps == 0 && len(want) == len(args) {
			return true
		}
	}
	return false
}

func sameArgs(f, g *syntax.Function) bool {
	return slices.EqualFunc(f.Args, g.Args, func(a, b syntax.Arg) bool { return typing.Equal(a.Type, b.Type) })
}

func (c *checker) function(f *syntax.Function) {
	c.fn, c.block = f, -1
	c.push()
	for _, a := range f.Args {
		t := a.Type
		t.Data = false
		c.declare(a.Span, a.Name, &variable{typ: t, data: a.Type.Data || t.Kind == typing.Int})
	}
	c.statements(f.Body.List)
	c.pop()
	if f.Result.Kind != typing.Void && !returns(f.Body) {
		c.fail(f.Span, "Function bodies must contain a return statement of correct type in every branch.")
	}
	c.fn = nil
}

// returns says whether a statement returns on every way through it.
func returns(s syntax.Stmt) bool {
	switch s := s.(type) {
	case *syntax.Return:
		return true
	case *syntax.Tell:
		return s.Word != "print"
	case *syntax.Block:
		return slices.ContainsFunc(s.List, returns)
	case *syntax.Profile:
		return returns(s.Body)
	case *syntax.If:
		return s.Else != nil && returns(s.Then) && returns(s.Else)
	case *syntax.While:
		n, ok := s.Cond.(*syntax.Number)
		return ok && n.Text == "1" && returns(s.Body)
	}
	return false
}
