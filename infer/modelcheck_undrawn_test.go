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
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/tier"
)

// A likelihood that has nothing but its density, or whose draws are wrong, is sampled and stored. The check of the
// model leaves it out and says why, and says nothing against the model.
func TestModelCheckWithoutDraws(t *testing.T) {
	for want, rand := range map[string]func(src dist.Source, p []float64) float64{
		"the distribution mine of the observation y cannot be drawn from, so the model was not checked by simulation: set RandOf": nil,
		"are outside its support, such as NaN": func(dist.Source, []float64) float64 { return math.NaN() },
		"are outside its support, such as -5":  func(dist.Source, []float64) float64 { return -5 },
	} {
		m := infer.NewModel("m")
		b := m.Param("b", dist.HalfNormal(5))
		m.Observe("y", dist.Dist{Name: "mine", Params: []*ad.Node{b}, Support: dist.Positive, RandOf: rand,
			LogProbOf: func(x *ad.Node) *ad.Node { return ad.Sub(ad.Log(b), ad.Mul(b, x)) }}, []float64{0.1, 0.7, 0.3, 1.2, 0.5, 0.9})
		post, err := m.Compile()
		if err != nil {
			t.Fatal(err)
		}
		fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 1, Warmup: 100, Draws: 100})
		if err != nil {
			t.Fatal(err)
		}
		v, err := fit.CheckModel(infer.CheckSettings{})
		if err != nil {
			t.Fatal(err)
		}
		if text := v.String(); !strings.Contains(text, want) || strings.Contains(text, "has no observations") || strings.Contains(text, "disagrees") {
			t.Errorf("want %q: %s", want, text)
		}
		tree, err := fit.Data(infer.DataSettings{Predictive: true})
		if err != nil {
			t.Fatal(err)
		}
		if !tree.Has("posterior") {
			t.Error("no posterior")
		}
		if there := tree.Has("posterior_predictive"); there != (rand != nil) {
			t.Error("posterior_predictive:", there)
		}
	}
}

// rateOf is an exponential distribution of a user's own, with or without its distribution function and its draws.
func rateOf(b float64, cdf, rand bool) dist.Dist {
	d := dist.Dist{Name: "mine", Params: dist.Nodes(b), Support: dist.Positive,
		LogProbOf: func(x *ad.Node) *ad.Node { return ad.Sub(ad.Scalar(math.Log(b)), ad.Scale(b, x)) }}
	if cdf {
		d.CDFOf = func(x float64, p []float64) float64 { return -math.Expm1(-p[0] * x) }
	}
	if rand {
		d.RandOf = func(src dist.Source, p []float64) float64 { return -math.Log1p(-src.Float64()) / p[0] }
	}
	return d
}

// A prior without a distribution function is compared with the data by ranks among its draws, whether they disagree or
// not, and a note says so where there are no draws either.
func TestModelCheckRanksPriors(t *testing.T) {
	for name, c := range map[string]struct {
		rate      float64
		cdf, rand bool
		want      string
		ok        bool
	}{
		"far, with CDF":           {2, true, false, "lies far out in a tail of its prior mine(2) (two-sided tail probability 4e-09; p-value of prior and data together", false},
		"far, with draws":         {2, false, true, "(two-sided tail probability of at most 0.0001: it lies beyond all of 19999 draws from the prior", false},
		"far, with neither":       {2, false, false, "note: the prior of b was not compared with the data, because the distribution mine has neither CDFOf nor RandOf: set one of them", true},
		"near, with CDF":          {0.1, true, false, "", true},
		"near, with draws":        {0.1, false, true, "", true},
		"constant, wrong support": {0.1, false, true, "its draws are outside its support, such as -1: correct RandOf", true},
	} {
		r := rand.New(rand.NewPCG(75, 76))
		m := infer.NewModel("m")
		prior := rateOf(c.rate, c.cdf, c.rand)
		if name == "constant, wrong support" {
			prior.RandOf = func(dist.Source, []float64) float64 { return -1 }
		}
		b := m.Param("b", prior)
		var y []float64
		for range 60 {
			y = append(y, 10+r.NormFloat64())
		}
		m.Observe("y", dist.Normal(b, 1), y)
		v, _ := checked(t, m, infer.CheckSettings{})
		if text := v.String(); v.OK != c.ok || !strings.Contains(text, c.want) {
			t.Errorf("%s: want %q: %s", name, c.want, text)
		}
	}
}

// A prior whose parameters are sampled is ranked anew at each draw, and an array that is too long for that is noted.
func TestModelCheckRanksHierarchies(t *testing.T) {
	for want, n := range map[string]int{"": 8, "its 2100 elements are too many to rank them among draws of RandOf: set CDFOf": 2100} {
		r := rand.New(rand.NewPCG(77, uint64(n)))
		m := infer.NewModel("m")
		b := m.Param("b", dist.LogNormal(0, 0.1))
		prior := dist.Dist{Name: "mine", Params: []*ad.Node{b}, Support: dist.Positive,
			LogProbOf: func(x *ad.Node) *ad.Node { return ad.Sub(ad.Log(b), ad.Mul(b, x)) },
			RandOf:    func(src dist.Source, p []float64) float64 { return -math.Log1p(-src.Float64()) / p[0] }}
		tau := m.Param("tau", prior, infer.Shape(n))
		y := make([]float64, n)
		for i := range y {
			y[i] = r.ExpFloat64() + 0.1*r.NormFloat64()
		}
		m.Observe("y", dist.Normal(tau, 0.1), y)
		post, err := m.Compile()
		if err != nil {
			t.Fatal(err)
		}
		fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 1, Warmup: 60, Draws: 20, Chains: 2, Metric: infer.DiagFisher})
		if err != nil {
			t.Fatal(err)
		}
		v, err := fit.CheckModel(infer.CheckSettings{})
		if text := v.String(); err != nil || !v.OK || !strings.Contains(text, want) || strings.Contains(text, "too many") != (want != "") {
			t.Errorf("%d: %v: %s", n, err, text)
		}
	}
}

// Priors that are right are not blamed more often when they are judged by ranks.
func TestRankedPriorsFalseAlarms(t *testing.T) {
	flagged := 0
	models := tier.Of(15, 40)
	for seed := range uint64(models) {
		r := rand.New(rand.NewPCG(73, seed))
		m := infer.NewModel("m")
		b := m.Param("b", rateOf(0.5, false, true))
		truth, y := 2*r.ExpFloat64(), []float64{}
		for range 20 {
			y = append(y, truth+r.NormFloat64())
		}
		m.Observe("y", dist.Normal(b, 1), y)
		if v, _ := checked(t, m, infer.CheckSettings{}); !v.OK {
			flagged++
			t.Log(v)
		}
	}
	if flagged > 2 {
		t.Errorf("%d of %d right models flagged", flagged, models)
	}
}

// The reason that nothing was judged stands once above the notes.
func TestUnjudgedIsSaidOnce(t *testing.T) {
	m := infer.NewModel("m")
	b := m.Param("b", dist.HalfNormal(5))
	m.Observe("y", dist.Dist{Name: "mine", Params: []*ad.Node{b}, Support: dist.Positive,
		LogProbOf: func(x *ad.Node) *ad.Node { return ad.Sub(ad.Log(b), ad.Mul(b, x)) }}, []float64{0.1, 0.7, 0.3, 1.2, 0.5, 0.9})
	v, _ := checked(t, m, infer.CheckSettings{})
	for _, text := range []string{v.String(), v.HTML()} {
		if strings.Count(text, "none of its observations could be compared") != 1 {
			t.Error(text)
		}
	}
}
