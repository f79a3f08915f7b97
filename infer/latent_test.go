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

// enumerated is a model with discrete parameters, and the same model with them as data.
type enumerated struct {
	name string
	// build declares the continuous parameters and returns what label gives it.
	build func(m *infer.Model, label func(name string, prior dist.Dist, n int) *ad.Node)
	// labels are the names of the discrete parameters with the number of their elements and values, and the smallest.
	labels []enumeratedLabel
}

type enumeratedLabel struct {
	name           string
	n, values, low int
}

func pickOf(x, z *ad.Node) *ad.Node { return ad.Gather(x, ad.FloorIndex(z), 0) }

var enumeratedModels = []enumerated{
	{"a mixture of two components", func(m *infer.Model, label func(string, dist.Dist, int) *ad.Node) {
		mu := m.Param("mu", dist.Normal(0, 3), infer.Shape(2))
		p := m.Param("p", dist.Beta(2, 2))
		z := label("z", dist.Bernoulli(p), 5)
		m.Observe("y", dist.Normal(pickOf(mu, z), ad.Exp(z)), []float64{-1, 0.5, 2, 2.5, -0.3})
	}, []enumeratedLabel{{"z", 5, 2, 0}}},
	{"groups of observations with categories", func(m *infer.Model, label func(string, dist.Dist, int) *ad.Node) {
		mu := m.Param("mu", dist.Normal(0, 3), infer.Shape(3))
		w := m.Param("w", dist.Dirichlet([]float64{1, 2, 3}))
		z := label("z", dist.Categorical(w), 3)
		of := ad.Gather(z, ad.Ints([]int{2, 0, 1, 1, 2, 0}), 0)
		m.Observe("y", dist.Normal(pickOf(mu, of), 0.7), []float64{-1, 0.5, 2, 2.5, -0.3, 1})
	}, []enumeratedLabel{{"z", 3, 3, 0}}},
	{"occupied places, and counts of animals", func(m *infer.Model, label func(string, dist.Dist, int) *ad.Node) {
		lambda, p := m.Param("lambda", dist.Gamma(2, 1)), m.Param("p", dist.Beta(2, 2))
		there := label("there", dist.Bernoulli(0.6), 2)
		n := label("n", dist.Truncate(dist.Poisson(lambda), nil, 4), 2)
		m.Observe("y", dist.Binomial(4, ad.Mul(there, ad.Mul(p, ad.Scale(0.25, n)))), []float64{0, 2})
	}, []enumeratedLabel{{"there", 2, 2, 0}, {"n", 2, 5, 0}}},
	{"a change at one of the times, with labels", func(m *infer.Model, label func(string, dist.Dist, int) *ad.Node) {
		mu := m.Param("mu", dist.Normal(0, 3), infer.Shape(2))
		change := label("change", dist.DiscreteUniform(1, 4), 1)
		odd := label("odd", dist.Bernoulli(0.1), 5)
		level := ad.Where(ad.Less(ad.Const([]float64{0, 1, 2, 3, 4}), ad.Reshape(change)), ad.Index(mu, 0, 0), ad.Index(mu, 0, 1))
		m.Observe("y", dist.Normal(level, ad.Where(odd, ad.Scalar(5), ad.Scalar(1))), []float64{-1, 0.5, 2, 2.5, 9})
	}, []enumeratedLabel{{"change", 1, 4, 1}, {"odd", 5, 2, 0}}},
	{"a hidden Markov chain with labels", func(m *infer.Model, label func(string, dist.Dist, int) *ad.Node) {
		mu := m.Param("mu", dist.Normal(0, 3), infer.Shape(2))
		stay := m.Param("stay", dist.Beta(3, 1))
		leave := ad.Sub(ad.Scalar(1), stay)
		z := label("z", infer.MarkovChain([]float64{0.3, 0.7}, ad.Reshape(ad.Stack(0, stay, leave, ad.Scalar(0.2), ad.Scalar(0.8)), 2, 2)), 5)
		odd := label("odd", dist.Bernoulli(0.1), 5)
		m.Observe("y", dist.Normal(pickOf(mu, z), ad.Where(odd, ad.Scalar(5), ad.Scalar(1))), []float64{-1, 0.5, 2, 2.5, 9})
	}, []enumeratedLabel{{"z", 5, 2, 0}, {"odd", 5, 2, 0}}},
}

// compiled returns the model with its discrete parameters summed out, and with them as data.
func (e enumerated) compiled(t *testing.T) (summed, given *infer.Posterior) {
	t.Helper()
	shape := func(n int) infer.Option {
		if n == 1 {
			return infer.Shape()
		}
		return infer.Shape(n)
	}
	m := infer.NewModel(e.name)
	e.build(m, func(name string, prior dist.Dist, n int) *ad.Node { return m.Param(name, prior, shape(n)) })
	summed, err := m.Compile()
	if err != nil {
		t.Fatalf("%s: %v", e.name, err)
	}
	d := infer.NewModel(e.name)
	e.build(d, func(name string, prior dist.Dist, n int) *ad.Node {
		z := d.Flat(name, dist.IdentityTransform(), shape(n))
		d.AddLogProb("of "+name, prior.LogProb(z))
		return z
	})
	if given, err = d.Compile(); err != nil {
		t.Fatalf("%s: %v", e.name, err)
	}
	return summed, given
}

// place returns a draw of the model with its discrete parameters given, and the places of the others in it.
func (e enumerated) place(given *infer.Posterior, q []float64, z [][]float64) (all []float64, others []int) {
	for _, name := range given.Coordinates() {
		base, _, _ := strings.Cut(name, "[")
		k := slices.IndexFunc(e.labels, func(l enumeratedLabel) bool { return l.name == base })
		if k >= 0 {
			all, z[k] = append(all, z[k][0]), z[k][1:]
			continue
		}
		others = append(others, len(all))
		all = append(all, q[len(others)-1])
	}
	return all, others
}

// each calls f with all values of the discrete parameters, in a row for each.
func (e enumerated) each(f func(z [][]float64)) {
	var z [][]float64
	for _, l := range e.labels {
		z = append(z, make([]float64, l.n))
	}
	var set func(k, i int)
	set = func(k, i int) {
		switch {
		case k == len(z):
			f(z)
		case i == len(z[k]):
			set(k+1, 0)
		default:
			for v := range e.labels[k].values {
				z[k][i] = float64(e.labels[k].low + v)
				set(k, i+1)
			}
		}
	}
	set(0, 0)
}

// Log densities, gradients, log-likelihoods and probabilities against the sum over all values of the discrete parameters.
func TestDiscreteParametersAreSummedOut(t *testing.T) {
	for _, e := range enumeratedModels {
		summed, given := e.compiled(t)
		n := summed.Dim()
		q, g, one := make([]float64, n), make([]float64, n), make([]float64, given.Dim())
		for i := range q {
			q[i] = math.Sin(float64(3*i + 1))
		}
		total, want, size, low := 0.0, make([]float64, n), 0, math.Inf(1)
		var logs []float64
		logLik := map[int]float64{}
		e.each(func(z [][]float64) {
			at, others := e.place(given, q, slices.Clone(z))
			lp, err := given.LogProbGrad(at, one)
			if err != nil {
				t.Fatal(err)
			}
			logs = append(logs, lp)
			if w := math.Exp(lp); w > 0 {
				total += w
				for i, k := range others {
					want[i] += w * one[k]
				}
				ll, err := given.LogLik(at)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range ll {
					logLik[i] += math.Exp(lp - v)
				}
				low = min(low, lp)
			}
			size++
		})
		lp, err := summed.LogProbGrad(q, g)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(lp-math.Log(total)) > 1e-11*math.Abs(lp) {
			t.Errorf("%s: the log density is %.15g, but the sum over %d values is %.15g", e.name, lp, size, math.Log(total))
		}
		for i, v := range want {
			if math.Abs(g[i]-v/total) > 1e-10*(1+math.Abs(g[i])) {
				t.Errorf("%s: derivative %d is %.12g, but that of the sum is %.12g", e.name, i, g[i], v/total)
			}
		}
		ll, err := summed.LogLik(q)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range ll {
			if rest := math.Log(total) - math.Log(logLik[i]); math.Abs(v-rest) > 1e-9 && e.name != "occupied places, and counts of animals" {
				t.Errorf("%s: the log-likelihood of value %d is %.12g, want %.12g", e.name, i, v, rest)
			}
		}
	}
}

// The log-likelihood of a value is a distribution of the value given the others, also where some labels make it impossible.
func TestLogLikWithoutLabels(t *testing.T) {
	summed, _ := enumeratedModels[2].compiled(t)
	for i := range 2 {
		total := 0.0
		for y := range 5 {
			data := []float64{0, 2}
			data[i] = float64(y)
			if err := summed.SetData("y", data); err != nil {
				t.Fatal(err)
			}
			ll, err := summed.LogLik([]float64{0.3, -0.2})
			if err != nil {
				t.Fatal(err)
			}
			total += math.Exp(ll[i])
		}
		if math.Abs(total-1) > 1e-12 {
			t.Errorf("the probabilities of value %d given the other sum to %.15g, want 1", i, total)
		}
	}
}

// Probabilities of labels, and the most probable values, against the sum over all values.
func TestDrawnLabels(t *testing.T) {
	for _, e := range enumeratedModels {
		summed, given := e.compiled(t)
		q := make([]float64, summed.Dim())
		fit, err := infer.Sample(context.Background(), summed, infer.Settings{Chains: 1, Draws: 2, Warmup: 10, Independent: true})
		if err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
		want := map[string][][]float64{}
		for _, l := range e.labels {
			for range l.n {
				want[l.name] = append(want[l.name], make([]float64, l.values))
			}
		}
		highest, joint := math.Inf(-1), map[string][]float64{}
		for i := range fit.Len(0) {
			copy(q, fit.Unconstrained(0, i))
			var logs []float64
			var all [][][]float64
			e.each(func(z [][]float64) {
				var copied [][]float64
				for _, values := range z {
					copied = append(copied, slices.Clone(values))
				}
				at, _ := e.place(given, q, slices.Clone(z))
				lp, err := given.LogProbGrad(at, make([]float64, len(at)))
				if err != nil {
					t.Fatal(err)
				}
				logs, all = append(logs, lp), append(all, copied)
				if lp > highest {
					highest = lp
					for k, l := range e.labels {
						joint[l.name] = copied[k]
					}
				}
			})
			total := 0.0
			for _, v := range logs {
				total += math.Exp(v)
			}
			for c, v := range logs {
				for k, l := range e.labels {
					for j, z := range all[c][k] {
						want[l.name][j][int(z)-l.low] += math.Exp(v) / total / float64(fit.Len(0))
					}
				}
			}
		}
		for _, l := range e.labels {
			got, err := fit.Labels(l.name)
			if err != nil {
				t.Fatal(err)
			}
			for j := range want[l.name] {
				for v, p := range want[l.name][j] {
					if math.Abs(got.Probabilities[j][v]-p) > 1e-9 {
						t.Errorf("%s: the probability that %s[%d] is %g is %.10g, want %.10g", e.name, l.name, j, got.Values[v], got.Probabilities[j][v], p)
					}
				}
				if got.Joint[j] != joint[l.name][j] {
					t.Errorf("%s: the most probable values of %s are %v, want %v", e.name, l.name, got.Joint, joint[l.name])
				}
			}
		}
	}
}

// Drawn labels have their probabilities, and belong to their draw.
func TestLabelsFollowTheirDraws(t *testing.T) {
	e := enumeratedModels[4]
	summed, _ := e.compiled(t)
	fit, err := infer.Sample(context.Background(), summed, infer.Settings{Chains: 1, Draws: 1500, Warmup: 100, Independent: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"z", "odd"} {
		l, err := fit.Labels(name)
		if err != nil {
			t.Fatal(err)
		}
		for j := range l.Probabilities {
			share := 0.0
			for _, v := range fit.Draws(name + "[" + string(rune('0'+j)) + "]")[0] {
				share += v / 1500
			}
			if p := l.Probabilities[j][1]; math.Abs(share-p) > 4*math.Sqrt(p*(1-p)/1500)+1e-3 {
				t.Errorf("%s[%d] is 1 in a share of %.3f of the draws, want %.3f", name, j, share, p)
			}
		}
	}
	row := make([]float64, summed.Len())
	if err := summed.Write(fit.Unconstrained(0, 7), row); err != nil {
		t.Fatal(err)
	}
	for i, v := range row {
		if v != fit.Row(0, 7)[i] {
			t.Errorf("column %s is %g when it is asked for again, and was %g", summed.Names()[i], v, fit.Row(0, 7)[i])
		}
	}
}

// What cannot be summed out is told.
func TestDiscreteParametersThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		want  string
		build func(m *infer.Model)
	}{
		{"more than one element of the discrete parameter z", func(m *infer.Model) {
			z := m.Param("z", dist.Bernoulli(0.5), infer.Shape(8))
			m.Observe("y", dist.Normal(ad.Sum(z), 1), []float64{3})
		}},
		{"no largest and smallest value", func(m *infer.Model) {
			n := m.Param("n", dist.Poisson(m.Param("lambda", dist.Gamma(2, 1))))
			m.Observe("y", dist.Binomial(n, 0.5), []float64{3})
		}},
		{"numbers and", func(m *infer.Model) {
			a, b := m.Param("a", dist.DiscreteUniform(0, 999)), m.Param("b", dist.DiscreteUniform(0, 999))
			m.Observe("y", dist.Normal(ad.Add(a, b), 1), []float64{3, 4})
		}},
		{"depend on the discrete parameter z", func(m *infer.Model) {
			z := m.Param("z", dist.Bernoulli(0.5))
			x := m.Param("x", dist.Uniform(z, 2))
			m.Observe("y", dist.Normal(x, 1), []float64{3})
		}},
		{"declare a parameter for each sequence", func(m *infer.Model) {
			z := m.Param("z", infer.MarkovChain([]float64{0.5, 0.5}, ad.Const([]float64{0.5, 0.5, 0.5, 0.5}, 2, 2)), infer.Shape(2, 3))
			m.Observe("y", dist.Normal(z, 1), make([]float64, 6), infer.Shape(2, 3))
		}},
		{"want (K), and (K, K)", func(m *infer.Model) {
			m.Param("z", infer.MarkovChain([]float64{0.5, 0.5}, ad.Const([]float64{0.5, 0.5}, 2)), infer.Shape(3))
		}},
	} {
		m := infer.NewModel("refused")
		c.build(m)
		if _, err := m.Compile(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("the error is %v, want one about %q", err, c.want)
		}
	}
}

// switching is a series whose mean switches between two values.
func switching(t *testing.T) *infer.Posterior {
	t.Helper()
	m := infer.NewModel("switching")
	low := m.Param("low", dist.Normal(-2, 1))
	high := m.Param("high", dist.Normal(2, 1))
	stay := m.Param("stay", dist.Beta(8, 2))
	leave := ad.Sub(ad.Scalar(1), stay)
	z := m.Param("z", infer.MarkovChain([]float64{0.5, 0.5}, ad.Reshape(ad.Stack(0, stay, leave, leave, stay), 2, 2)), infer.Over(m.DimLen("t", 8)))
	m.Deterministic("last", ad.Index(z, 0, 7))
	m.Observe("y", dist.Normal(ad.Where(z, high, low), 1), []float64{-2, -1.5, -2.5, 2.2, 1.8, 2.5, -1, -2})
	return compiled(t, m)
}

// Priors, conditioning, lock step and verdicts of a model with discrete parameters.
func TestModelsWithDiscreteParameters(t *testing.T) {
	post := switching(t)
	sim, err := post.Prior(2000, 3)
	if err != nil {
		t.Fatal(err)
	}
	same, stays := 0.0, 0.0
	for i, z := range sim.Values("z") {
		stays += sim.Values("stay")[i][0] / 2000
		if z[3] == z[4] {
			same += 1.0 / 2000
		}
		if z[7] != sim.Values("last")[i][0] {
			t.Fatalf("the last state is %g in the draw %v", sim.Values("last")[i][0], z)
		}
	}
	if math.Abs(same-stays) > 0.04 {
		t.Errorf("states stay in a share of %.3f of the prior draws, want %.3f", same, stays)
	}

	given, err := post.Condition(map[string][]float64{"z": {0, 0, 0, 1, 1, 1, 0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	g := make([]float64, 3)
	at, err := given.LogProbGrad([]float64{-2, 2, 1}, g)
	if err != nil {
		t.Fatal(err)
	}
	all, err := post.LogProbGrad([]float64{-2, 2, 1}, g)
	if err != nil || at > all || at < all-1 {
		t.Errorf("the log density is %g with the likeliest states and %g with all of them: %v", at, all, err)
	}

	var fits []*infer.Fit
	sets := []infer.DataSet{{}, {}}
	settings := infer.Settings{Chains: 2, Warmup: 150, Draws: 150, Seed: 4}
	err = post.SampleEach(context.Background(), sets, settings, func(_ int, fit *infer.Fit, err error) {
		if err != nil {
			t.Fatal(err)
		}
		fits = append(fits, fit)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, fit := range fits {
		l, err := fit.Labels("z")
		if err != nil {
			t.Fatal(err)
		}
		if want := []float64{0, 0, 0, 1, 1, 1, 0, 0}; !slices.Equal(l.Joint, want) || !slices.Equal(l.Likeliest, want) {
			t.Errorf("the states are %v and by themselves %v, want %v", l.Joint, l.Likeliest, want)
		}
		if _, err := fit.CheckModel(infer.CheckSettings{}); err != nil {
			t.Error(err)
		}
		if _, err := fit.LOO("y", diag.LOOSettings{}); err != nil {
			t.Error(err)
		}
	}
	if _, err := fits[0].Labels("high"); err == nil || !strings.Contains(err.Error(), "those are [z]") {
		t.Errorf("labels of a continuous parameter: %v", err)
	}
	mode, err := post.MAP(context.Background(), infer.MAPSettings{})
	if err != nil || math.Abs(mode.Values["high"][0]-2.1) > 0.3 {
		t.Errorf("the mode is %v: %v", mode, err)
	}
}

// Terms that depend on discrete parameters only where another parameter is far from 0 belong to them all the same.
func TestDependenceFarFromZero(t *testing.T) {
	model := func(coupled bool) error {
		m := infer.NewModel("threshold")
		limit := m.Param("limit", dist.Normal(150, 20))
		z := m.Param("z", dist.Bernoulli(0.5), infer.Shape(3))
		below := ad.Less(ad.Const([]float64{100, 120, 140}), limit)
		m.Observe("y", dist.Normal(ad.Where(below, ad.Scale(3, z), ad.Const([]float64{0, 0, 0})), 1), []float64{3, 0, 3})
		if coupled {
			m.AddLogProb("pair", ad.Where(ad.Less(ad.Scalar(100), limit), ad.Mul(ad.Index(z, 0, 0), ad.Index(z, 0, 2)), ad.Scalar(0)))
		}
		post, err := m.Compile()
		if err != nil {
			return err
		}
		p := func(at float64) float64 {
			lp, err := post.LogProbGrad([]float64{at}, make([]float64, 1))
			if err != nil {
				t.Fatal(err)
			}
			return lp + (at-150)*(at-150)/800
		}
		// Below all places labels make no difference; above, the mean of each observation is 0 or 3.
		want := 0.0
		for _, y := range []float64{3, 0, 3} {
			want += math.Log((math.Exp(-y*y/2)+math.Exp(-(y-3)*(y-3)/2))/2) + y*y/2
		}
		if got := p(150) - p(50); math.Abs(got-want) > 1e-9 {
			t.Errorf("the log density above the limit is higher by %.12g, want %.12g", got, want)
		}
		return nil
	}
	if err := model(false); err != nil {
		t.Error(err)
	}
	if err := model(true); err == nil || !strings.Contains(err.Error(), "more than one element") {
		t.Errorf("two labels of one term are summed out one by one: %v", err)
	}
}
