// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/stan/internal/check"
	"github.com/euryale-dev/euryale/models/stan/internal/library"
	"github.com/euryale-dev/euryale/models/stan/internal/stage"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
)

// grower writes programs from the grammar. pick chooses one of n ways.
type grower struct {
	pick  func(n int) int
	b     strings.Builder
	depth int
	loops []string // integer variables of loops from 1 to 4 or less
	reals []string // local variables that may be assigned to
	inner bool     // a loop surrounds the statements
}

func (g *grower) one(list ...string) string { return list[g.pick(len(list))] }

// integer is an expression from 1 to 4.
func (g *grower) integer() string {
	if len(g.loops) > 0 && g.pick(3) > 0 {
		return g.one(g.loops...)
	}
	return g.one("1", "2", "3", "4", "n", "idx[2]", "idx["+fmt.Sprint(1+g.pick(4))+"]")
}

// real is an expression whose value stays moderate.
func (g *grower) real() string {
	if g.depth++; g.depth > 4 {
		defer func() { g.depth-- }()
		return g.leaf()
	}
	defer func() { g.depth-- }()
	switch g.pick(12) {
	case 0:
		return "(" + g.real() + g.one(" + ", " - ", " * ") + g.real() + ")"
	case 1:
		return "(" + g.real() + " / (1 + square(" + g.real() + ")))"
	case 2:
		return g.one("tanh", "sin", "inv_logit", "log1p_exp", "square") + "(" + "tanh(" + g.real() + "))"
	case 3:
		return "(" + g.condition() + " ? " + g.real() + " : " + g.real() + ")"
	case 4:
		return g.one("sum", "mean", "log_sum_exp", "dot_self", "max") + "(tanh(" + g.vector() + "))"
	case 5:
		return "(-" + g.real() + ")"
	case 6:
		return "up(" + g.real() + ", " + g.integer() + ")"
	case 7:
		return "normal_lpdf(tanh(" + g.real() + ") | " + g.leaf() + ", exp(tanh(" + g.leaf() + ")))"
	case 8:
		return "(" + g.integer() + g.one(" / ", " % ", " * ", " - ") + g.integer() + " + 0.5)"
	}
	return g.leaf()
}

func (g *grower) leaf() string {
	if len(g.reals) > 0 && g.pick(3) == 0 {
		return "tanh(" + g.one(g.reals...) + ")"
	}
	return g.one("a", "b", "v[2]", "r["+g.integer()+"]", "d["+g.integer()+"]", "d[idx["+g.integer()+"]]", "w[1]", "0.5", "1.5", "m["+g.one("1", "2")+", "+g.one("1", "2", "3")+"]", "tanh(s)", "tanh(t["+g.integer()+"])")
}

func (g *grower) vector() string {
	switch g.pick(6) {
	case 0:
		return "(v" + g.one(" + ", " - ", " .* ") + g.vector() + ")"
	case 1:
		return "(" + g.leaf() + " * w)"
	case 2:
		return "rep_vector(" + g.leaf() + ", 3)"
	case 3:
		return "exp(tanh(v))"
	}
	return g.one("v", "w")
}

func (g *grower) condition() string {
	switch g.pick(5) {
	case 0:
		return g.integer() + g.one(" < ", " == ", " != ", " >= ") + g.integer()
	case 1:
		return "(" + g.condition() + g.one(" && ", " || ") + g.condition() + ")"
	case 2:
		return "!(" + g.leaf() + " > " + g.leaf() + ")"
	}
	return g.real() + g.one(" < ", " > ") + g.leaf()
}

func (g *grower) line(format string, args ...any) { fmt.Fprintf(&g.b, format+"\n", args...) }

func (g *grower) statements(n, level int) {
	for range n {
		g.statement(level)
	}
}

func (g *grower) statement(level int) {
	kind := g.pick(14)
	if level > 1 && kind >= 8 {
		kind -= 8
	}
	switch kind {
	case 0, 1:
		g.line("target += 0.1 * %s;", g.real())
	case 2:
		g.line("s %s tanh(%s);", g.one("=", "+=", "-="), g.real())
	case 3:
		g.line("t[%s] = tanh(%s);", g.integer(), g.real())
	case 4:
		g.density(level, g.one("a", "v", "r", "d["+g.integer()+"]", "w"), g.one("normal", "cauchy"), g.leaf()+", exp(tanh("+g.leaf()+"))")
	case 5:
		g.density(level, "b", "exponential", "exp(tanh("+g.leaf()+"))")
	case 6:
		g.line("t[%s] += %s;", g.integer(), g.leaf())
	case 7:
		if g.inner {
			g.line("if (%s) %s;", g.condition(), g.one("break", "continue"))
			return
		}
		g.line("target += -0.01 * square(s);")
	case 8, 9:
		g.line("if (%s) {", g.condition())
		g.scope(level)
		if g.pick(2) == 0 {
			g.line("} else {")
			g.scope(level)
		}
		g.line("}")
	case 10, 11, 12:
		name := fmt.Sprintf("i%d", len(g.loops)+level)
		g.line("for (%s in %s:%s) {", name, g.one("1", "1", "2"), g.one("4", "n", "3"))
		was := g.inner
		g.loops, g.inner = append(g.loops, name), true
		g.scope(level)
		g.loops, g.inner = g.loops[:len(g.loops)-1], was
		g.line("}")
	default:
		g.line("{ real k%d = 0.1; while (k%d < %s) {", level, level, g.one("2", "1 + tanh(a)", "inv_logit(s) + 1"))
		was := g.inner
		g.inner = false
		g.line("k%d += 0.5 + 0.2 * inv_logit(%s);", level, g.leaf())
		g.scope(level)
		g.inner = was
		g.line("} target += 0.1 * k%d; }", level)
	}
}

// density writes a distribution statement where it always runs, since it drops constants, and adds to the target otherwise.
func (g *grower) density(level int, of, name, args string) {
	if level == 0 {
		g.line("%s ~ %s(%s);", of, name, args)
		return
	}
	g.line("target += %s_lpdf(%s | %s);", name, of, args)
}

// scope writes a local variable and statements.
func (g *grower) scope(level int) {
	if g.pick(2) == 0 {
		name := fmt.Sprintf("x%d", len(g.reals))
		g.line("real %s = %s;", name, g.real())
		g.reals = append(g.reals, name)
		defer func() { g.reals = g.reals[:len(g.reals)-1] }()
		g.line("%s = 0.5 * tanh(%s) + %s;", name, name, g.leaf())
	}
	g.statements(1+g.pick(2), level+1)
}

// program grows a program.
func (g *grower) program() string {
	g.line(`functions {
real up(real x, int n) { real y = tanh(x); for (i in 1:n) { y = 0.5 * y + x / (1 + square(x)); if (y > %s) return y * i; } return y; }
}
transformed data { int n = 4; array[4] int idx = {%s, 2, %s, 4}; array[4] real d = {0.3, -0.7, 1.1, %s}; vector[3] w = [0.2, -1, 0.6]'; matrix[2, 3] m = [[1, 0.2, -0.3], [0.4, 0.5, -0.6]]; }
parameters { real a; real<lower=0> b; vector[3] v; array[4] real r; }
model {
real s = 0.1; array[4] real t = {0.1, 0.2, 0.3, 0.4};`, g.one("0.4", "1.2", "100"), g.one("1", "3"), g.one("2", "4"), g.one("0.9", "-0.2"))
	g.statements(2+g.pick(4), 0)
	g.line("target += -square(s) - 0.1 * (square(t[1]) + square(t[4]));\n}")
	return g.b.String()
}

type everything struct{}

func (everything) Overloads(name string) []typing.Overload {
	if f := library.Find(name); f != nil {
		return f.Overloads
	}
	return nil
}
func (everything) Solver(name string) (func([]typing.Type) (typing.Type, error), bool) {
	return stage.Solver(name)
}
func (everything) Names() []string { return library.Names() }

// interpreted parses a program for the interpreter; its density takes unconstrained numbers.
func interpreted(t testing.TB, code string) func(u []float64) float64 {
	tree, err := syntax.Parse(&syntax.Source{Name: "MODEL.stan", Text: code}, syntax.Settings{})
	if err == nil {
		_, err = check.Check(tree, everything{})
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, code)
	}
	in := &interpreter{prog: tree}
	return func(u []float64) float64 {
		return u[1] + in.density(map[string]*cell{"a": one(u[0]), "b": one(math.Exp(u[1])), "v": {u[2:5], []int{3}}, "r": {u[5:9], []int{4}}})
	}
}

// agrees compares the log density of a program with that of the interpreter: its differences between points, since ~ drops constants, and
// its gradient with differences of the interpreter's where these are smooth.
func agrees(t testing.TB, code string) {
	post, err := compileText("MODEL.stan", code, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, code)
	}
	plain := interpreted(t, code)
	first, base := math.NaN(), math.NaN()
	for k := range 3 {
		u := make([]float64, 9)
		for i := range u {
			u[i] = 0.9*math.Sin(float64(3*k+7*i)+0.37*float64(k*i)) + 0.013*float64(k)
		}
		g := make([]float64, 9)
		lp, err := post.LogProbGrad(u, g)
		if err != nil {
			t.Fatalf("%v\n%s", err, code)
		}
		want := plain(u)
		if k == 0 {
			first, base = lp, want
			continue
		}
		if d := (lp - first) - (want - base); math.IsNaN(d) && !math.IsNaN(want) || math.Abs(d) > 1e-9*(1+math.Abs(want)+math.Abs(base)) {
			t.Fatalf("point %d: the difference of the log density is %.12g, want %.12g\n%s", k, lp-first, want-base, code)
		}
		for i := range u {
			slope := func(h float64) float64 {
				x := u[i]
				u[i] = x + h
				up := plain(u)
				u[i] = x - h
				down := plain(u)
				u[i] = x
				return (up - down) / (2 * h)
			}
			near, far := slope(1e-6), slope(1e-5)
			if math.Abs(near-far) < 1e-6*(1+math.Abs(near)) && !(math.Abs(g[i]-near) < 1e-4*(1+math.Abs(near))) {
				t.Fatalf("point %d: gradient %d is %.9g, want %.9g\n%s", k, i, g[i], near, code)
			}
		}
	}
}

// TestGrownPrograms compares programs that are grown from the grammar with an interpreter that runs them statement by statement.
func TestGrownPrograms(t *testing.T) {
	grown(t, 0, 25)
}

// grown compares programs of random choices.
func grown(t *testing.T, from, to uint64) {
	for seed := from; seed < to; seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		g := &grower{pick: r.IntN}
		agrees(t, g.program())
	}
}

// FuzzGrownPrograms grows programs from the bytes, each of which chooses a way.
func FuzzGrownPrograms(f *testing.F) {
	f.Add([]byte("0123456789"))
	f.Add([]byte{7, 200, 13, 11, 10, 3, 99, 5, 8, 12, 10, 2, 77, 4})
	f.Fuzz(func(t *testing.T, b []byte) {
		i := 0
		g := &grower{pick: func(n int) int {
			if i++; i > len(b) || i > 400 {
				return n - 1
			}
			return int(b[i-1]) % n
		}}
		agrees(t, g.program())
	})
}
