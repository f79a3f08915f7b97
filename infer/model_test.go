// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

var (
	schoolY  = []float64{28, 8, -3, 7, -1, 1, 18, 12}
	schoolSD = []float64{15, 10, 16, 11, 9, 11, 10, 18}
)

// schools is the non-centred hierarchical model of Rubin (1981).
func schools() *infer.Model {
	m := infer.NewModel("eight schools")
	z := m.Param("z", dist.Normal(0, 1), infer.Shape(8))
	mu := m.Param("mu", dist.Normal(0, 5))
	tau := m.Param("tau", dist.HalfCauchy(5))
	theta := m.Deterministic("theta", ad.Add(mu, ad.Mul(tau, z)))
	m.Observe("y", dist.Normal(theta, m.Data("sd", schoolSD)), schoolY)
	return m
}

func Example_model() {
	m := infer.NewModel("eight schools")
	z := m.Param("z", dist.Normal(0, 1), infer.Shape(8))
	mu := m.Param("mu", dist.Normal(0, 5))
	tau := m.Param("tau", dist.HalfCauchy(5))
	theta := m.Deterministic("theta", ad.Add(mu, ad.Mul(tau, z)))
	sd := m.Data("sd", []float64{15, 10, 16, 11, 9, 11, 10, 18}) // of the effects
	m.Observe("y", dist.Normal(theta, sd), []float64{28, 8, -3, 7, -1, 1, 18, 12})
	post, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range fit.Summary().Rows {
		if r.Name == "mu" || r.Name == "theta[0]" {
			fmt.Printf("%s is about %.0f\n", r.Name, r.Mean)
		}
	}
	// Output:
	// mu is about 4
	// theta[0] is about 6
}

func compiled(t testing.TB, m *infer.Model) *infer.Posterior {
	t.Helper()
	p, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Models with mistakes, and what Compile must say of them.
func TestModelMistakes(t *testing.T) {
	normal := dist.Normal(0, 1)
	for _, c := range []struct {
		name  string
		build func(m *infer.Model)
		words []string
	}{
		{"empty", func(m *infer.Model) {}, []string{"no log density"}},
		{"the same name", func(m *infer.Model) { m.Param("a", normal); m.Param("a", normal) }, []string{`name "a" already belongs to a parameter`}},
		{"data called as a parameter", func(m *infer.Model) { m.Param("a", normal); m.Data("a", []float64{1}) }, []string{`"a"`, "cannot be used for data"}},
		{"quantity called as an observation", func(m *infer.Model) {
			m.Observe("y", normal, []float64{1})
			m.Deterministic("y", ad.Scalar(1))
		}, []string{`"y" already belongs to an observation`}},
		{"no name", func(m *infer.Model) { m.Param("", normal) }, []string{"has no name"}},
		{"the sampler's name", func(m *infer.Model) { m.Param("lp__", normal) }, []string{`a parameter has the name "lp__"`, "belong to the sampler"}},
		{"the sampler's name for a quantity", func(m *infer.Model) { m.Deterministic("energy__", m.Param("a", normal)) }, []string{`a quantity has the name "energy__"`}},
		{"undeclared input", func(m *infer.Model) { m.Observe("y", dist.Normal(ad.Input("w"), 1), []float64{1}) }, []string{"uses w", "not declared"}},
		{"undeclared input of a quantity", func(m *infer.Model) { m.Param("a", normal); m.Deterministic("b", ad.Input("w")) }, []string{"uses w", "not declared"}},
		{"distribution of another length", func(m *infer.Model) {
			m.Observe("y", dist.Normal(m.Param("a", normal, infer.Shape(3)), 1), []float64{1, 2})
		}, []string{"likelihood of y", "[2] [3]"}},
		{"distribution that is longer", func(m *infer.Model) {
			m.Observe("y", dist.Normal(m.Param("a", normal, infer.Shape(3)), 1), []float64{1})
		}, []string{"observation y has 1 value, but its distribution has shape [3]"}},
		{"prior of another length", func(m *infer.Model) { m.Param("a", dist.Normal(ad.Const([]float64{1, 2}), 1), infer.Shape(3)) }, []string{"prior of a"}},
		{"longer prior", func(m *infer.Model) { m.Param("a", dist.Normal(ad.Const([]float64{1, 2}), 1)) }, []string{"prior of a"}},
		{"longer bounds", func(m *infer.Model) { m.Flat("a", dist.LowerTransform(ad.Const([]float64{1, 2}))) }, []string{"Jacobian of a"}},
		{"data of another shape", func(m *infer.Model) { m.Param("a", normal); m.Data("x", []float64{1, 2, 3}, infer.Shape(2, 2)) }, []string{"data x has 3 values, but its shape is [2 2]"}},
		{"negative length", func(m *infer.Model) { m.Param("a", normal, infer.Shape(-1)) }, []string{"parameter a"}},
		{"a sum that does not fit", func(m *infer.Model) {
			m.AddLogProb("t", ad.Add(m.Param("a", normal, infer.Shape(2)), m.Param("b", normal, infer.Shape(3))))
		}, []string{"term t", "model_test.go:"}},
		{"a quantity that does not fit", func(m *infer.Model) {
			m.Deterministic("d", ad.Add(m.Param("a", normal, infer.Shape(2)), m.Param("b", normal, infer.Shape(3))))
		}, []string{"quantity d"}},
		{"NaN observation", func(m *infer.Model) { m.Observe("y", normal, []float64{1, math.NaN()}) }, []string{"y[1] is NaN"}},
		{"infinite observation", func(m *infer.Model) { m.Observe("y", normal, []float64{math.Inf(1)}) }, []string{"y[0] is +Inf"}},
		{"outside", func(m *infer.Model) { m.Observe("y", dist.LogNormal(m.Param("a", normal), 1), []float64{1, 2, -3}) },
			[]string{"y[2] is -3", "inside the support of lognormal, 0 to +Inf"}},
		{"on an open end", func(m *infer.Model) { m.Observe("y", dist.Beta(2, 2), []float64{0.5, 1}) }, []string{"y[1] is 1", "beta, 0 to 1"}},
		{"outside ends in data", func(m *infer.Model) {
			m.Observe("y", dist.Uniform(0, m.Data("top", []float64{1, 2, 3})), []float64{0.5, 1.5, 3.5})
		}, []string{"y[2] is 3.5", "uniform, 0 to 3"}},
		{"a bad distribution", func(m *infer.Model) { m.Param("a", dist.Normal("x", 1)) }, []string{"prior of a"}},
		{"no distribution", func(m *infer.Model) { m.Observe("y", dist.Dist{}, []float64{1}) }, []string{"distribution of y", "has no density"}},
		{"two mistakes", func(m *infer.Model) { m.Param("", normal); m.Observe("y", normal, []float64{math.NaN()}) }, []string{"has no name", "y[0] is NaN"}},
	} {
		m := infer.NewModel("faulty")
		c.build(m)
		for range 2 { // the second time says no more
			_, err := m.Compile()
			if err == nil {
				t.Errorf("%s: no error", c.name)
				break
			}
			for _, w := range c.words {
				if strings.Count(err.Error(), w) != 1 || !strings.HasPrefix(err.Error(), "infer: model faulty: ") {
					t.Errorf("%s: error %q, want it to say %q once", c.name, err, w)
				}
			}
		}
	}
}

// slopes compares the gradient of p at q with central differences.
func slopes(t *testing.T, p infer.Target, q []float64) {
	t.Helper()
	g, scratch := make([]float64, len(q)), make([]float64, len(q))
	lp, err := p.LogProbGrad(q, g)
	if err != nil || math.IsNaN(lp) || math.IsInf(lp, 0) {
		t.Fatalf("log density at %v is %g, %v", q, lp, err)
	}
	at := func(i int, h float64) float64 {
		moved := append([]float64{}, q...)
		moved[i] += h
		v, err := p.LogProbGrad(moved, scratch)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for i := range q {
		const h = 1e-3
		want := (8*(at(i, h)-at(i, -h)) - (at(i, 2*h) - at(i, -2*h))) / (12 * h)
		if math.Abs(g[i]-want) > 1e-7*math.Max(1, math.Abs(want)) {
			t.Errorf("gradient %d at %v is %.12g, differences give %.12g", i, q, g[i], want)
		}
	}
}

// zoo has one model of every kind of parameter.
func zoo() map[string]*infer.Model {
	out := map[string]*infer.Model{"schools": schools()}
	add := func(name string) *infer.Model {
		out[name] = infer.NewModel(name)
		return out[name]
	}
	m := add("garch")
	a := m.Param("a", dist.Uniform(0, 1))
	b := m.Param("b", dist.Uniform(0, ad.Sub(ad.Scalar(1), a)))
	m.Observe("y", dist.Normal(0, ad.Add(a, b)), []float64{0.3, -0.4})

	m = add("vectors")
	w := m.Flat("w", dist.SimplexTransform(), infer.Shape(4))
	o := m.Flat("o", dist.OrderedTransform(), infer.Shape(3))
	v := m.Flat("v", dist.SimplexILRTransform(), infer.Shape(3))
	m.AddLogProb("term of w", ad.Mul(ad.Const([]float64{1, 2, 3, 4}), ad.Log(w)))
	m.AddLogProb("term of o", ad.Scale(-0.5, ad.Square(o)))
	m.AddLogProb("term of v", ad.Log(v))

	m = add("priors")
	p := m.Param("p", dist.Gamma(ad.Const([]float64{2, 3, 400}), 1.5), infer.Shape(3))
	q := m.Param("q", dist.Beta(2, 3), infer.Shape(2, 1))
	r := m.Param("r", dist.StudentT(m.Param("nu", dist.Gamma(2, 0.1)), 0, 1))
	m.Param("s", dist.InverseGamma(3, ad.Sum(p)))
	m.Param("u", dist.Laplace(r, 2))
	m.Param("top", dist.Exponential(1), infer.By(dist.SoftplusTransform()))
	m.Observe("y", dist.Normal(ad.Sum(ad.Mul(p, q)), 2), []float64{3})
	return out
}

func TestGradientsOfModels(t *testing.T) {
	random := tensor.NewStream(3, 1, 0)
	for name, m := range zoo() {
		t.Run(name, func(t *testing.T) {
			p := compiled(t, m)
			for range 3 {
				q := make([]float64, p.Dim())
				for i := range q {
					q[i] = random.Normal()
				}
				slopes(t, p, q)
			}
		})
	}
}

// What a model stores with a draw satisfies the model's constraints, and maps
// back.
func TestConstraintsHold(t *testing.T) {
	random := tensor.NewStream(4, 1, 0)
	for name, m := range zoo() {
		p := compiled(t, m)
		names := p.Names()
		if len(names) != p.Len() {
			t.Fatalf("%s: %d names, %d columns", name, len(names), p.Len())
		}
		for range 20 {
			q, out := make([]float64, p.Dim()), make([]float64, p.Len())
			for i := range q {
				q[i] = 2 * random.Normal()
			}
			if err := p.Write(q, out); err != nil {
				t.Fatal(err)
			}
			byName, col := map[string][]float64{}, map[string]float64{}
			for i, n := range names {
				col[n] = out[i]
				base, _, _ := strings.Cut(n, "[")
				if base != "theta" {
					byName[base] = append(byName[base], out[i])
				}
			}
			switch name {
			case "garch":
				if a, b := col["a"], col["b"]; !(a > 0 && b > 0 && a+b < 1) {
					t.Errorf("a = %g, b = %g: want them in a triangle", a, b)
				}
			case "vectors":
				if s := col["w[0]"] + col["w[1]"] + col["w[2]"] + col["w[3]"]; math.Abs(s-1) > 1e-12 {
					t.Errorf("w sums to %g", s)
				}
				if !(col["o[0]"] < col["o[1]"] && col["o[1]"] < col["o[2]"]) {
					t.Errorf("o is %g, %g, %g: want order", col["o[0]"], col["o[1]"], col["o[2]"])
				}
			}
			back, err := p.Unconstrain(byName, 0)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i := range q {
				if math.Abs(back[i]-q[i]) > 1e-8*(1+math.Abs(q[i])) {
					t.Errorf("%s: parameter %d: %g came back as %g", name, i, q[i], back[i])
				}
			}
		}
	}
}

// The model built here has the log density and gradients that rstan has.
func TestSchoolsAgainstStan(t *testing.T) {
	type reference struct {
		Name   string
		Data   struct{ Y, Sigma json.RawMessage }
		Checks struct {
			Points []struct {
				Q    []float64 `json:"unconstrained"`
				LP   float64   `json:"lp_with_jacobian"`
				Grad []float64 `json:"grad_with_jacobian"`
			}
		} `json:"log_density_checks"`
	}
	var want reference
	for _, name := range golden.Having(t, "inference/posteriors/*.json", "name", "data", "log_density_checks") {
		var r reference
		golden.JSON(t, &r, name)
		var y, sd []float64
		if strings.HasSuffix(r.Name, "eight_schools_noncentered") && json.Unmarshal(r.Data.Y, &y) == nil && json.Unmarshal(r.Data.Sigma, &sd) == nil &&
			slices.Equal(y, schoolY) && slices.Equal(sd, schoolSD) {
			want = r
		}
	}
	if want.Name == "" {
		t.Skip("the reference does not have Rubin's eight schools")
	}
	p := compiled(t, schools())
	g := make([]float64, p.Dim())
	if len(want.Checks.Points) == 0 {
		t.Fatal("no points")
	}
	for i, c := range want.Checks.Points {
		lp, err := p.LogProbGrad(c.Q, g)
		// Stan does not renormalise the Cauchy prior on tau > 0: log 2.
		if lp -= math.Log(2); err != nil || math.Abs(lp-c.LP) > 1e-9*math.Abs(c.LP) {
			t.Errorf("point %d: log density %.15g, want %.15g", i, lp, c.LP)
		}
		for k, w := range c.Grad {
			if math.Abs(g[k]-w) > 1e-9*math.Max(1, math.Abs(w)) {
				t.Errorf("point %d: gradient %d is %.15g, want %.15g", i, k, g[k], w)
			}
		}
	}
}

func TestModelsNeedNoParameters(t *testing.T) {
	m := infer.NewModel("fixed")
	m.Deterministic("two", ad.Scalar(2))
	m.Observe("y", dist.Normal(1, 2), []float64{3})
	p := compiled(t, m)
	lp, err := p.LogProbGrad(nil, nil)
	if want := -0.5 - math.Log(2) - math.Log(2*math.Pi)/2; err != nil || math.Abs(lp-want) > 1e-14 {
		t.Errorf("log density %g, %v, want %g", lp, err, want)
	}
	fit, err := infer.Sample(t.Context(), p, infer.Settings{Chains: 2, Warmup: 20, Draws: 5})
	if err != nil || fit.Len(0) != 5 || fit.Draws("two")[1][4] != 2 {
		t.Errorf("sampled: %v, %v", fit, err)
	}
}

// A compiled model does not see what is declared afterwards.
func TestModelGrowsAfterCompile(t *testing.T) {
	m := schools()
	p := compiled(t, m)
	before := p.Fingerprint()
	m.Param("late", dist.Normal(0, 1))
	q := make([]float64, p.Dim())
	if _, err := p.LogProbGrad(q, make([]float64, 10)); err != nil || p.Fingerprint() != before || p.Len() != 18 {
		t.Errorf("changed by a later declaration: %v, %d columns", err, p.Len())
	}
	if again := compiled(t, m); again.Dim() != 11 {
		t.Errorf("compiled again: %d parameters, want 11", again.Dim())
	}
	var e *infer.ParamError
	if _, err := p.Unconstrain(map[string][]float64{"late": {1}}, 0); !errors.As(err, &e) || e.Param != "late" {
		t.Errorf("late parameter: %v", err)
	}
}
