// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
)

// hierarchy is the hierarchy of eight schools over a named axis.
func hierarchy(m *infer.Model, options ...infer.Option) infer.Dim {
	school := m.Dim("school", "A", "B", "C", "D", "E", "F", "G", "H")
	mu := m.Param("mu", dist.Normal(0, 5))
	tau := m.Param("tau", dist.HalfCauchy(5))
	theta := m.Param("theta", dist.Normal(mu, tau), append(options, infer.Over(school))...)
	m.Observe("y", dist.Normal(theta, m.Data("sd", schoolSD, infer.Over(school))), schoolY, infer.Over(school))
	return school
}

func sampled(t testing.TB, target infer.Target, c infer.Settings) *infer.Fit {
	t.Helper()
	fit, err := infer.Sample(context.Background(), target, c)
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

// The non-centred form is the same posterior in other coordinates: the same log
// prior up to the Jacobian sum(log tau), and moments within 5 standard errors of
// posteriordb's.
func TestNonCentredSchools(t *testing.T) {
	m := infer.NewModel("schools")
	hierarchy(m, infer.NonCentred())
	post := compiled(t, m)
	c := infer.NewModel("centred")
	hierarchy(c)
	centred := compiled(t, c)
	q, g := make([]float64, 10), make([]float64, 10)
	for i := range q {
		q[i] = float64(i%5)/3 - 0.5
	}
	lp, err := post.LogProbGrad(q, g)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, post.Len())
	if err := post.Write(q, row); err != nil {
		t.Fatal(err)
	}
	u, err := centred.Unconstrain(map[string][]float64{"mu": row[:1], "tau": row[1:2], "theta": row[2:]}, 0)
	if err != nil {
		t.Fatal(err)
	}
	other, err := centred.LogProbGrad(u, g)
	if want := other + 8*math.Log(row[1]); err != nil || math.Abs(lp-want) > 1e-11*math.Abs(want) {
		t.Errorf("log density %.15g, want %.15g (%v)", lp, want, err)
	}
	back, err := post.Unconstrain(map[string][]float64{"mu": row[:1], "tau": row[1:2], "theta": row[2:]}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range q {
		if math.Abs(back[i]-q[i]) > 1e-12 {
			t.Errorf("coordinate %d comes back as %g, was %g", i, back[i], q[i])
		}
	}
	fit := sampled(t, post, infer.Settings{Seed: 3})
	if !slices.Contains(fit.Names(), "theta[H]") {
		t.Errorf("columns %v: want theta by school", fit.Names())
	}
	for name, want := range map[string][2]float64{"mu": {4.36, 3.32}, "tau": {3.59, 3.22}, "theta[A]": {6.19, 5.62}} { // posteriordb
		r := fit.Summary().Row(name)
		if z := (r.Mean - want[0]) / r.MCSEMean; math.Abs(z) > 5 || math.Abs(r.SD-want[1]) > 5*r.MCSESD+0.01 {
			t.Errorf("%s is %.3f +- %.3f, want %v (%.1f standard errors)", name, r.Mean, r.SD, want, z)
		}
	}
}

// Draws from the prior follow it: chi-square sized deviations of mean and spread.
func TestPrior(t *testing.T) {
	m := infer.NewModel("prior")
	g := m.DimLen("group", 3)
	mu := m.Param("mu", dist.Normal(2, 1))
	s := m.Param("s", dist.Uniform(0, 2))
	theta := m.Param("theta", dist.Normal(mu, 0.5), infer.Over(g), infer.NonCentred())
	m.Deterministic("double", ad.Scale(2, theta), infer.Over(g))
	m.Observe("y", dist.Normal(theta, s), []float64{1, 2, 3}, infer.Over(g))
	sim, err := compiled(t, m).Prior(4000, 9)
	if err != nil {
		t.Fatal(err)
	}
	if got := sim.Names(); !slices.Equal(got, []string{"mu", "s", "theta", "double", "y"}) || sim.Len() != 4000 {
		t.Fatalf("arrays %v, %d draws", got, sim.Len())
	}
	// Variances: 1, 1/3, 1 + 1/4, four times that, and + E s^2 = 4/3.
	for name, want := range map[string][2]float64{"mu": {2, 1}, "s": {1, 1.0 / 3}, "theta": {2, 1.25}, "double": {4, 5}, "y": {2, 1.25 + 4.0/3}} {
		var sum, sq float64
		for _, v := range sim.Values(name) {
			sum += v[len(v)-1]
		}
		mean := sum / 4000
		for _, v := range sim.Values(name) {
			sq += (v[len(v)-1] - mean) * (v[len(v)-1] - mean)
		}
		if sd := math.Sqrt(want[1] / 4000); math.Abs(mean-want[0]) > 4.5*sd {
			t.Errorf("mean of %s is %g, want %g +- %g", name, mean, want[0], sd)
		}
		if v := sq / 3999; math.Abs(v/want[1]-1) > 0.15 {
			t.Errorf("variance of %s is %g, want %g", name, v, want[1])
		}
	}
	flat := infer.NewModel("flat")
	flat.Flat("w", dist.IdentityTransform())
	if _, err := compiled(t, flat).Prior(1, 1); err == nil || !strings.Contains(err.Error(), "w of model flat has no prior") {
		t.Errorf("a flat parameter: %v", err)
	}
}

// Conditioning a normal hierarchy gives what the algebra gives.
func TestCondition(t *testing.T) {
	m := infer.NewModel("condition")
	mu := m.Param("mu", dist.Normal(0, 10))
	tau := m.Param("tau", dist.HalfNormal(1))
	m.Observe("y", dist.Normal(mu, tau), []float64{1, 2, 6})
	post := compiled(t, m)
	if err := post.SetData("y", []float64{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	given, err := post.Condition(map[string][]float64{"tau": {2}})
	if err != nil {
		t.Fatal(err)
	}
	if got := given.Names(); !slices.Equal(got, []string{"mu"}) {
		t.Fatalf("parameters %v, want mu", got)
	}
	at := func(p *infer.Posterior, q ...float64) float64 {
		lp, err := p.LogProbGrad(q, make([]float64, len(q)))
		if err != nil {
			t.Fatal(err)
		}
		return lp
	}
	// Up to the Jacobian log 2 the same joint density.
	if got, want := at(given, 0.7), at(post, 0.7, math.Ln2)-math.Ln2; math.Abs(got-want) > 1e-12 {
		t.Errorf("log density %g, want %g", got, want)
	}
	fit := sampled(t, given, infer.Settings{Seed: 1})
	precision := 1.0/100 + 3.0/4
	r := fit.Summary().Row("mu")
	if want := 6.0 / 4 / precision; math.Abs(r.Mean-want) > 5*r.MCSEMean || math.Abs(r.SD-1/math.Sqrt(precision)) > 5*r.MCSESD {
		t.Errorf("mu is %g +- %g, want %g +- %g", r.Mean, r.SD, want, 1/math.Sqrt(precision))
	}
	if _, err := post.Condition(map[string][]float64{"sigma": {1}}); err == nil || !strings.Contains(err.Error(), "its parameters are [mu tau]") {
		t.Errorf("an unknown parameter: %v", err)
	}
	if _, err := post.Condition(map[string][]float64{"tau": {1, 2}}); err == nil {
		t.Error("two values for one parameter: no error")
	}
	out, err := post.Condition(map[string][]float64{"tau": {2}, "mu": {1}})
	if err != nil || out.Dim() != 0 {
		t.Errorf("all fixed: %v", err)
	}
}

// Missing values are drawn from their distribution; masked ones leave no trace.
func TestMissingAndMasked(t *testing.T) {
	y := []float64{1, math.NaN(), 3, math.NaN(), 2}
	build := func(values []float64, o ...infer.Option) *infer.Posterior {
		m := infer.NewModel("missing")
		mu := m.Param("mu", dist.Normal(0, 10))
		m.Observe("y", dist.Normal(mu, 1), values, o...)
		return compiled(t, m)
	}
	plain := build([]float64{1, 3, 2})
	masked := build(y, infer.Mask([]bool{true, false, true, false, true}))
	for _, q := range []float64{-1, 0, 2.5} {
		g, h := make([]float64, 1), make([]float64, 1)
		a, err := plain.LogProbGrad([]float64{q}, g)
		if err != nil {
			t.Fatal(err)
		}
		b, err := masked.LogProbGrad([]float64{q}, h)
		if err != nil || math.Abs(a-b) > 1e-12 || math.Abs(g[0]-h[0]) > 1e-12 {
			t.Errorf("masked: %g %v, want %g %v (%v)", b, h, a, g, err)
		}
	}
	if ll, err := masked.LogLik([]float64{0}); err != nil || len(ll) != 3 {
		t.Errorf("%d terms of the masked likelihood, want 3 (%v)", len(ll), err)
	}
	imputed := build(y, infer.Impute())
	if got := imputed.Names(); !slices.Equal(got, []string{"mu", "y_missing[0]", "y_missing[1]"}) {
		t.Fatalf("parameters %v", got)
	}
	fit := sampled(t, imputed, infer.Settings{Seed: 5})
	for name, want := range map[string][2]float64{"mu": {6 / 3.01, math.Sqrt(1 / 3.01)}, "y_missing[1]": {6 / 3.01, math.Sqrt(1 + 1/3.01)}} {
		r := fit.Summary().Row(name)
		if math.Abs(r.Mean-want[0]) > 5*r.MCSEMean || math.Abs(r.SD-want[1]) > 5*r.MCSESD {
			t.Errorf("%s is %g +- %g, want %v", name, r.Mean, r.SD, want)
		}
	}
	ll, err := fit.LogLik("y")
	if err != nil || len(ll[0][0]) != 3 {
		t.Errorf("terms of the likelihood with missing values: %v", err)
	}
	m := infer.NewModel("faulty")
	m.Observe("y", dist.Normal(0, 1), []float64{1, math.NaN()}, infer.Mask([]bool{true}))
	if _, err := m.Compile(); err == nil || !strings.Contains(err.Error(), "the mask has length 1 for 2 values") {
		t.Errorf("a short mask: %v", err)
	}
}

// Replicas of the data cover the data, and the same call gives the same ones.
func TestPosteriorPredictive(t *testing.T) {
	m := infer.NewModel("schools")
	hierarchy(m, infer.NonCentred())
	fit := sampled(t, compiled(t, m), infer.Settings{Seed: 3})
	a, err := fit.PosteriorPredictive("y")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := fit.PosteriorPredictive("y")
	if !slices.Equal(a[2][17], b[2][17]) || slices.Equal(a[2][17], a[1][17]) {
		t.Error("replicas are not a function of chain and draw")
	}
	for place, y := range schoolY {
		var all []float64
		for _, chain := range a {
			for _, draw := range chain {
				all = append(all, draw[place])
			}
		}
		slices.Sort(all)
		if lo, hi := diag.Quantile(all, 0.005), diag.Quantile(all, 0.995); y < lo || y > hi {
			t.Errorf("y[%d] = %g lies outside its predictive interval %g to %g", place, y, lo, hi)
		}
	}
	if _, err := fit.PosteriorPredictive("z"); err == nil || !strings.Contains(err.Error(), "the observations are [y]") {
		t.Errorf("an unknown observation: %v", err)
	}
}

// Labelled arrays hold the same numbers as the Fit.
func TestData(t *testing.T) {
	m := infer.NewModel("schools")
	hierarchy(m, infer.NonCentred())
	fit := sampled(t, compiled(t, m), infer.Settings{Seed: 3, Draws: 50, Warmup: 100, KeepWarmup: true})
	tree, err := fit.Data(infer.DataSettings{Predictive: true, Prior: 30})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range tree.Groups() {
		names = append(names, g.Name)
	}
	want := []string{"posterior", "sample_stats", "warmup_posterior", "warmup_sample_stats", "log_likelihood", "observed_data",
		"constant_data", "posterior_predictive", "prior", "prior_predictive"}
	if !slices.Equal(names, want) {
		t.Errorf("groups %v, want %v", names, want)
	}
	post, err := tree.Group("posterior")
	if err != nil {
		t.Fatal(err)
	}
	columns, x := post.Draws()
	if !slices.Equal(columns, fit.Names()) {
		t.Errorf("columns %v, want %v", columns, fit.Names())
	}
	for i, c := range columns {
		if !slices.Equal(x[i][3], fit.Draws(c)[3]) {
			t.Errorf("draws of %s differ", c)
		}
	}
	if v := post.Var("theta"); !slices.Equal(v.Dims, []string{"chain", "draw", "school"}) || !slices.Equal(v.Shape, []int{4, 50, 8}) {
		t.Errorf("theta has axes %v of %v", v.Dims, v.Shape)
	}
	stats, _ := tree.Group("sample_stats")
	if got := stats.Stat("energy"); !slices.Equal(got[1], fit.Stat("energy")[1]) {
		t.Error("energies differ")
	}
	if stats.Var("diverging").DType() != "bool" || stats.Var("n_steps").DType() != "int64" {
		t.Error("statistics have wrong types")
	}
}

// Mistakes with axes, options and distributions, and what Compile says of them.
func TestMoreModelMistakes(t *testing.T) {
	for _, c := range []struct {
		build func(m *infer.Model)
		word  string
	}{
		{func(m *infer.Model) { m.Param("a", dist.Normal(0, 1), infer.Over(m.DimLen("a", 3))) }, `name "a" already belongs to a dimension`},
		{func(m *infer.Model) { m.Param("a", dist.Normal(0, 1), infer.Over(m.Dim("draw", "x"))) }, "the name of an axis of the draws"},
		{func(m *infer.Model) { m.Param("a", dist.Normal(0, 1), infer.Over(m.Dim("empty"))) }, "has length 0"},
		{func(m *infer.Model) { m.Param("a", dist.Gamma(2, 1), infer.NonCentred()) }, "gamma has no non-centred form"},
		{func(m *infer.Model) {
			m.Param("a", dist.Normal(0, 1))
			m.Data("x", []float64{1}, infer.Over(m.DimLen("k", 2)))
		}, "has 1 value, but its shape is [2]"},
		{func(m *infer.Model) { m.Param("k", dist.Geometric(m.Param("p", dist.Beta(1, 1)))) }, "parameter k is discrete (geometric)"},
		{func(m *infer.Model) {
			m.Observe("k", dist.Poisson(m.Param("a", dist.HalfNormal(1))), []float64{1, 2.5})
		}, "k[1] is 2.5, but poisson has integer values"},
		{func(m *infer.Model) {
			m.Observe("k", dist.Poisson(m.Param("a", dist.HalfNormal(1))), []float64{1, math.NaN()}, infer.Impute())
		}, "missing value of the discrete poisson"},
		{func(m *infer.Model) { m.Deterministic("d", m.Param("a", dist.Normal(0, 1)), infer.Shape(2)) }, "quantity d has shape"},
	} {
		m := infer.NewModel("faulty")
		c.build(m)
		if _, err := m.Compile(); err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("error %v, want %q", err, c.word)
		}
	}
}

// Starts from the priors are spread as these are.
func TestPriorStarts(t *testing.T) {
	m := infer.NewModel("schools")
	hierarchy(m, infer.NonCentred())
	post := compiled(t, m)
	starts, err := post.PriorStarts(400, 1)
	if err != nil {
		t.Fatal(err)
	}
	var mu, tau []float64
	for _, q := range starts {
		mu, tau = append(mu, q[0]), append(tau, math.Exp(q[1]))
	}
	slices.Sort(tau)
	if sd := diag.SD(mu); math.Abs(sd-5) > 0.9 || math.Abs(diag.Quantile(tau, 0.5)-5) > 1.6 {
		t.Errorf("mu has sd %g, tau median %g: want 5 and 5", sd, diag.Quantile(tau, 0.5))
	}
	if fit := sampled(t, post, infer.Settings{Seed: 1, Init: starts[:4]}); !(fit.Summary().MaxRHat() < 1.02) {
		t.Errorf("R-hat %g", fit.Summary().MaxRHat())
	}
}

// Every distribution with a non-centred form: the same density in other coordinates, but
// for the Jacobian n log(scale), and the way back.
func TestNonCentredForms(t *testing.T) {
	distributions := map[string]func(loc, scale *ad.Node) dist.Dist{
		"normal":    func(a, b *ad.Node) dist.Dist { return dist.Normal(a, b) },
		"lognormal": func(a, b *ad.Node) dist.Dist { return dist.LogNormal(a, b) },
		"cauchy":    func(a, b *ad.Node) dist.Dist { return dist.Cauchy(a, b) },
		"laplace":   func(a, b *ad.Node) dist.Dist { return dist.Laplace(a, b) },
		"logistic":  func(a, b *ad.Node) dist.Dist { return dist.Logistic(a, b) },
		"gumbel":    func(a, b *ad.Node) dist.Dist { return dist.Gumbel(a, b) },
		"studentt":  func(a, b *ad.Node) dist.Dist { return dist.StudentT(4, a, b) },
	}
	for name, distribution := range distributions {
		build := func(o ...infer.Option) *infer.Posterior {
			m := infer.NewModel(name)
			loc, scale := m.Param("loc", dist.Normal(0, 2)), m.Param("scale", dist.HalfNormal(1))
			m.Param("x", distribution(loc, scale), append(o, infer.Shape(3))...)
			return compiled(t, m)
		}
		centred, free := build(), build(infer.NonCentred())
		q, row := []float64{0.4, -0.3, 0.5, -1.2, 2}, make([]float64, 5)
		if err := free.Write(q, row); err != nil {
			t.Fatal(err)
		}
		values := map[string][]float64{"loc": row[:1], "scale": row[1:2], "x": row[2:]}
		u, err := centred.Unconstrain(values, 0)
		if err != nil {
			t.Fatal(err)
		}
		g := make([]float64, 5)
		want, err := centred.LogProbGrad(u, g)
		if err != nil {
			t.Fatal(err)
		}
		want += 3 * math.Log(row[1])
		if got, err := free.LogProbGrad(q, g); err != nil || math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("%s: log density %.15g, want %.15g (%v)", name, got, want, err)
		}
		back, err := free.Unconstrain(values, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range q {
			if math.Abs(back[i]-q[i]) > 1e-12 {
				t.Errorf("%s: coordinate %d comes back as %g, was %g", name, i, back[i], q[i])
			}
		}
	}
}

// A reparametrisation by a function: x = exp(z) is lognormal.
func TestReparam(t *testing.T) {
	m := infer.NewModel("reparam")
	m.Param("x", dist.LogNormal(0, 0.5), infer.Reparam(dist.Normal(0, 1), func(z *ad.Node) *ad.Node { return ad.Exp(ad.Scale(0.5, z)) }))
	post := compiled(t, m)
	r := sampled(t, post, infer.Settings{Seed: 1}).Summary().Row("x")
	if want := math.Exp(0.125); math.Abs(r.Mean-want) > 5*r.MCSEMean {
		t.Errorf("x has mean %g, want %g", r.Mean, want)
	}
	if _, err := post.Unconstrain(map[string][]float64{"x": {1}}, 0); err == nil || !strings.Contains(err.Error(), "without an inverse") {
		t.Errorf("Unconstrain: %v", err)
	}
}
