// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"math"
	"slices"
	"strconv"

	"github.com/euryale-dev/euryale/models/stan/internal/library"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// number compiles an expression whose value is a number.
func (c *plainCompiler) number(x syntax.Expr) number {
	if !single(x.Type()) {
		c.stop()
	}
	switch x := x.(type) {
	case *syntax.Number:
		v, err := strconv.ParseFloat(x.Text, 64)
		if err != nil {
			c.stop()
		}
		return func(*frame) float64 { return v }
	case *syntax.Name:
		at := c.find(x.Name, x.Type()).at
		return func(f *frame) float64 { return f.numbers[at] }
	case *syntax.Unary:
		v := c.number(x.X)
		switch x.Op {
		case "-":
			return func(f *frame) float64 { return -v(f) }
		case "!":
			return func(f *frame) float64 { return truth(v(f) == 0) }
		case "+":
			return v
		}
	case *syntax.Binary:
		return c.binary(x)
	case *syntax.Choice:
		cond, a, b := c.number(x.Cond), c.number(x.X), c.number(x.Y)
		return func(f *frame) float64 {
			if cond(f) != 0 {
				return a(f)
			}
			return b(f)
		}
	case *syntax.Index:
		return c.element(x)
	case *syntax.Call:
		if f := c.native(x); f != nil {
			return f
		}
		if f := c.reduced(x); f != nil {
			return f
		}
		if f := c.drawn(x); f != nil {
			return f
		}
		call := c.call(x)
		return func(f *frame) float64 { return call(f).f[0] }
	}
	c.stop()
	return nil
}

func (c *plainCompiler) binary(x *syntax.Binary) number {
	if !single(x.X.Type()) || !single(x.Y.Type()) { // as a product of vectors
		b := c.operator(x)
		return func(f *frame) float64 { return b(f).f[0] }
	}
	a, b := c.number(x.X), c.number(x.Y)
	switch x.Op {
	case "&&":
		return func(f *frame) float64 { return truth(a(f) != 0 && b(f) != 0) }
	case "||":
		return func(f *frame) float64 { return truth(a(f) != 0 || b(f) != 0) }
	case "==":
		return func(f *frame) float64 { return truth(a(f) == b(f)) }
	case "!=":
		return func(f *frame) float64 { return truth(a(f) != b(f)) }
	case "<":
		return func(f *frame) float64 { return truth(a(f) < b(f)) }
	case "<=":
		return func(f *frame) float64 { return truth(a(f) <= b(f)) }
	case ">":
		return func(f *frame) float64 { return truth(a(f) > b(f)) }
	case ">=":
		return func(f *frame) float64 { return truth(a(f) >= b(f)) }
	}
	op := scalarOperator(x.Op, x.X.Type(), x.Y.Type())
	if op == nil {
		c.stop()
	}
	return func(f *frame) float64 { return op(a(f), b(f)) }
}

// chain takes x[i][j] apart: the container, and all indices.
func (c *plainCompiler) chain(x *syntax.Index) (syntax.Expr, []number) {
	index := c.places(x.List)
	if in, ok := x.X.(*syntax.Index); ok {
		base, first := c.chain(in)
		return base, append(first, index...)
	}
	return x.X, index
}

func (c *plainCompiler) element(x *syntax.Index) number {
	base, index := c.chain(x)
	if name, ok := base.(*syntax.Name); ok {
		at := c.find(name.Name, name.Type()).at
		return func(f *frame) float64 {
			b := f.blocks[at]
			return b.f[b.place(f, index)]
		}
	}
	of := c.block(base)
	return func(f *frame) float64 {
		b := of(f)
		return b.f[b.place(f, index)]
	}
}

// block compiles an expression whose value is a container. The numbers of what it returns may be those of a variable.
func (c *plainCompiler) block(x syntax.Expr) blocky {
	if t := x.Type(); !simple(t) || single(t) {
		c.stop()
	}
	switch x := x.(type) {
	case *syntax.Name:
		at := c.find(x.Name, x.Type()).at
		return func(f *frame) block { return f.blocks[at] }
	case *syntax.Index:
		base, index := c.chain(x)
		of := c.block(base)
		return func(f *frame) block { return of(f).part(f, index) }
	case *syntax.Call:
		return c.call(x)
	case *syntax.Binary:
		return c.operator(x)
	case *syntax.Unary:
		v, t, from := c.block(x.X), x.Type(), x.X.Type()
		op := x.Op
		return func(f *frame) block {
			b := v(f)
			in := value.Known(from, b.f, b.shape...)
			out, err := library.Prefix(op, in, t)
			if op == "'" {
				out, err = library.Transpose(in, t)
			}
			if err != nil || out.F == nil && out.Size() > 0 {
				fail()
			}
			return block{out.F, out.Shape}
		}
	case *syntax.List:
		return c.literal(x)
	case *syntax.Choice:
		cond, a, b := c.number(x.Cond), c.block(x.X), c.block(x.Y)
		return func(f *frame) block {
			if cond(f) != 0 {
				return a(f)
			}
			return b(f)
		}
	}
	c.stop()
	return nil
}

// literal is {x, y} or [x, y].
func (c *plainCompiler) literal(x *syntax.List) blocky {
	if x.Bracket == '(' || len(x.Items) == 0 {
		c.stop()
	}
	var items []plainArgument
	for _, i := range x.Items {
		items = append(items, c.argument(i))
	}
	return func(f *frame) block {
		out := block{shape: []int{len(items)}}
		for i, a := range items {
			v := a.value(f)
			out.f = append(out.f, v.F...)
			if i == 0 {
				out.shape = append(out.shape, v.Shape...)
			} else if !slices.Equal(out.shape[1:], v.Shape) {
				fail()
			}
		}
		return out
	}
}

// operator is one of which a side is a container.
func (c *plainCompiler) operator(x *syntax.Binary) blocky {
	a, b, t, op := c.argument(x.X), c.argument(x.Y), x.Type(), x.Op
	each := map[string]string{"+": "+", "-": "-", ".*": "*", "./": "/"}[op]
	if op == "*" && (a.scalar || b.scalar) || op == "/" && b.scalar {
		each = op
	}
	do := scalarOperator(each, typing.Of(typing.Real), typing.Of(typing.Real))
	if do == nil {
		return func(f *frame) block {
			v, err := library.Operator(op, a.value(f), b.value(f), t)
			if err != nil || v.F == nil && v.Size() > 0 {
				fail()
			}
			return block{v.F, v.Shape}
		}
	}
	switch {
	case a.scalar:
		return func(f *frame) block {
			u, v := a.number(f), b.block(f)
			out := block{make([]float64, len(v.f)), v.shape}
			for i, y := range v.f {
				out.f[i] = do(u, y)
			}
			return out
		}
	case b.scalar:
		return func(f *frame) block {
			u, v := a.block(f), b.number(f)
			out := block{make([]float64, len(u.f)), u.shape}
			for i, x := range u.f {
				out.f[i] = do(x, v)
			}
			return out
		}
	}
	return func(f *frame) block {
		u, v := a.block(f), b.block(f)
		if !slices.Equal(u.shape, v.shape) {
			fail()
		}
		out := block{make([]float64, len(u.f)), u.shape}
		for i, x := range u.f {
			out.f[i] = do(x, v.f[i])
		}
		return out
	}
}

// natives are functions of numbers without a mistake to tell, or NaN for one.
var natives = map[string]any{
	"log": math.Log, "exp": math.Exp, "sqrt": math.Sqrt, "fabs": math.Abs, "abs": math.Abs, "log1p": math.Log1p, "expm1": math.Expm1,
	"square": func(x float64) float64 { return x * x }, "floor": math.Floor, "ceil": math.Ceil, "sin": math.Sin, "cos": math.Cos, "tanh": math.Tanh,
	"fmax": math.Max, "fmin": math.Min, "pow": math.Pow,
	"inv_logit":         func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
	"negative_infinity": func() float64 { return math.Inf(-1) },
	"positive_infinity": func() float64 { return math.Inf(1) },
	"pi":                func() float64 { return math.Pi },
	"normal_lpdf": func(y, mu, sigma float64) float64 {
		z := (y - mu) / sigma
		return -0.5*z*z - math.Log(sigma) - 0.5*math.Log(2*math.Pi)
	},
}

// native calls a function that Go has; nil if there is none, or one of the program has its name. NaN is left to the Machine, which says
// what is wrong.
func (c *plainCompiler) native(x *syntax.Call) number {
	g := natives[x.Name]
	if g == nil || len(c.funcs[x.Name]) > 0 || x.Type().Kind != typing.Real {
		return nil
	}
	var args []number
	for _, a := range x.Args {
		if !single(a.Type()) {
			return nil
		}
		args = append(args, c.number(a))
	}
	sound := func(v float64) float64 {
		if math.IsNaN(v) {
			fail()
		}
		return v
	}
	switch g := g.(type) {
	case func() float64:
		v := g()
		return func(*frame) float64 { return v }
	case func(x float64) float64:
		if len(args) == 1 {
			return func(f *frame) float64 { return sound(g(args[0](f))) }
		}
	case func(x, y float64) float64:
		if len(args) == 2 {
			return func(f *frame) float64 { return sound(g(args[0](f), args[1](f))) }
		}
	case func(x, y, z float64) float64:
		if len(args) == 3 {
			return func(f *frame) float64 { return sound(g(args[0](f), args[1](f), args[2](f))) }
		}
	}
	return nil
}

// reductions are functions of all numbers of a container.
var reductions = map[string]func(f []float64) float64{
	"max": slices.Max[[]float64], "min": slices.Min[[]float64],
	"sum": func(f []float64) float64 {
		s := 0.0
		for _, x := range f {
			s += x
		}
		return s
	},
	"log_sum_exp": func(f []float64) float64 {
		m, s := slices.Max(f), 0.0
		if math.IsInf(m, 0) {
			return m
		}
		for _, x := range f {
			s += math.Exp(x - m)
		}
		return m + math.Log(s)
	},
}

// reduced calls a function of all numbers of a container; nil if it is none.
func (c *plainCompiler) reduced(x *syntax.Call) number {
	g := reductions[x.Name]
	if g == nil || len(x.Args) != 1 || single(x.Args[0].Type()) || len(c.funcs[x.Name]) > 0 {
		return nil
	}
	of := c.block(x.Args[0])
	return func(f *frame) float64 {
		b := of(f)
		if len(b.f) == 0 || slices.ContainsFunc(b.f, math.IsNaN) {
			fail()
		}
		return g(b.f)
	}
}

// drawn draws a random number of a distribution that programs draw from most; nil for others.
func (c *plainCompiler) drawn(x *syntax.Call) number {
	switch {
	case len(c.funcs[x.Name]) > 0:
		return nil
	case x.Name == "normal_rng" && single(x.Type()):
		mu, sigma := c.number(x.Args[0]), c.number(x.Args[1])
		return func(f *frame) float64 {
			m, s := mu(f), sigma(f)
			if !(s > 0) || math.IsInf(s, 0) || math.IsNaN(m) || math.IsInf(m, 0) {
				fail()
			}
			return m + s*f.shared.m.Random.Normal()
		}
	case x.Name == "categorical_rng":
		of := c.block(x.Args[0])
		return func(f *frame) float64 {
			p, sum := of(f).f, 0.0
			for _, v := range p {
				if sum += v; !(v >= 0) {
					fail()
				}
			}
			if !(math.Abs(sum-1) <= 1e-8) {
				fail()
			}
			left := f.shared.m.Random.Float64()
			for i, v := range p[:len(p)-1] {
				if left -= v; left < 0 {
					return float64(i + 1)
				}
			}
			return float64(len(p))
		}
	}
	return nil
}
