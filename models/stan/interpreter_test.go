// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
)

// interpreter runs programs statement by statement on plain numbers: a second implementation of a part of the language, which shares
// nothing with the first but the syntax tree. Mistakes panic.
type interpreter struct {
	prog   *syntax.Program
	scopes []map[string]*cell
	target float64
	steps  int
}

// cell is a variable: numbers in row-major order.
type cell struct {
	f     []float64
	shape []int
}

func one(x float64) *cell { return &cell{f: []float64{x}} }

func (c *cell) clone() *cell { return &cell{slices.Clone(c.f), slices.Clone(c.shape)} }

// leave is how statements end: "", break, continue or return.
type leave struct {
	word string
	v    *cell
}

// density is the log density at values of the parameters, with all constants.
func (in *interpreter) density(params map[string]*cell) float64 {
	in.scopes, in.target, in.steps = []map[string]*cell{{}}, 0, 0
	in.block(syntax.TransformedData)
	for name, v := range params {
		in.scopes[0][name] = v
	}
	in.block(syntax.TransformedParameters)
	in.block(syntax.Model)
	return in.target
}

func (in *interpreter) block(i int) {
	if b := in.prog.Blocks[i]; b != nil {
		in.list(b.List)
	}
}

func (in *interpreter) find(name string) *cell {
	for i := len(in.scopes) - 1; i >= 0; i-- {
		if c := in.scopes[i][name]; c != nil {
			return c
		}
	}
	panic("no variable " + name)
}

func (in *interpreter) list(list []syntax.Stmt) leave {
	for _, s := range list {
		if l := in.run(s); l.word != "" {
			return l
		}
	}
	return leave{}
}

func (in *interpreter) scoped(s syntax.Stmt) leave {
	in.scopes = append(in.scopes, map[string]*cell{})
	defer func() { in.scopes = in.scopes[:len(in.scopes)-1] }()
	if b, ok := s.(*syntax.Block); ok {
		return in.list(b.List)
	}
	return in.run(s)
}

func (in *interpreter) run(s syntax.Stmt) leave {
	if in.steps++; in.steps > 1e6 {
		panic("too many statements")
	}
	switch s := s.(type) {
	case *syntax.Declare:
		c := &cell{}
		for _, d := range append(slices.Clone(s.Type.Dims), s.Type.Sizes...) {
			c.shape = append(c.shape, int(in.number(d)))
		}
		n := 1
		for _, d := range c.shape {
			n *= d
		}
		c.f = slices.Repeat([]float64{math.NaN()}, n)
		if s.Init != nil {
			c = in.eval(s.Init).clone()
		}
		in.scopes[len(in.scopes)-1][s.Name] = c
	case *syntax.Assign:
		in.assign(s)
	case *syntax.Increase:
		for _, x := range in.eval(s.X).f {
			in.target += x
		}
	case *syntax.Tilde:
		args := []*cell{in.eval(s.X)}
		for _, a := range s.Args {
			args = append(args, in.eval(a))
		}
		in.target += in.library(s.Name+s.Suffix, args).f[0]
	case *syntax.Block:
		return in.scoped(s)
	case *syntax.If:
		if in.number(s.Cond) != 0 {
			return in.scoped(s.Then)
		} else if s.Else != nil {
			return in.scoped(s.Else)
		}
	case *syntax.For:
		for i, hi := in.number(s.Lo), in.number(s.Hi); i <= hi; i++ {
			in.scopes = append(in.scopes, map[string]*cell{s.Name: one(i)})
			l := in.scoped(s.Body)
			in.scopes = in.scopes[:len(in.scopes)-1]
			if l.word == "return" {
				return l
			} else if l.word == "break" {
				break
			}
		}
	case *syntax.While:
		for in.number(s.Cond) != 0 {
			if l := in.scoped(s.Body); l.word == "return" {
				return l
			} else if l.word == "break" {
				break
			}
		}
	case *syntax.Jump:
		return leave{word: s.Word}
	case *syntax.Return:
		return leave{"return", in.eval(s.X)}
	default:
		panic(fmt.Sprintf("no statement %T", s))
	}
	return leave{}
}

func (in *interpreter) assign(s *syntax.Assign) {
	from := in.eval(s.From)
	to, index := s.To, []int(nil)
	if x, ok := s.To.(*syntax.Index); ok {
		to = x.X
		for _, p := range x.List {
			index = append(index, int(in.number(p.Single)))
		}
	}
	c := in.find(to.(*syntax.Name).Name)
	at, n := c.part(index)
	for i := range n {
		x := from.f[i]
		if s.Op != "" {
			x = arithmetic(s.Op, c.f[at+i], x, to.Type().Kind == typing.Int)
		}
		c.f[at+i] = x
	}
}

// part returns where the part with the first indices begins, and its size.
func (c *cell) part(index []int) (at, n int) {
	n = 1
	for k, d := range c.shape {
		if k >= len(index) {
			n *= d
			at *= d
			continue
		}
		if index[k] < 1 || index[k] > d {
			panic("index out of range")
		}
		at = at*d + index[k] - 1
	}
	return at, n
}

func (in *interpreter) number(x syntax.Expr) float64 { return in.eval(x).f[0] }

func (in *interpreter) eval(x syntax.Expr) *cell {
	switch x := x.(type) {
	case *syntax.Number:
		v, _ := strconv.ParseFloat(x.Text, 64)
		return one(v)
	case *syntax.Name:
		return in.find(x.Name).clone()
	case *syntax.Unary:
		v := in.eval(x.X).clone()
		for i, f := range v.f {
			switch x.Op {
			case "-":
				v.f[i] = -f
			case "!":
				v.f[i] = truth(f == 0)
			}
		}
		return v
	case *syntax.Binary:
		return in.binary(x)
	case *syntax.Choice:
		if in.number(x.Cond) != 0 {
			return in.eval(x.X)
		}
		return in.eval(x.Y)
	case *syntax.Index:
		base := in.eval(x.X)
		if p := x.List[0]; p.Single == nil { // a range of a vector
			lo, hi := int(in.number(p.Lo)), int(in.number(p.Hi))
			return &cell{base.f[lo-1 : hi], []int{hi - lo + 1}}
		}
		var index []int
		for _, p := range x.List {
			index = append(index, int(in.number(p.Single)))
		}
		at, n := base.part(index)
		return &cell{base.f[at : at+n], base.shape[len(index):]}
	case *syntax.List:
		c := &cell{shape: []int{len(x.Items)}}
		for k, i := range x.Items {
			v := in.eval(i)
			c.f = append(c.f, v.f...)
			if k == 0 {
				c.shape = append(c.shape, v.shape...)
			}
		}
		return c
	case *syntax.Call:
		var args []*cell
		for _, a := range x.Args {
			args = append(args, in.eval(a))
		}
		return in.call(x.Name, args)
	}
	panic(fmt.Sprintf("no expression %T", x))
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (in *interpreter) binary(x *syntax.Binary) *cell {
	a := in.eval(x.X)
	if x.Op == "&&" && a.f[0] == 0 || x.Op == "||" && a.f[0] != 0 {
		return one(truth(x.Op == "||"))
	}
	b := in.eval(x.Y)
	whole := x.X.Type().Kind == typing.Int && x.Y.Type().Kind == typing.Int
	out := a.clone()
	if len(a.shape) == 0 {
		out = b.clone()
	}
	pick := func(c *cell, i int) float64 {
		if len(c.shape) == 0 {
			i = 0
		}
		return c.f[i]
	}
	for i := range out.f {
		out.f[i] = arithmetic(x.Op, pick(a, i), pick(b, i), whole)
	}
	return out
}

func arithmetic(op string, x, y float64, whole bool) float64 {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*", ".*":
		return x * y
	case "/", "./":
		if whole {
			return math.Trunc(x / y)
		}
		return x / y
	case "%":
		return math.Mod(x, y)
	case "^":
		return math.Pow(x, y)
	case "<":
		return truth(x < y)
	case "<=":
		return truth(x <= y)
	case ">":
		return truth(x > y)
	case ">=":
		return truth(x >= y)
	case "==":
		return truth(x == y)
	case "!=":
		return truth(x != y)
	case "&&":
		return truth(x != 0 && y != 0)
	case "||":
		return truth(x != 0 || y != 0)
	}
	panic("no operator " + op)
}

func (in *interpreter) call(name string, args []*cell) *cell {
	for _, f := range in.prog.Functions {
		if f.Name != name || f.Body == nil {
			continue
		}
		outer := in.scopes
		in.scopes = []map[string]*cell{{}}
		for i, a := range f.Args {
			in.scopes[0][a.Name] = args[i].clone()
		}
		l := in.scoped(f.Body)
		in.scopes = outer
		return l.v
	}
	return in.library(name, args)
}

// library are a few functions, by their definitions.
func (in *interpreter) library(name string, args []*cell) *cell {
	each := map[string]func(x float64) float64{"exp": math.Exp, "tanh": math.Tanh, "square": func(x float64) float64 { return x * x }, "sqrt": math.Sqrt, "sin": math.Sin,
		"inv_logit": func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, "log1p_exp": func(x float64) float64 { return math.Log1p(math.Exp(x)) }, "abs": math.Abs}
	if f := each[name]; f != nil {
		out := args[0].clone()
		for i, x := range out.f {
			out.f[i] = f(x)
		}
		return out
	}
	a := args[0].f
	sum := 0.0
	switch name {
	case "sum":
		for _, x := range a {
			sum += x
		}
		return one(sum)
	case "mean":
		for _, x := range a {
			sum += x / float64(len(a))
		}
		return one(sum)
	case "max":
		return one(slices.Max(a))
	case "dot_self":
		for _, x := range a {
			sum += x * x
		}
		return one(sum)
	case "log_sum_exp":
		m := slices.Max(a)
		for _, x := range a {
			sum += math.Exp(x - m)
		}
		return one(m + math.Log(sum))
	case "rep_vector":
		n := int(args[1].f[0])
		return &cell{slices.Repeat(a, n), []int{n}}
	}
	density, ok := strings.CutSuffix(name, "_lpdf")
	if !ok {
		panic("no function " + name)
	}
	n := 1
	for _, c := range args {
		n = max(n, len(c.f))
	}
	pick := func(k, i int) float64 { return args[k].f[i%len(args[k].f)] }
	for i := range n {
		switch density {
		case "normal":
			z := (pick(0, i) - pick(1, i)) / pick(2, i)
			sum += -0.5*z*z - math.Log(pick(2, i)) - 0.5*math.Log(2*math.Pi)
		case "cauchy":
			z := (pick(0, i) - pick(1, i)) / pick(2, i)
			sum -= math.Log1p(z*z) + math.Log(pick(2, i)) + math.Log(math.Pi)
		case "exponential":
			sum += math.Log(pick(1, i)) - pick(1, i)*pick(0, i)
		default:
			panic("no density " + density)
		}
	}
	return one(sum)
}
