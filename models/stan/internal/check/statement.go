// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
)

func (c *checker) statements(list []syntax.Stmt) {
	ended := false
	for _, s := range list {
		if ended {
			c.note(s.At(), "This statement is never reached.")
			ended = false
		}
		c.statement(s)
		switch s.(type) {
		case *syntax.Return, *syntax.Jump:
			ended = true
		}
	}
}

func (c *checker) scoped(s syntax.Stmt) {
	c.push()
	if b, ok := s.(*syntax.Block); ok {
		c.statements(b.List)
	} else if s != nil {
		c.statement(s)
	}
	c.pop()
}

// densities says whether statements may add to the log density here.
func (c *checker) densities() bool {
	return c.block == syntax.Model || c.fn != nil && strings.HasSuffix(c.fn.Name, "_lp")
}

func (c *checker) statement(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.Declare:
		c.declaration(s)
	case *syntax.Assign:
		c.assign(s)
	case *syntax.Increase:
		t := c.expr(s.X)
		switch {
		case s.Jacobian && c.block != syntax.TransformedParameters && !(c.fn != nil && strings.HasSuffix(c.fn.Name, "_jacobian")):
			c.fail(s.At(), "The jacobian can be incremented in the transformed parameters block, and in functions with the suffix _jacobian, only.")
		case !s.Jacobian && !c.densities():
			c.fail(s.At(), "Target can only be accessed in the model block or in definitions of functions with the suffix _lp.")
		case t.Kind == typing.Tuple || t.Kind == typing.Void || t.Kind == typing.Func || t.Kind == typing.String || t.Kind.IsComplex():
			c.fail(s.At(), "A (container of) reals or ints needs to be supplied to increment target. Instead found type %s.", t)
		}
	case *syntax.Tilde:
		c.tilde(s)
	case *syntax.Do:
		c.call(s.Call, true)
	case *syntax.If:
		c.condition(s.Cond)
		c.scoped(s.Then)
		if s.Else != nil {
			c.scoped(s.Else)
		}
	case *syntax.While:
		c.integer(s.Cond, "Condition in while-loop")
		c.loops++
		c.scoped(s.Body)
		c.loops--
	case *syntax.For:
		c.integer(s.Lo, "Lower bound of for-loop")
		c.integer(s.Hi, "Upper bound of for-loop")
		c.each(s.Word, s.Name, &variable{typ: typing.Of(typing.Int), data: syntax.DataOnly(s.Lo) && syntax.DataOnly(s.Hi), origin: loop}, s.Body)
	case *syntax.Each:
		t := c.expr(s.Over)
		switch {
		case t.Dims > 0:
			t = t.Element()
		case t.Kind.Rank() > 0 && t.Kind.IsComplex():
			t = typing.Of(typing.Complex)
		case t.Kind.Rank() > 0:
			t = typing.Of(typing.Real)
		default:
			c.fail(s.Over.At(), "Foreach loop must be over array, vector, or matrix. Instead found expression of type %s.", t)
		}
		c.each(s.Word, s.Name, &variable{typ: t, data: syntax.DataOnly(s.Over), origin: loop}, s.Body)
	case *syntax.Jump:
		if c.loops == 0 {
			c.fail(s.At(), "%s statements may only be used in loops.", strings.ToUpper(s.Word[:1])+s.Word[1:])
		}
	case *syntax.Return:
		c.ret(s)
	case *syntax.Tell:
		for _, a := range s.Args {
			if t := c.expr(a); t.Kind == typing.Void || t.Kind == typing.Func {
				c.fail(a.At(), "A value was expected, and this is of type %s.", t)
			}
		}
	case *syntax.Block:
		c.scoped(s)
	case *syntax.Profile:
		c.scoped(s.Body)
	}
}

func (c *checker) each(at syntax.Span, name string, v *variable, body syntax.Stmt) {
	c.push()
	c.declare(at, name, v)
	c.loops++
	c.scoped(body)
	c.loops--
	c.pop()
}

func (c *checker) condition(x syntax.Expr) {
	if t := c.expr(x); !t.Is(typing.Int) && !t.Is(typing.Real) {
		c.fail(x.At(), "Condition in conditional must be of type int or real. Instead found type %s.", t)
	}
}

func (c *checker) integer(x syntax.Expr, what string) {
	if t := c.expr(x); !t.Is(typing.Int) {
		c.fail(x.At(), "%s must be of type int. Instead found type %s.", what, t)
	}
}

func (c *checker) ret(s *syntax.Return) {
	if c.fn == nil {
		c.fail(s.At(), "Expression return statements may only be used inside returning function definitions.")
	}
	if s.X == nil {
		if c.fn.Result.Kind != typing.Void {
			c.fail(s.At(), "Void return statements may only be used inside non-returning function definitions.")
		}
		return
	}
	t := c.expr(s.X)
	if !typing.Fits(c.fn.Result, t) {
		c.fail(s.X.At(), "Invalid return type. Function returns %s, but the value that is returned here is of type %s.", c.fn.Result, t)
	}
}

// declaration checks the sizes, the constraint and the value of a variable, and makes it known.
func (c *checker) declaration(s *syntax.Declare) {
	v := &variable{typ: s.Unsized, origin: local, block: c.block}
	top := c.fn == nil && len(c.scopes) == 1
	if top {
		v.origin = global
	}
	c.sized(s, s.Type, top)
	if s.Init != nil && top && (c.block == syntax.Data || c.block == syntax.Parameters) {
		c.fail(s.At(), "Variables of the %s block cannot be assigned to: %q gets its value from outside. Remove the value, or declare it in the transformed block.", syntax.BlockNames[c.block], s.Name)
	}
	v.data = c.block == syntax.Data || c.block == syntax.TransformedData
	if c.block == syntax.GeneratedQuantities || c.fn != nil || c.block == syntax.Model || c.block == syntax.TransformedParameters {
		v.data = s.Unsized.Kind == typing.Int && c.block != syntax.GeneratedQuantities
	}
	c.declare(s.Word, s.Name, v)
	if s.Init == nil {
		return
	}
	t := c.expr(s.Init)
	if !typing.Fits(v.typ, t) {
		c.mismatch(s.At(), v.typ, t)
	}
	c.uses(s.Init, s.Name)
}

// uses fails if a variable's first value depends on itself.
func (c *checker) uses(x syntax.Expr, name string) {
	if n, ok := x.(*syntax.Name); ok && n.Name == name {
		c.fail(x.At(), "Identifier %q not in scope: its value is what is declared here. Use another variable.", name)
	}
}

func (c *checker) mismatch(at syntax.Span, to, from typing.Type) {
	c.fail(at, "Ill-typed assignment statement.\nExpected the right hand side to have a type matching the destination (%s).\nInstead found type %s.", to, from)
}

func (c *checker) sized(d *syntax.Declare, s *syntax.Sized, top bool) {
	if c.block == syntax.Parameters && s.Kind == typing.Int {
		c.fail(d.At(), "Parameters cannot be integers. Declare a real one, or sum the density over the values with log_sum_exp in the model block.")
	}
	for _, e := range s.Elems {
		c.sized(d, e, top)
	}
	for _, x := range append(slices.Clone(s.Dims), s.Sizes...) {
		c.integer(x, "Size")
		if top && !syntax.DataOnly(x) && c.block != syntax.GeneratedQuantities {
			c.fail(x.At(), "Non-data variables are not allowed in top level size declarations.")
		}
	}
	for _, x := range []syntax.Expr{s.Lower, s.Upper, s.Offset, s.Multiplier} {
		if x == nil {
			continue
		}
		if !top {
			c.fail(d.At(), "Constraints are allowed on the variables of blocks only, and %q is a local one. Remove the constraint.", d.Name)
		}
		t := c.expr(x)
		want := typing.Type{Kind: s.Kind, Dims: len(s.Dims)}
		scalar := t.Is(typing.Int) || (t.Is(typing.Real) && s.Kind != typing.Int)
		if !scalar && !typing.Fits(want, t) && !typing.Fits(typing.Of(s.Kind), t) {
			c.fail(x.At(), "Ill-typed bound or transform: it must be a number, or of the type %s of the variable. Instead found type %s.", want, t)
		}
	}
	if s.Kind.IsComplex() && s.Constrained() {
		c.fail(d.At(), "Complex variables cannot be constrained. Remove the constraint, or declare real and imaginary part apart.")
	}
	if s.Constrained() && !top {
		c.fail(d.At(), "Constraints are allowed on the variables of blocks only, and %q is a local one. Remove the constraint.", d.Name)
	}
}

// root returns the variable of the left side of an assignment.
func root(x syntax.Expr) *syntax.Name {
	switch x := x.(type) {
	case *syntax.Name:
		return x
	case *syntax.Index:
		return root(x.X)
	case *syntax.Field:
		return root(x.X)
	}
	return nil
}

func (c *checker) assign(s *syntax.Assign) {
	if l, ok := s.To.(*syntax.List); ok && l.Bracket == '(' {
		c.unpack(s, l)
		return
	}
	c.assignable(s.To)
	to, from := c.expr(s.To), c.expr(s.From)
	if s.Op != "" {
		t, ok := c.binaryType(s.Op, to, from)
		if !ok || !typing.Fits(to, t) {
			c.fail(s.At(), "Ill-typed arguments supplied to assignment operator %s=: lhs has type %s and rhs has type %s.", s.Op, to, from)
		}
		return
	}
	if !typing.Fits(to, from) {
		c.mismatch(s.At(), to, from)
	}
}

// assignable fails if a variable cannot be assigned to here.
func (c *checker) assignable(to syntax.Expr) {
	n := root(to)
	if n == nil {
		c.fail(to.At(), "Ill-typed assignment statement: the left side is not a variable, or an element of one. Write a variable there.")
	}
	v := c.find(n.Name)
	switch {
	case v == nil:
		c.fail(n.At(), "Identifier %q not in scope.%s", n.Name, c.near(n.Name))
	case v.origin == loop:
		c.fail(n.At(), "Cannot assign to function argument or loop identifier %q. Copy it to a local variable.", n.Name)
	case c.fn != nil && slices.ContainsFunc(c.fn.Args, func(a syntax.Arg) bool { return a.Name == n.Name }):
		c.fail(n.At(), "Cannot assign to function argument or loop identifier %q. Copy it to a local variable.", n.Name)
	case v.origin == global && v.block != c.block:
		c.fail(n.At(), "Cannot assign to global variable %q declared previously in %s block. Use a variable that is declared in this block.", n.Name, syntax.BlockNames[v.block])
	case v.origin == global && (c.block == syntax.Data || c.block == syntax.Parameters):
		c.fail(n.At(), "Cannot assign to global variable %q declared previously in %s block. Use a variable that is declared in this block.", n.Name, syntax.BlockNames[v.block])
	}
}

func (c *checker) unpack(s *syntax.Assign, l *syntax.List) {
	t := c.expr(s.From)
	if s.Op != "" || t.Kind != typing.Tuple || t.Dims > 0 || len(t.Elems) != len(l.Items) {
		c.fail(s.At(), "Ill-typed assignment statement: %d variables need a tuple of as many values. Instead found type %s.", len(l.Items), t)
	}
	seen := map[string]bool{}
	for i, x := range l.Items {
		c.assignable(x)
		if n, whole := x.(*syntax.Name); whole {
			if seen[n.Name] {
				c.fail(s.At(), "The same value cannot be assigned to multiple times in one assignment: %s. Give each value of the tuple a variable of its own.", n.Name)
			}
			seen[n.Name] = true
		}
		if to := c.expr(x); !typing.Fits(to, t.Elems[i]) {
			c.mismatch(s.At(), to, t.Elems[i])
		}
	}
}

// tilde checks a distribution statement, and finds out whether its density is one of numbers or of integers.
func (c *checker) tilde(s *syntax.Tilde) {
	args := []typing.Type{c.expr(s.X)}
	for _, a := range s.Args {
		t := c.expr(a)
		t.Data = syntax.DataOnly(a)
		args = append(args, t)
	}
	if !c.densities() {
		c.fail(s.At(), "Target can only be accessed in the model block or in definitions of functions with the suffix _lp.")
	}
	for _, old := range []string{"_lpdf", "_lpmf", "_log"} {
		if strings.HasSuffix(s.Name, old) && !c.known(s.Name+"_lpdf") && !c.known(s.Name+"_lpmf") {
			c.fail(s.At(), "~ statement should refer to a distribution without its \"_lpdf\" or \"_lpmf\" suffix: write %q.", strings.TrimSuffix(s.Name, old))
		}
	}
	known := false
	for _, suffix := range []string{"_lpdf", "_lpmf"} {
		if result, ok := c.lib.Solver(s.Name + suffix); ok {
			if _, err := result(args); err != nil {
				c.fail(s.At(), "%v", err)
			}
			s.Suffix = suffix
			return
		}
	}
	for i := range args {
		args[i].Data = false
	}
	for _, suffix := range []string{"_lpdf", "_lpmf"} {
		if !c.known(s.Name + suffix) {
			continue
		}
		known = true
		if _, ok := c.resolve(s.At(), s.Name+suffix, args); ok {
			s.Suffix = suffix
			break
		}
	}
	if !known {
		c.fail(s.Word, "Ill-typed arguments to \"~\"-statement. No function \"%s_lpdf\" was found when looking for distribution \n\"%s\".%s", s.Name, s.Name, c.nearDensity(s.Name))
	}
	c.scales(s.Name, s.Args)
	if s.Suffix == "" {
		c.illTyped(s.At(), s.Name, s.Name+"_lpdf", args)
	}
	if !s.Truncated {
		return
	}
	for _, x := range []syntax.Expr{s.Lower, s.Upper} {
		if x == nil {
			continue
		}
		if t := c.expr(x); !t.Is(typing.Int) && !t.Is(typing.Real) {
			c.fail(x.At(), "Truncation bound must be of type int or real. Instead found type %s.", t)
		}
	}
	for _, suffix := range []string{"_lcdf", "_lccdf"} {
		if !c.known(s.Name + suffix) {
			c.fail(s.At(), "Truncation is only defined if distribution has _lcdf and _lccdf functions implemented with appropriate signature: %q has no %s. Use another distribution, or write the truncation with target += and the functions that exist.", s.Name, suffix)
		}
	}
}

func (c *checker) nearDensity(name string) string {
	var names []string
	for _, n := range c.lib.Names() {
		if d, ok := strings.CutSuffix(n, "_lpdf"); ok {
			names = append(names, d)
		} else if d, ok := strings.CutSuffix(n, "_lpmf"); ok {
			names = append(names, d)
		}
	}
	if to := instead(name); to != "" {
		return to
	}
	if n := spelling.Meant(name, names); n != "" {
		return fmt.Sprintf(" Did you mean %q?", n)
	}
	return ""
}
