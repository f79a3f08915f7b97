// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
)

// expr finds the type of an expression.
func (c *checker) expr(x syntax.Expr) typing.Type {
	t, data := c.typeOf(x)
	t.Data = false
	syntax.SetType(x, t, data)
	return t
}

func (c *checker) typeOf(x syntax.Expr) (t typing.Type, data bool) {
	switch x := x.(type) {
	case *syntax.Number:
		switch {
		case x.Imaginary:
			return typing.Of(typing.Complex), true
		case !x.Integer:
			return typing.Of(typing.Real), true
		}
		if v, err := strconv.ParseInt(x.Text, 10, 64); err != nil || v > math.MaxInt32 {
			c.fail(x.At(), "Integer literal cannot be larger than 2_147_483_647. Write it as a real number, with a decimal point.")
		}
		return typing.Of(typing.Int), true
	case *syntax.Text:
		return typing.Of(typing.String), true
	case *syntax.Name:
		if v := c.find(x.Name); v != nil {
			return v.typ, v.data
		}
		if list := c.funcs[x.Name]; len(list) > 0 {
			return typing.Type{Kind: typing.Func, Fn: signature(list[0])}, true
		}
		c.fail(x.At(), "Identifier %q not in scope.%s", x.Name, c.elsewhere(x.Name))
	case *syntax.Target:
		if !c.densities() {
			c.fail(x.At(), "Target can only be accessed in the model block or in definitions of functions with the suffix _lp.")
		}
		return typing.Of(typing.Real), false
	case *syntax.Unary:
		return c.unary(x)
	case *syntax.Binary:
		a, b := c.expr(x.X), c.expr(x.Y)
		data = syntax.DataOnly(x.X) && syntax.DataOnly(x.Y)
		t, ok := c.binaryType(x.Op, a, b)
		if !ok {
			c.operatorMismatch(x, a, b)
		}
		if (x.Op == "/" || x.Op == "%/%") && t.Is(typing.Int) && x.Op == "/" {
			c.note(x.At(), "Found int division: values will be rounded towards zero. If rounding is intended, use the integer division operator %%/%%.")
		}
		return t, data
	case *syntax.Choice:
		c.condition(x.Cond)
		a, b := c.expr(x.X), c.expr(x.Y)
		t, ok := typing.Common(a, b)
		if !ok {
			c.fail(x.At(), "Type mismatch in ternary expression, expression when true is: %s; expression when false is: %s. Give both the same type.", a, b)
		}
		return t, syntax.DataOnly(x.Cond) && syntax.DataOnly(x.X) && syntax.DataOnly(x.Y)
	case *syntax.Call:
		return c.call(x, false)
	case *syntax.Index:
		return c.index(x)
	case *syntax.Field:
		t := c.expr(x.X)
		if t.Kind != typing.Tuple || t.Dims > 0 {
			c.fail(x.At(), "Expected expression of tuple type, and this is of type %s.", t)
		}
		if x.N < 1 || x.N > len(t.Elems) {
			c.fail(x.At(), "Tried to access slot %d of a tuple with only %d slots.", x.N, len(t.Elems))
		}
		return t.Elems[x.N-1], syntax.DataOnly(x.X)
	case *syntax.List:
		return c.list(x)
	}
	panic("check: no such expression")
}

func signature(f *syntax.Function) *typing.Signature {
	s := &typing.Signature{Name: f.Name, Result: f.Result}
	for _, a := range f.Args {
		s.Args = append(s.Args, a.Type)
	}
	return s
}

func (c *checker) unary(x *syntax.Unary) (typing.Type, bool) {
	t, data := c.expr(x.X), false
	data = syntax.DataOnly(x.X)
	switch x.Op {
	case "'":
		if t.Dims == 0 {
			switch t.Kind {
			case typing.Vector, typing.ComplexVector:
				return typing.Of(t.Kind + 1), data
			case typing.RowVector, typing.ComplexRowVector:
				return typing.Of(t.Kind - 1), data
			case typing.Matrix, typing.ComplexMatrix:
				return t, data
			}
		}
	case "!":
		if t.Is(typing.Int) {
			return typing.Of(typing.Int), data
		}
	default:
		if t.Kind >= typing.Int && t.Kind <= typing.ComplexMatrix {
			return t, data
		}
	}
	what := map[string]string{"'": "postfix operator '"}[x.Op]
	if what == "" {
		what = "prefix operator " + x.Op
	}
	c.fail(x.At(), "Ill-typed arguments supplied to %s. Instead supplied argument of incompatible type: %s.", what, t)
	return t, data
}

// binaryType returns the type of a op b.
func (c *checker) binaryType(op string, a, b typing.Type) (t typing.Type, ok bool) {
	switch op {
	case "&&", "||":
		return typing.Of(typing.Int), a.Is(typing.Int) && b.Is(typing.Int)
	case "==", "!=":
		return typing.Of(typing.Int), a.Scalar() && b.Scalar()
	case "<", "<=", ">", ">=":
		return typing.Of(typing.Int), logical(a) && logical(b)
	case "%", "%/%":
		return typing.Of(typing.Int), a.Is(typing.Int) && b.Is(typing.Int)
	case "^", ".^":
		return power(op, a, b)
	}
	if a.Dims > 0 || b.Dims > 0 || a.Kind < typing.Int || b.Kind < typing.Int || a.Kind > typing.ComplexMatrix || b.Kind > typing.ComplexMatrix {
		return t, false
	}
	k, ok := arithmetic(op, a.Kind.Realed(), b.Kind.Realed())
	if ok && (a.Kind.IsComplex() || b.Kind.IsComplex()) {
		k = k.Complexed()
	}
	return typing.Of(k), ok
}

func logical(t typing.Type) bool { return t.Is(typing.Int) || t.Is(typing.Real) }

// power returns the type of a ^ b, which is elementwise for containers.
func power(op string, a, b typing.Type) (typing.Type, bool) {
	if a.Scalar() && b.Scalar() {
		if a.Kind == typing.Complex || b.Kind == typing.Complex {
			return typing.Of(typing.Complex), true
		}
		return typing.Of(typing.Real), true
	}
	if a.Kind < typing.Int || a.Kind > typing.Matrix || b.Kind < typing.Int || b.Kind > typing.Matrix {
		return a, false
	}
	real := func(t typing.Type) typing.Type {
		if t.Kind == typing.Int {
			t.Kind = typing.Real
		}
		return t
	}
	a, b = real(a), real(b)
	switch {
	case typing.Equal(a, b):
		return a, true
	case a.Scalar():
		return b, true
	case b.Scalar():
		return a, true
	}
	return a, false
}

// arithmetic returns the kind of a op b of real numbers, vectors and matrices.
func arithmetic(op string, a, b typing.Kind) (typing.Kind, bool) {
	scalar := func(k typing.Kind) bool { return k == typing.Int || k == typing.Real }
	number := func() typing.Kind {
		if a == typing.Int && b == typing.Int {
			return typing.Int
		}
		return typing.Real
	}
	switch op {
	case "+", "-", ".*", "./":
		switch {
		case scalar(a) && scalar(b):
			return number(), true
		case scalar(a):
			return b, op != ".*"
		case scalar(b):
			return a, op != ".*"
		}
		return a, a == b
	case "*":
		switch {
		case scalar(a) && scalar(b):
			return number(), true
		case scalar(a):
			return b, true
		case scalar(b):
			return a, true
		case a == typing.RowVector && b == typing.Vector:
			return typing.Real, true
		case a == typing.Vector && b == typing.RowVector:
			return typing.Matrix, true
		case a == typing.Matrix && b == typing.Vector:
			return typing.Vector, true
		case a == typing.RowVector && b == typing.Matrix:
			return typing.RowVector, true
		case a == typing.Matrix && b == typing.Matrix:
			return typing.Matrix, true
		}
	case "/":
		switch {
		case scalar(a) && scalar(b):
			return number(), true
		case scalar(b):
			return a, true
		case (a == typing.RowVector || a == typing.Matrix) && b == typing.Matrix:
			return a, true
		}
	case "\\":
		if a == typing.Matrix && (b == typing.Vector || b == typing.Matrix) {
			return b, true
		}
	}
	return 0, false
}

// operatorMismatch lists what an operator takes.
func (c *checker) operatorMismatch(x *syntax.Binary, a, b typing.Type) {
	var lines []string
	for _, complex := range []bool{false, true} {
		for k := typing.Int; k <= typing.Matrix; k++ {
			for l := typing.Int; l <= typing.Matrix; l++ {
				if k == typing.Complex || l == typing.Complex || complex && (k == typing.Int || l == typing.Int) || !complex && (k == typing.Int) != (l == typing.Int) {
					continue
				}
				p, q := typing.Of(k), typing.Of(l)
				if complex {
					p, q = typing.Of(k.Complexed()), typing.Of(l.Complexed())
				}
				if t, ok := c.binaryType(x.Op, p, q); ok {
					lines = append(lines, typing.Signature{Args: []typing.Type{p, q}, Result: t}.String())
				}
			}
		}
	}
	hint := ""
	if x.Op == "*" && a.Is(b.Kind) && (a.Is(typing.Vector) || a.Is(typing.RowVector)) {
		hint = " For the product of elements write .*, for the scalar product dot_product."
	}
	c.fail(x.At(), "Ill-typed arguments supplied to infix operator %s. Available signatures: \n%s\nInstead supplied arguments of incompatible type: %s, %s.%s", x.Op, strings.Join(lines, "\n"), a, b, hint)
}

func (c *checker) index(x *syntax.Index) (typing.Type, bool) {
	t := c.expr(x.X)
	data := syntax.DataOnly(x.X)
	kept := 0 // array dimensions that remain
	rank := t.Rank()
	if t.Kind < typing.Int {
		c.fail(x.At(), "Only containers can be indexed. Instead found type %s.", t)
	}
	if len(x.List) > rank {
		c.fail(x.At(), "Too many indexes, expression dimensions=%d, indexes found=%d. Remove the last ones.", rank, len(x.List))
	}
	single := make([]bool, rank) // dimensions that a single index takes away
	for i := range x.List {
		p := &x.List[i]
		if p.Single == nil {
			for _, e := range []syntax.Expr{p.Lo, p.Hi} {
				if e != nil {
					c.integer(e, "Index")
					data = data && syntax.DataOnly(e)
				}
			}
			continue
		}
		s := c.expr(p.Single)
		data = data && syntax.DataOnly(p.Single)
		switch {
		case s.Is(typing.Int):
			single[i] = true
		case s.Kind == typing.Int && s.Dims == 1:
		default:
			c.fail(p.Single.At(), "Index must be of type int or int[] or must be a range. Instead found type %s.", s)
		}
	}
	for i := range t.Dims {
		if !single[i] {
			kept++
		}
	}
	out := typing.Type{Kind: t.Kind, Dims: kept, Elems: t.Elems}
	own := single[t.Dims:]
	switch {
	case t.Kind.Rank() == 1 && own[0]:
		out.Kind = scalarOf(t.Kind)
	case t.Kind.Rank() == 2 && own[0] && own[1]:
		out.Kind = scalarOf(t.Kind)
	case t.Kind == typing.Matrix && own[0]:
		out.Kind = typing.RowVector
	case t.Kind == typing.Matrix && own[1]:
		out.Kind = typing.Vector
	case t.Kind == typing.ComplexMatrix && own[0]:
		out.Kind = typing.ComplexRowVector
	case t.Kind == typing.ComplexMatrix && own[1]:
		out.Kind = typing.ComplexVector
	}
	return out, data
}

func scalarOf(k typing.Kind) typing.Kind {
	if k.IsComplex() {
		return typing.Complex
	}
	return typing.Real
}

func (c *checker) list(x *syntax.List) (typing.Type, bool) {
	data := true
	var items []typing.Type
	for _, e := range x.Items {
		items = append(items, c.expr(e))
		data = data && syntax.DataOnly(e)
	}
	if x.Bracket == '(' {
		return typing.Type{Kind: typing.Tuple, Elems: items}, data
	}
	if len(items) == 0 {
		if x.Bracket == '[' {
			return typing.Of(typing.RowVector), true
		}
		c.fail(x.At(), "Array expressions must contain at least one element.")
	}
	t := items[0]
	for i, u := range items[1:] {
		both, ok := typing.Common(t, u)
		if !ok {
			c.fail(x.Items[i+1].At(), "Array expression must have entries of consistent type. Expected %s but found %s.", t, u)
		}
		t = both
	}
	if x.Bracket == '{' {
		if t.Kind == typing.Void || t.Kind == typing.Func || t.Kind == typing.String {
			c.fail(x.At(), "Arrays cannot hold values of type %s.", t)
		}
		return t.Array(1), data
	}
	switch {
	case t.Is(typing.Int), t.Is(typing.Real):
		return typing.Of(typing.RowVector), data
	case t.Is(typing.Complex):
		return typing.Of(typing.ComplexRowVector), data
	case t.Is(typing.RowVector):
		return typing.Of(typing.Matrix), data
	case t.Is(typing.ComplexRowVector):
		return typing.Of(typing.ComplexMatrix), data
	}
	c.fail(x.At(), "Row_vector expression must have all int or real entries, or rows of a matrix. Found type %s.", t)
	return t, data
}

// known says whether there is a function of a name.
func (c *checker) known(name string) bool {
	return len(c.funcs[name]) > 0 || len(c.lib.Overloads(name)) > 0 || isSolver(c.lib, name)
}

// resolve returns the type of the result of a call.
func (c *checker) resolve(at syntax.Span, name string, args []typing.Type) (typing.Type, bool) {
	if f, also := userFunction(c.funcs[name], args); f != nil {
		if also != nil {
			c.fail(at, "No unique minimum promotion found for function %q: the definitions on lines %d and %d take these arguments equally well. Define one for the exact types, or give the functions different names.", name, c.src.Line(f.At), c.src.Line(also.At))
		}
		return f.Result, true
	}
	best, least, out := -1, 0, typing.Type{}
	for i, o := range c.lib.Overloads(name) {
		if _, r, steps, ok := o.Match(args); ok && (best < 0 || steps < least) {
			best, least, out = i, steps, r
		}
	}
	return out, best >= 0
}

// UserFunction returns the function among those of one name that takes arguments of some types with the fewest promotions, or nil.
func UserFunction(list []*syntax.Function, args []typing.Type) *syntax.Function {
	best, _ := userFunction(list, args)
	return best
}

// userFunction also returns another function that takes as few promotions, or nil.
func userFunction(list []*syntax.Function, args []typing.Type) (best, also *syntax.Function) {
	least := 0
	for _, f := range list {
		if len(f.Args) != len(args) {
			continue
		}
		steps, ok := 0, true
		for i, a := range args {
			n, fits := typing.Promotions(f.Args[i].Type, a)
			steps, ok = steps+n, ok && fits
		}
		switch {
		case ok && (best == nil || steps < least):
			best, also, least = f, nil, steps
		case ok && steps == least && !sameArguments(best, f):
			also = f
		}
	}
	return best, also
}

// sameArguments says whether two functions are one, declared and defined.
func sameArguments(f, g *syntax.Function) bool {
	return slices.EqualFunc(f.Args, g.Args, func(a, b syntax.Arg) bool { return typing.Equal(a.Type, b.Type) })
}

// Density turns the name of an unnormalised density into that of the density.
func Density(name string) string {
	if s, ok := strings.CutSuffix(name, "_lupdf"); ok {
		return s + "_lpdf"
	}
	if s, ok := strings.CutSuffix(name, "_lupmf"); ok {
		return s + "_lpmf"
	}
	return name
}

func (c *checker) call(x *syntax.Call, statement bool) (typing.Type, bool) {
	name := Density(x.Name)
	if name != x.Name && !c.densities() && !(c.fn != nil && (strings.HasSuffix(c.fn.Name, "_lpdf") || strings.HasSuffix(c.fn.Name, "_lpmf"))) {
		c.fail(x.At(), "Functions with names ending in _lupdf and _lupmf can only be used in the model block or user-defined functions with names ending in _lpdf, _lpmf or _lp.")
	}
	if v := c.find(x.Name); v != nil && !c.known(name) {
		c.fail(x.Word, "A returning function was expected but a non-function value %q was supplied.", x.Name)
	}
	if !c.known(name) {
		c.unknown(x, name, statement)
	}
	if strings.HasSuffix(name, "_rng") && c.block != syntax.TransformedData && c.block != syntax.GeneratedQuantities && !(c.fn != nil && strings.HasSuffix(c.fn.Name, "_rng")) {
		c.fail(x.At(), "Random number generators are only allowed in transformed data block,\ngenerated quantities block or user-defined functions with names ending in\n_rng.")
	}
	if strings.HasSuffix(name, "_lp") && len(c.funcs[name]) > 0 && !c.densities() && c.block != syntax.TransformedParameters {
		c.fail(x.At(), "Target can only be accessed in the model block or in definitions of functions with the suffix _lp.")
	}
	if strings.HasSuffix(name, "_jacobian") && c.block != syntax.TransformedParameters && !(c.fn != nil && strings.HasSuffix(c.fn.Name, "_jacobian")) {
		c.fail(x.At(), "Functions with names ending in _jacobian add to the log density, and can only be used in the transformed parameters block and in functions with that suffix.")
	}
	var args []typing.Type
	data := !strings.HasSuffix(name, "_lp") && !strings.HasSuffix(name, "_jacobian")
	for _, a := range x.Args {
		t := c.expr(a)
		t.Data = syntax.DataOnly(a)
		args = append(args, t)
		data = data && syntax.DataOnly(a)
	}
	if result, ok := c.lib.Solver(name); ok {
		t, err := result(args)
		if err != nil {
			c.fail(x.At(), "%v", err)
		}
		return t, data
	}
	bare := slices.Clone(args)
	for i := range bare {
		bare[i].Data = false
	}
	t, ok := c.resolve(x.At(), name, bare)
	if !ok {
		c.illTyped(x.At(), x.Name, name, bare)
	}
	if f := UserFunction(c.funcs[name], bare); f != nil {
		for i, a := range f.Args {
			if a.Type.Data && !syntax.DataOnly(x.Args[i]) {
				c.fail(x.Args[i].At(), "The argument %q of %s must be data only, and this expression depends on parameters. Pass data, or remove the word data from the declaration of the argument.", a.Name, f.Name)
			}
		}
	}
	if base, ok := strings.CutSuffix(strings.TrimSuffix(name, "_lpmf"), "_lpdf"); (ok || strings.HasSuffix(name, "_lpmf")) && len(x.Args) > 0 {
		c.scales(base, x.Args[1:])
	}
	switch {
	case statement && t.Kind != typing.Void:
		c.fail(x.At(), "A non-returning function was expected but a returning function %q was supplied.", x.Name)
	case !statement && t.Kind == typing.Void:
		c.fail(x.At(), "A returning function was expected but a non-returning function %q was supplied.", x.Name)
	}
	return t, data
}

// renamed are functions of old programs, and what took their place.
var renamed = map[string]string{"multiply_log": "lmultiply", "binomial_coefficient_log": "lchoose", "cov_exp_quad": "gp_exp_quad_cov", "fabs": "abs",
	"increment_log_prob": "target +=", "get_lp": "target()", "if_else": "? :", "normal_log": "normal_lpdf", "is_nan": "is_nan"}

func (c *checker) unknown(x *syntax.Call, name string, statement bool) {
	what := "returning"
	if statement {
		what = "non-returning"
	}
	hint := ""
	if to, ok := renamed[name]; ok {
		hint = fmt.Sprintf(" Write %s, which took its place.", to)
	} else if base, ok := strings.CutSuffix(name, "_log"); ok && (c.known(base+"_lpdf") || c.known(base+"_lpmf")) {
		hint = fmt.Sprintf(" Write %s_lpdf or %s_lpmf, which took its place.", base, base)
	} else if c.known(name+"_lpdf") || c.known(name+"_lpmf") {
		hint = fmt.Sprintf(" It is a distribution: write \"x ~ %s(...)\", or %s_lpdf or %s_lpmf.", name, name, name)
	} else if hint = instead(name); hint == "" {
		hint = c.near(name, c.lib.Names()...)
	}
	c.fail(x.Word, "A %s function was expected but an undeclared identifier %q was supplied.%s", what, x.Name, hint)
}

// illTyped lists signatures of a function, and why each does not fit.
func (c *checker) illTyped(at syntax.Span, shown, name string, args []typing.Type) {
	var b strings.Builder
	fmt.Fprintf(&b, "Ill-typed arguments supplied to function %q:\n%s\nAvailable signatures:", shown, typing.List(args))
	var all []typing.Signature
	for _, f := range c.funcs[name] {
		all = append(all, *signature(f))
	}
	names := []string{name}
	if n := strings.Replace(name, "_lpdf", "_lpmf", 1); n != name {
		names = append(names, n)
	}
	for _, n := range names {
		for _, o := range c.lib.Overloads(n) {
			all = append(all, o.Examples(6)...)
		}
	}
	for i, s := range all {
		if i == 5 {
			b.WriteString("\n(Additional signatures omitted)")
			break
		}
		fmt.Fprintf(&b, "\n%s\n  %s", s, whyNot(s.Args, args))
	}
	c.fail(at, "%s", b.String())
}

var ordinals = []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"}

func whyNot(want, have []typing.Type) string {
	if len(want) != len(have) {
		return fmt.Sprintf("Expected %d arguments but found %d arguments.", len(want), len(have))
	}
	for i := range want {
		if !typing.Fits(want[i], have[i]) {
			place := fmt.Sprintf("%d-th", i+1)
			if i < len(ordinals) {
				place = ordinals[i]
			}
			return fmt.Sprintf("The %s argument must be %s but got %s", place, want[i], have[i])
		}
	}
	return "These types do not go together."
}
