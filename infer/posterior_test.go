// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// line is y ~ Normal(a + b x, s).
func line(x, y []float64) *infer.Model {
	m := infer.NewModel("line")
	a := m.Param("a", dist.Normal(0, 10))
	b := m.Param("b", dist.Normal(0, 10))
	s := m.Param("s", dist.HalfNormal(1))
	m.Observe("y", dist.Normal(ad.Add(a, ad.Mul(b, m.Data("x", x))), s), y)
	return m
}

func at(t *testing.T, p *infer.Posterior, q []float64) (float64, []float64) {
	t.Helper()
	g := make([]float64, len(q))
	lp, err := p.LogProbGrad(q, g)
	if err != nil {
		t.Fatal(err)
	}
	return lp, g
}

func TestSetData(t *testing.T) {
	p := compiled(t, line([]float64{1, 2, 3}, []float64{2, 4, 5}))
	old := p.Clone().(*infer.Posterior)
	q := []float64{0.3, 1.4, -0.5}
	before, _ := at(t, old, q)
	for name, v := range map[string][]float64{"x": {0, 1, 5}, "y": {1, 1, 2}} {
		if err := p.SetData(name, v); err != nil {
			t.Fatal(err)
		}
	}
	fresh := compiled(t, line([]float64{0, 1, 5}, []float64{1, 1, 2}))
	lp, g := at(t, p, q)
	want, wantG := at(t, fresh, q)
	if lp != want || !reflect.DeepEqual(g, wantG) {
		t.Errorf("log density %v, %v, compiled afresh %v, %v", lp, g, want, wantG)
	}
	if p.Fingerprint() != fresh.Fingerprint() || p.Fingerprint() == old.Fingerprint() {
		t.Error("fingerprints do not follow the data")
	}
	if again, _ := at(t, old, q); again != before {
		t.Error("an earlier clone changed")
	}
	if clone, _ := at(t, p.Clone().(*infer.Posterior), q); clone != want {
		t.Error("a later clone has the old data")
	}
	for _, c := range []struct {
		name, word string
		values     []float64
	}{{"x", "2 values: want 3", []float64{1, 2}}, {"z", `no data "z"`, nil}, {"y", "y[1] is NaN", []float64{1, math.NaN(), 2}}} {
		if err := p.SetData(c.name, c.values); err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("SetData(%s, %v): error %v, want %q", c.name, c.values, err, c.word)
		}
	}
	if lp, _ := at(t, p, q); lp != want {
		t.Error("refused data were taken")
	}
}

// Data may move the ends of an observation's support past it.
func TestSetDataChecksSupport(t *testing.T) {
	m := infer.NewModel("box")
	m.Param("a", dist.Normal(0, 1))
	m.Observe("y", dist.Uniform(0, m.Data("top", []float64{2, 2})), []float64{1, 1.5})
	p := compiled(t, m)
	if err := p.SetData("top", []float64{2, 1}); err == nil || !strings.Contains(err.Error(), "y[1] is 1.5") {
		t.Errorf("error %v", err)
	}
}

func TestLogLik(t *testing.T) {
	x, y := []float64{1, 2, 3}, []float64{2, 4, 5}
	m := line(x, y)
	m.Observe("w", dist.Exponential(2), []float64{0.5})
	p := compiled(t, m)
	q := []float64{0.3, 1.4, -0.5}
	ll, err := p.LogLik(q)
	if err != nil || len(ll) != 4 {
		t.Fatalf("%v, %v", ll, err)
	}
	for i := range x {
		s := math.Exp(q[2])
		z := (y[i] - q[0] - q[1]*x[i]) / s
		if want := -z*z/2 - math.Log(s) - math.Log(2*math.Pi)/2; math.Abs(ll[i]-want) > 1e-12 {
			t.Errorf("observation %d: %g, want %g", i, ll[i], want)
		}
	}
	if want := math.Log(2) - 1; math.Abs(ll[3]-want) > 1e-12 {
		t.Errorf("w: %g, want %g", ll[3], want)
	}
	none := infer.NewModel("prior only")
	none.Param("a", dist.Normal(0, 1))
	if ll, err := compiled(t, none).LogLik([]float64{1}); err != nil || len(ll) != 0 {
		t.Errorf("no observations: %v, %v", ll, err)
	}
}

// Predictions have the moments of the distribution at the draw; the bound of 5 standard
// errors is passed by chance once in 1e6.
func TestPredict(t *testing.T) {
	m := line([]float64{1, 2, 3}, []float64{2, 4, 5})
	m.Observe("g", dist.Gamma(ad.Const([]float64{2, 8}), 2), []float64{1, 4})
	p := compiled(t, m)
	q := []float64{0.3, 1.4, -0.5}
	random := tensor.NewStream(5, 1, 0)
	const n = 4000
	for name, want := range map[string][][2]float64{ // mean and sd
		"y": {{1.7, math.Exp(-0.5)}, {3.1, math.Exp(-0.5)}, {4.5, math.Exp(-0.5)}},
		"g": {{1, math.Sqrt(0.5)}, {4, math.Sqrt(2)}},
	} {
		sum, sum2 := make([]float64, len(want)), make([]float64, len(want))
		for range n {
			v, err := p.Predict(name, q, &random)
			if err != nil || len(v) != len(want) {
				t.Fatalf("%s: %v, %v", name, v, err)
			}
			for i, x := range v {
				sum[i] += x / n
				sum2[i] += x * x / n
			}
		}
		for i, w := range want {
			sd := math.Sqrt(sum2[i] - sum[i]*sum[i])
			if math.Abs(sum[i]-w[0]) > 5*w[1]/math.Sqrt(n) || math.Abs(sd/w[1]-1) > 0.15 {
				t.Errorf("%s[%d]: %g +- %g, want %g +- %g", name, i, sum[i], sd, w[0], w[1])
			}
		}
	}
	if _, err := p.Predict("x", q, &random); err == nil {
		t.Error("predicted data that no distribution made")
	}
}

func TestUnconstrainErrors(t *testing.T) {
	m := infer.NewModel("bounds")
	a := m.Param("a", dist.Uniform(0, 1))
	m.Param("b", dist.Uniform(0, ad.Sub(ad.Scalar(1), a)))
	m.Param("c", dist.Uniform(ad.Const([]float64{0, 10}), m.Data("top", []float64{1, 20})), infer.Shape(2))
	m.Param("s", dist.HalfNormal(1))
	p := compiled(t, m)
	good := func() map[string][]float64 {
		return map[string][]float64{"a": {0.6}, "b": {0.3}, "c": {0.5, 15}, "s": {2}}
	}
	q, err := p.Unconstrain(good(), 0)
	out := make([]float64, p.Len())
	if err != nil || p.Write(q, out) != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.6, 0.3, 0.5, 15, 2} {
		if math.Abs(out[i]-want) > 1e-12 {
			t.Errorf("column %d is %g, want %g", i, out[i], want)
		}
	}
	for _, c := range []struct {
		param, word string
		values      []float64
	}{
		{"a", "strictly between 0 and 1", []float64{1}}, {"a", "strictly between", []float64{math.NaN()}},
		{"b", "between 0 and 0.4", []float64{0.5}}, {"c", "between 10 and 20", []float64{0.5, 9}},
		{"c", "1 value: want 2", []float64{1}}, {"s", "0", []float64{-1}}, {"s", "no value", nil}, {"sigma", "its parameters are [a b c s]", []float64{1}},
	} {
		v := good()
		if v[c.param] = c.values; c.values == nil {
			delete(v, c.param)
		}
		_, err := p.Unconstrain(v, 0)
		var e *infer.ParamError
		if !errors.As(err, &e) || e.Param != c.param || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s = %v: error %v, want %q", c.param, c.values, err, c.word)
		}
	}
	edge := map[string][]float64{"a": {1}, "b": {5}, "c": {0, 21}, "s": {0}}
	q, err = p.Unconstrain(edge, 1e-8)
	if err != nil || p.Write(q, out) != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1 - 1e-8, 1e-8, 1e-8, 20 - 1e-7, 1e-8} {
		if math.Abs(out[i]-want) > 2e-9*math.Max(1, want) {
			t.Errorf("nudged: column %d is %.12g, want %.12g", i, out[i], want)
		}
	}
}

func TestExplain(t *testing.T) {
	m := infer.NewModel("log of a line")
	a := m.Param("a", dist.Normal(0, 1))
	m.AddLogProb("wall", ad.Log(a))
	m.Observe("y", dist.Normal(ad.Sqrt(a), 1), []float64{1})
	p := compiled(t, m)
	if got := p.Explain([]float64{-1}); got != "term wall is NaN, likelihood of y is NaN" {
		t.Errorf("at -1: %q", got)
	}
	if got := p.Explain([]float64{1}); got != "" {
		t.Errorf("at 1: %q", got)
	}
	_, err := infer.Sample(t.Context(), p, infer.Settings{Chains: 1, Init: [][]float64{{-2}}})
	var e *infer.InitError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "term wall is NaN") {
		t.Errorf("sampled from -2: %v", err)
	}
}

// Everything a resumed run depends on changes the fingerprint; compiling again
// does not.
func TestFingerprint(t *testing.T) {
	build := func(name string, sd, factor float64, y ...float64) *infer.Posterior {
		m := infer.NewModel(name)
		a := m.Param("a", dist.Normal(0, sd))
		m.Deterministic("d", ad.Scale(factor, a))
		m.Observe("y", dist.Normal(a, 1), y)
		return compiled(t, m)
	}
	seen := map[string]string{}
	for what, p := range map[string]*infer.Posterior{
		"base": build("m", 10, 2, 1, 2), "name": build("n", 10, 2, 1, 2), "prior": build("m", 10.001, 2, 1, 2),
		"quantity": build("m", 10, 2.001, 1, 2), "data": build("m", 10, 2, 1, 2+1e-12), "length": build("m", 10, 2, 1, 2, 3),
	} {
		f := p.Fingerprint()
		if old, taken := seen[f]; taken {
			t.Errorf("%s and %s have the same fingerprint", what, old)
		}
		seen[f] = what
		if c := p.Clone().(*infer.Posterior); c.Fingerprint() != f {
			t.Errorf("%s: a clone has another fingerprint", what)
		}
	}
	if seen[build("m", 10, 2, 1, 2).Fingerprint()] != "base" {
		t.Error("compiled again, the fingerprint differs")
	}
}

// Clones share nothing that they write: run with -race.
func TestClonesAreIndependent(t *testing.T) {
	p := compiled(t, schools())
	var wait sync.WaitGroup
	results := make([][]float64, 8)
	for c := range results {
		wait.Add(1)
		go func() {
			defer wait.Done()
			own := p.Clone().(*infer.Posterior)
			random := tensor.NewStream(1, 1, uint32(c%2))
			q, g, out := make([]float64, 10), make([]float64, 10), make([]float64, own.Len())
			for range 50 {
				for i := range q {
					q[i] = random.Normal()
				}
				lp, err := own.LogProbGrad(q, g)
				if err == nil {
					err = own.Write(q, out)
				}
				if err != nil {
					t.Error(err)
					return
				}
				results[c] = append(append(append(results[c], lp), g...), out...)
			}
			if err := own.SetData("sd", make([]float64, 8)); err != nil {
				t.Error(err)
			}
		}()
	}
	wait.Wait()
	for c := range results {
		if !reflect.DeepEqual(results[c], results[c%2]) {
			t.Errorf("clone %d and clone %d disagree", c, c%2)
		}
	}
}

func TestLogProbAllocatesNothing(t *testing.T) {
	p := compiled(t, schools())
	q, g, out := make([]float64, 10), make([]float64, 10), make([]float64, p.Len())
	at(t, p, q)
	if err := p.Write(q, out); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		p.LogProbGrad(q, g)
		p.Write(q, out)
	}); n > 0 {
		t.Errorf("%g allocations per evaluation", n)
	}
}

// A matrix that stops being positive definite ends a trajectory, not the run.
func TestNotPositiveDefiniteIsARejectedPoint(t *testing.T) {
	m := infer.NewModel("correlation")
	r := m.Param("r", dist.Normal(0, 1)) // outside (-1, 1) there is no factor
	one := ad.Scalar(1)
	m.AddLogProb("factor", ad.CholeskyLogDet(ad.Cholesky(ad.Reshape(ad.Stack(0, one, r, r, one), 2, 2))))
	post := compiled(t, m)
	if _, err := post.LogProbGrad([]float64{1.5}, make([]float64, 1)); !errors.Is(err, infer.ErrReject) {
		t.Errorf("outside: %v, want a rejected point", err)
	}
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Chains: 2, Warmup: 200, Draws: 200, Seed: 1, InitRadius: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range fit.Draws("r") {
		for _, v := range c {
			if math.Abs(v) >= 1 {
				t.Fatalf("a draw of %g", v)
			}
		}
	}
}

// A fit makes its table once, and what a caller does to it changes nothing.
func TestSummaryIsKept(t *testing.T) {
	m := infer.NewModel("normal")
	m.Observe("y", dist.Normal(m.Param("mu", dist.Normal(0, 1)), 1), []float64{0, 1})
	fit, err := infer.Sample(t.Context(), compiled(t, m), infer.Settings{Seed: 1, Chains: 2, Warmup: 100, Draws: 100})
	if err != nil {
		t.Fatal(err)
	}
	first := fit.Summary()
	want := first.Rows[0]
	first.Rows[0].Mean, first.Rows[0].Name = 7, "changed"
	wide := fit.Summarize(diag.Settings{CI: 0.99})
	if wide.Prob != 0.99 || !(wide.Rows[0].CI.Low < want.CI.Low) {
		t.Errorf("other settings give %+v", wide)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if s := fit.Summary(); s.Rows[0].Mean != want.Mean || s.Rows[0].Name != "mu" || s.Prob != 0.89 || s.Draws != 100 || s.Chains != 2 {
				t.Errorf("the second summary is %+v", s)
			}
		})
	}
	all.Wait()
}
