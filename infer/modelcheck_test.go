// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/tier"
)

// lineData is a straight line with noise.
func lineData(r *rand.Rand) (x, y []float64) {
	for i := range 80 {
		x = append(x, float64(i)/80)
		y = append(y, 1+2*x[i]+0.1*r.NormFloat64())
	}
	return x, y
}

// lineModel fits a line with a fixed or a sampled sigma.
func lineModel(x, y []float64, sigma any, slope dist.Dist) *infer.Model {
	m := infer.NewModel("line")
	at := m.Data("x", x)
	a, b := m.Param("a", dist.Normal(0, 5)), m.Param("b", slope)
	if sigma == nil {
		sigma = m.Param("sigma", dist.HalfNormal(1))
	}
	m.Observe("y", dist.Normal(ad.Add(a, ad.Mul(b, at)), sigma), y)
	return m
}

func checked(t *testing.T, m *infer.Model, s infer.CheckSettings) (check.Verdict, *infer.Fit) {
	t.Helper()
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 3, Warmup: 400, Draws: 500})
	if err != nil {
		t.Fatal(err)
	}
	v, err := fit.CheckModel(s)
	if err != nil {
		t.Fatal(err)
	}
	return v, fit
}

func TestPosteriorsNameTheirMisfits(t *testing.T) {
	wide := dist.Normal(0, 5)
	for _, c := range []struct {
		name, want string
		sigma      any
		slope      dist.Dist
		plant      func(x, y []float64, r *rand.Rand)
	}{
		{"right", "", 0.1, wide, func(x, y []float64, r *rand.Rand) {}},
		{"right, sigma sampled", "", nil, wide, func(x, y []float64, r *rand.Rand) {}},
		{"curve", "pattern along x", nil, wide, func(x, y []float64, _ *rand.Rand) {
			for i := range y {
				y[i] += 0.8 * x[i] * x[i]
			}
		}},
		{"outlier", "1 point lies farther", nil, wide, func(_, y []float64, _ *rand.Rand) { y[33] += 1 }},
		{"errors too small", "times too small", 0.05, wide, func(x, y []float64, r *rand.Rand) {}},
		{"errors too large", "times too large", 0.3, wide, func(x, y []float64, r *rand.Rand) {}},
		{"spread", "the scatter varies", nil, wide, func(x, y []float64, r *rand.Rand) {
			for i := range y {
				y[i] += x[i] * r.NormFloat64()
			}
		}},
		{"prior", "the data pull most strongly on b", 0.1, dist.Normal(0, 0.1), func(x, y []float64, r *rand.Rand) {}},
		{"uniform prior", "the data pull most strongly on b", 0.1, dist.Uniform(-1, 1), func(x, y []float64, r *rand.Rand) {}},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		x, y := lineData(r)
		c.plant(x, y, r)
		v, fit := checked(t, lineModel(x, y, c.sigma, c.slope), infer.CheckSettings{})
		if v.OK != (c.want == "") || !strings.Contains(v.String(), c.want) {
			t.Errorf("%s: %v", c.name, v)
		}
		if satisfied := strings.Contains(fit.Summary().String(), "All checks of the draws passed.  The model agrees with the data"); satisfied != (c.want == "") {
			t.Errorf("%s: %v", c.name, fit.Summary())
		}
	}
}

// Counts are judged by quantile residuals: a Poisson distribution sees that they are too
// scattered.
func TestOverdispersedCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for name, wild := range map[string]bool{"poisson": false, "overdispersed": true} {
		var k []float64
		for range 100 {
			rate := 6.0
			if wild {
				rate *= math.Exp(0.6 * r.NormFloat64())
			}
			k = append(k, float64(poisson(r, rate)))
		}
		m := infer.NewModel("counts")
		m.Observe("k", dist.Poisson(m.Param("rate", dist.Gamma(2., 0.3))), k)
		if v, _ := checked(t, m, infer.CheckSettings{}); v.OK == wild || wild && !strings.Contains(v.String(), "overdispersion") {
			t.Errorf("%s: %v", name, v)
		}
	}
}

func poisson(r *rand.Rand, rate float64) (k int) {
	for p := r.Float64(); p > math.Exp(-rate); k++ {
		p *= r.Float64()
	}
	return k
}

// Parameters and data drawn from the model are flagged at most as often as stated.
func TestModelsThatAreRightAreSeldomFlagged(t *testing.T) {
	x, y := lineData(rand.New(rand.NewPCG(1, 1)))
	n, most := 500, 12 // 1 % expected, three standard deviations
	if !tier.Slow {
		n, most = 50, 4
	}
	for name, sigma := range map[string]any{"known errors": 0.1, "sampled errors": nil} {
		post, err := lineModel(x, y, sigma, dist.Normal(0, 5)).Compile()
		if err != nil {
			t.Fatal(err)
		}
		truth, err := post.Prior(n, 7)
		if err != nil {
			t.Fatal(err)
		}
		var sets []infer.DataSet
		for _, y := range truth.Values("y") {
			sets = append(sets, infer.DataSet{Data: map[string][]float64{"y": y}})
		}
		flagged := 0
		err = post.SampleEach(context.Background(), sets, infer.Settings{Seed: 11, Chains: 1, Warmup: 200, Draws: 200}, func(i int, fit *infer.Fit, err error) {
			if err != nil {
				t.Error(err)
				return
			}
			v, err := fit.CheckModel(infer.CheckSettings{})
			if err != nil {
				t.Error(err)
			}
			if !v.OK {
				flagged++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if flagged > most {
			t.Errorf("%s: %d of %d right models flagged", name, flagged, n)
		}
	}
}

// Errors in proportion to true or predicted values are not taken for errors of the readings, those of the readings
// are; and once an outlier is named, errors that are fitted are not called too large.
func TestErrorsInProportion(t *testing.T) {
	const n = 30
	truth, noise, x := make([]float64, n), make([]float64, n), make([]float64, n)
	r := rand.New(rand.NewPCG(51, 52))
	for i := range x {
		x[i] = math.Pow(10, float64(i)/10)
		truth[i], noise[i] = math.Pow(x[i], 1.5), 0.05*r.NormFloat64()
	}
	const follow = "the errors follow the observed values"
	for name, noted := range map[string]bool{"truth": false, "reading": true, "formula": false, "percent": false} {
		y, s := make([]float64, n), make([]float64, n)
		for i := range y {
			y[i], s[i] = truth[i]*(1+noise[i]), 0.05*truth[i]
			if noted {
				s[i] = 0.05 * y[i]
			}
		}
		m := infer.NewModel(name)
		at := m.Data("x", x)
		mu := ad.Mul(m.Param("a", dist.LogNormal(0, 1)), ad.Exp(ad.Mul(m.Param("b", dist.Normal(1, 1)), ad.Log(at))))
		sigma := any(s)
		if name == "formula" {
			sigma = ad.Mul(m.Param("f", dist.HalfNormal(1)), mu)
		} else if name == "percent" {
			sigma = ad.Scale(0.05, mu)
		}
		m.Observe("y", dist.Normal(mu, sigma), y)
		if v, _ := checked(t, m, infer.CheckSettings{}); !v.OK || strings.Contains(v.String(), follow) != noted {
			t.Errorf("%s: %v", name, v)
		}
	}
	lx, y := lineData(r)
	y[33] += 1.5
	if v, _ := checked(t, lineModel(lx, y, nil, dist.Normal(0, 5)), infer.CheckSettings{}); v.OK || strings.Contains(v.String(), "chi-square") {
		t.Errorf("outlier: %v", v)
	}
}
