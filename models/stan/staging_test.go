// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/stan"
)

// staged is a program with a loop, and the same with its repetitions written out.
type staged struct{ name, loop, plain string }

func stagings() []staged {
	const data = "transformed data { array[4] int pos = {2, 1, 3, 1}; array[4] int m = {2, 3, 2, 1}; array[4] int y = {2, 1, 1, 2}; vector[4] x = [0.3, -0.2, 0.9, 0.4]'; matrix[4, 2] d = [[1, 2], [3, 4], [0, 1], [2, 0]]; }\n" +
		"parameters { vector[4] b; real<lower=0> s; matrix[4, 3] w; }\n"
	each := func(f func(n string) string) string {
		var out strings.Builder
		for _, n := range []string{"1", "2", "3", "4"} {
			out.WriteString(f(n))
		}
		return out.String()
	}
	over := func(body string) string { return "for (n in 1:4) { " + body + " }" }
	same := func(name, before, body string) staged {
		plain := each(func(n string) string {
			return "{ " + strings.NewReplacer("[n]", "["+n+"]", "[n,", "["+n+",", "(n,", "("+n+",", ", n,", ", "+n+",").Replace(body) + " }\n"
		})
		return staged{name, data + "model { " + before + over(body) + " }", data + "model { " + before + plain + " }"}
	}
	list := []staged{
		same("parts that begin at different places", "", "target += sum(segment(b, pos[n], 2)) * x[n];"),
		same("parts of different lengths", "", "target += x[n] * dot_self(segment(b, 1, m[n])) + log_sum_exp(head(b, m[n]));"),
		same("ranges of different lengths", "", "target += x[n] * prod(b[1:m[n]]);"),
		same("repetition of different lengths", "", "target += sum(square(rep_vector(b[n], m[n]) + x[n]));"),
		same("variables of different sizes", "", "vector[m[n]] v = b[1:m[n]] * x[n]; target += sum(exp(v));"),
		same("a variable that each repetition fills", "array[3] real v; ", "for (k in 1:3) v[k] = w[n, k] * b[k]; target += log_sum_exp(v);"),
		same("a number that each repetition sets", "real v = 0; ", "v = x[n] * s; target += v * square(b[n]);"),
		same("short vectors", "", "vector[3] v = to_vector(w[n]) * b[n] + s; target += sum(softmax(cumulative_sum(v)) .* b[1:3]) + dot_product(v, b[2:4]);"),
		same("categories", "", "target += categorical_logit_lpmf(y[n] | to_vector(w[n]) + b[n]) + categorical_lpmf(y[n] | softmax([b[n], s, x[n]]'));"),
		same("rows of a matrix", "", "target += sum(sub_row(w, n, 2, 2)) * b[n] + dot_product(d[n], w[n, 2:3]);"),
	}
	return append(list,
		staged{"the last repetition's value stays", data + "model { real v; for (n in 1:4) { v = b[n] * s; target += x[n] * v; } target += square(v); }",
			data + "model { for (n in 1:4) target += x[n] * b[n] * s; target += square(b[4] * s); }"},
		staged{"a recurrence of states", data + "model { vector[2] a = b[1:2]; for (t in 1:4) { vector[2] c; for (j in 1:2) { vector[2] acc; for (i in 1:2) acc[i] = a[i] + w[t, i] * d[t, j]; c[j] = log_sum_exp(acc); } a = c; } target += log_sum_exp(a); }",
			data + "model { vector[2] a = b[1:2]; " + each(func(n string) string {
				return "a = [log_sum_exp(a[1] + w[" + n + ", 1] * d[" + n + ", 1], a[2] + w[" + n + ", 2] * d[" + n + ", 1]), log_sum_exp(a[1] + w[" + n + ", 1] * d[" + n + ", 2], a[2] + w[" + n + ", 2] * d[" + n + ", 2])]';\n"
			}) + "target += log_sum_exp(a); }"})
}

func TestStaging(t *testing.T) {
	for _, c := range stagings() {
		t.Run(c.name, func(t *testing.T) {
			u := make([]float64, 17)
			for i := range u {
				u[i] = math.Sin(1.3*float64(i) + 0.4)
			}
			lp, g := gradientOf(t, c.loop, u)
			want, slope := gradientOf(t, c.plain, u)
			if !near(lp, want, 1e-12) {
				t.Errorf("the log density is %.15g, want %.15g", lp, want)
			}
			for i := range g {
				if !near(g[i], slope[i], 1e-11) {
					t.Errorf("gradient %d is %.15g, want %.15g", i, g[i], slope[i])
				}
			}
		})
	}
}

// gradientOf compiles a program without data and returns its log density and gradient.
func gradientOf(t *testing.T, source string, u []float64) (float64, []float64) {
	t.Helper()
	p, err := stan.Parse("staging.stan", source, stan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	post, err := p.Compile(nil, stan.CompileSettings{})
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	if post.Dim() != len(u) {
		t.Fatalf("%d unconstrained parameters, want %d", post.Dim(), len(u))
	}
	g := make([]float64, len(u))
	lp, err := post.LogProbGrad(u, g)
	if err != nil {
		t.Fatal(err)
	}
	return lp, g
}

// The gradient of a choice on parameters in a loop is that of the side that is taken, also where that of the other one is NaN.
func TestChoiceInLoops(t *testing.T) {
	for _, model := range []string{
		"for (i in 1:5) target += -(v[i] > 0 ? sqrt(v[i]) : v[i]^2);",
		"for (i in 1:5) target += -(v[6 - i] * k > 0 ? sqrt(v[6 - i] * k) : (v[i] > 0.1 ? sqrt(v[i] - 0.1) * k : v[i]^2));",
		"for (i in 1:5) { vector[2] w = [v[i], k]'; target += -(v[i] > 0.2 ? log_sum_exp(sqrt(w)) : sum(w .* w)); }",
	} {
		post, err := compileText("MODEL.stan", "parameters { vector[5] v; real k; } model { "+model+" }", nil)
		if err != nil {
			t.Fatal(err)
		}
		u, g, none := []float64{-0.3, -0.13, 0.04, 0.21, 0.38, 0.55}, make([]float64, 6), make([]float64, 6)
		if _, err := post.LogProbGrad(u, g); err != nil {
			t.Fatal(err)
		}
		for i := range u {
			slope := 0.0
			for _, h := range []float64{1e-6, -1e-6} {
				u[i] += h
				lp, err := post.LogProbGrad(u, none)
				if err != nil {
					t.Fatal(err)
				}
				slope += lp / (2 * h)
				u[i] -= h
			}
			if !(math.Abs(g[i]-slope) < 1e-6*(1+math.Abs(slope))) {
				t.Errorf("%s: gradient %d is %g, want %g", model, i, g[i], slope)
			}
		}
	}
}
