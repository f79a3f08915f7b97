// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/models/stan/internal/check"
	"github.com/euryale-dev/euryale/models/stan/internal/library"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/tensor"
)

type everything struct{}

func (everything) Overloads(name string) []typing.Overload {
	if f := library.Find(name); f != nil {
		return f.Overloads
	}
	return nil
}
func (everything) Solver(name string) (func([]typing.Type) (typing.Type, error), bool) {
	return Solver(name)
}
func (everything) Names() []string { return library.Names() }

// prepared runs the declarations of transformed data, and returns the last statement.
func prepared(t *testing.T, code string) (*Machine, syntax.Stmt) {
	t.Helper()
	tree, err := syntax.Parse(&syntax.Source{Name: "MODEL.stan", Text: code}, syntax.Settings{})
	if err == nil {
		_, err = check.Check(tree, everything{})
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, code)
	}
	m := New(tree)
	r := tensor.NewStream(7, 0, 0)
	m.Random = &r
	list := tree.Blocks[syntax.TransformedData].List
	if err := m.Run(list[:len(list)-1]); err != nil {
		t.Fatal(err)
	}
	return m, list[len(list)-1]
}

// Plain statements leave the variables as the Machine does.
func TestPlainStatements(t *testing.T) {
	const functions = `functions {
real up(real x, int n) { if (n == 0) return x; return up(x * 1.5, n - 1); }
vector share(vector x) { return x / sum(x); }
int first(array[] real v, real least) { for (i in 1:size(v)) { if (v[i] >= least) return i; } return 0; }
}
`
	const start = `transformed data { int n = 4; real a = 0.3; int k = 2; vector[3] v = [1, 2, 4]'; array[4] real r = {0.1, 0.7, 0.4, 2}; matrix[2, 3] m = [[1, 2, 3], [4, 5, 6]]; array[2] vector[2] p; array[3, 2] int q = {{1, 2}, {3, 4}, {5, 6}}; row_vector[3] w = [3, 1, 2]; `
	for _, body := range []string{
		"{ for (i in 1:n) { if (i == 2) continue; if (i > 3) break; a += r[i] * i; } }",
		"{ int i = 0; while (i < 10) { i += 3; a = a * 2 - 1.0 / i; if (a < -4) break; } k = i; }",
		"{ for (i in 1:2) for (j in 1:2) { p[i, j] = m[i, j] + q[j, i]; } a = p[2][1]; }",
		"{ p[1] = [v[1], v[3]]'; p[2] = share(p[1]) + 1; a = max(p[2]); }",
		"{ k = first(r, 0.5) + 7 / 2 + 7 % 4 - 2 ^ 2 > 0; a = up(a, 3); }",
		"{ real s; s = w * v; a = s > 3 && !(k == 2) || r[1] < a ? log_sum_exp(v) : -s; }",
		"{ vector[3] u = 2 * v - v .* v ./ (v + 1); a = sum(u) + dot_product(u, v) + normal_lpdf(a | u[1], 2) + exponential_lpdf(0.5 | v[2]); v = softmax(u); }",
		"{ array[n, 2] real t; for (i in 1:n) { t[i] = {r[i], i}; } a = t[n, 2] + sum(t[1]); m[2] = w; }",
		"{ for (i in 1:3) { a += normal_rng(v[i], 0.5); k = categorical_rng([0.2, 0.5, 0.3]'); } a += poisson_rng(3.5) + uniform_rng(0, 1); }",
		"{ int i = 2147483647; k = i + 1; a = pow(a, 2) + a ^ 3 + square(a) + inv_logit(a) + fmax(a, 1) - pi() + negative_infinity(); }",
		"{ a = 1e6 * 1.5e-3 + (a == 0.3) + 5 %/% 2; { real b = a; { real c = b + 1; a = c; } } k += 3; k *= 2; }",
		"{ v = [a, a, k]'; v[2] += 1; r[n] -= a; q[2, 1] = 9; q[3] = {7, 8}; a = q[3, 2] + rows(m) * num_elements(v); }",
	} {
		code := functions + start + body + " } model { }"
		slow, s := prepared(t, code)
		fast, f := prepared(t, code)
		p := fast.plain(f)
		if p == nil {
			t.Errorf("this is not plain: %s", body)
			continue
		}
		if _, err := slow.statement(s); err != nil {
			t.Fatalf("%v", err)
		}
		if ok, err := p.runOn(fast); !ok {
			t.Errorf("this does not run: %s: %v", body, err)
			continue
		}
		for name, want := range slow.Variables() {
			got, _ := fast.Get(name)
			for i, x := range want.F {
				if y := got.F[i]; math.Abs(y-x) > 1e-14*max(1, math.Abs(x)) && !(math.IsNaN(x) && math.IsNaN(y)) {
					t.Errorf("%s: element %d of %s is %v, want %v", body, i, name, y, x)
				}
			}
		}
	}
}

// What goes wrong in plain statements leaves the variables as they were, and what has no plain form is left to the Machine.
func TestPlainFailures(t *testing.T) {
	const start = "transformed data { int n = 4; real a = 0.3; vector[3] v = [1, 2, 4]'; tuple(real, int) z = (1.0, 2); "
	for _, body := range []string{
		"{ a = 7; a = v[n]; }", "{ a = 7; a = n % (n - 4); }", `{ a = 7; reject("no"); }`, "{ a = 7; a = log(-a); }", "{ a = 7; vector[2] u = v; }",
		"{ a = 7; a = categorical_rng(v); }", "{ a = 7; while (1) { a += 1; } }", "{ a = 7; a = normal_lpdf(a | 0, -1); }",
	} {
		m, s := prepared(t, start+body+" } model { }")
		m.MaxSteps = 1000
		p := m.plain(s)
		if p == nil {
			t.Errorf("this is not plain: %s", body)
			continue
		}
		if ok, _ := p.runOn(m); ok {
			t.Errorf("this runs: %s", body)
		}
		if a, _ := m.Get("a"); a.F[0] != 0.3 {
			t.Errorf("%s left a at %v", body, a.F[0])
		}
	}
	for _, body := range []string{"{ a = z.1; }", "{ a = sum(v[1:2]); }", `{ print("a"); }`, "{ complex c = a; a = get_real(c); }"} {
		m, s := prepared(t, start+body+" } model { }")
		if m.plain(s) != nil {
			t.Errorf("this is plain: %s", body)
		}
	}
}

// A loop on data runs as a Go function, whose statements count less than those of the Machine, so that loops without end stop within seconds.
func TestLoopsOnData(t *testing.T) {
	for _, c := range []struct {
		body  string
		steps int
	}{
		{"for (i in 1:1000) a += i;", ofMachine + 1000},
		{"while (a < 1000) { a += 1; k += 1; }", ofMachine + 3*1000},
		{"for (i in 1:1000) v[1:2] = v[2:3];", ofMachine*2001 + 2*1000},
		{"for (i in 1:10) { print(); for (j in 1:100) a += 1; }", ofMachine * (1 + 10*(3+2*100))},
	} {
		m, s := prepared(t, "transformed data { real a = 0.3; int k = 2; vector[3] v = [1, 2, 4]'; "+c.body+" } model { }")
		m.steps = 0
		if _, err := m.statement(s); err != nil {
			t.Fatal(err)
		}
		if m.steps < c.steps*9/10 || m.steps > c.steps*11/10 {
			t.Errorf("%s counts %d steps, want about %d", c.body, m.steps, c.steps)
		}
	}
	m, s := prepared(t, "transformed data { real a = 0.3; while (1) { a += 1; } } model { }")
	m.MaxSteps = 100_000
	if _, err := m.statement(s); err == nil || m.steps > 100 {
		t.Errorf("the loop ended with %v after %d steps: want an error of the Go function, and not of the Machine", err, m.steps)
	}
}
