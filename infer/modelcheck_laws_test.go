// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/tier"
)

// The size of residuals is judged wherever the distribution says it, although it depends on a
// parameter; right models of the same kinds agree.
func TestSizesOfOtherLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	exponential := func(shape int) *infer.Model {
		var y []float64
		for range 60 {
			sum := 0.0
			for range shape {
				sum += r.ExpFloat64()
			}
			y = append(y, 5*sum/float64(shape))
		}
		m := infer.NewModel("waiting")
		mean := m.Param("mean", dist.LogNormal(0, 2))
		m.Observe("y", dist.Exponential(ad.Reciprocal(mean)), y)
		return m
	}
	proportional := func(true float64) *infer.Model {
		var x, y []float64
		for i := range 100 {
			x = append(x, float64(i)/100)
			y = append(y, (1+2*x[i])*(1+true*r.NormFloat64()))
		}
		m := infer.NewModel("percent")
		at := m.Data("x", x)
		mu := ad.Add(m.Param("a", dist.Normal(0, 10)), ad.Mul(m.Param("b", dist.Normal(0, 10)), at))
		m.Observe("y", dist.Normal(mu, ad.Scale(0.05, ad.Abs(mu))), y)
		return m
	}
	for _, c := range []struct {
		name, want string
		m          *infer.Model
	}{
		{"exponential", "", exponential(1)},
		{"gamma under exponential", "times less than their distribution predicts", exponential(6)},
		{"percent", "", proportional(0.05)},
		{"three times the percent", "times too small", proportional(0.15)},
	} {
		v, _ := checked(t, c.m, infer.CheckSettings{})
		if v.OK != (c.want == "") || !strings.Contains(v.String(), c.want) {
			t.Errorf("%s: %v", c.name, v)
		}
		if c.want != "" && strings.Contains(v.String(), "the priors keep") {
			t.Errorf("%s: vague priors are blamed: %v", c.name, v)
		}
	}
}

// Vague priors do no harm; one that is four standard deviations off, a third of it in
// its own tail, is seen.
func TestVagueAndNarrowPriors(t *testing.T) {
	for name, scale := range map[string]dist.Dist{"uniform": dist.Uniform(0, 1000), "half Cauchy": dist.HalfCauchy(1000), "half normal": dist.HalfNormal(1e6)} {
		x, y := lineData(rand.New(rand.NewPCG(43, 44)))
		m := infer.NewModel("line")
		at := m.Data("x", x)
		mu := ad.Add(m.Param("a", dist.Normal(0, 10)), ad.Mul(m.Param("b", dist.Normal(0, 10)), at))
		m.Observe("y", dist.Normal(mu, m.Param("s", scale)), y)
		if v, _ := checked(t, m, infer.CheckSettings{}); !v.OK {
			t.Errorf("%s: %v", name, v)
		}
	}
	seen := 0
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(45, seed))
		var x, y []float64
		for i := range 100 {
			x = append(x, float64(i)/100)
			y = append(y, 1+2.4*x[i]+r.NormFloat64())
		}
		m := infer.NewModel("line")
		at := m.Data("x", x)
		mu := ad.Add(m.Param("a", dist.Normal(0, 10)), ad.Mul(m.Param("b", dist.Normal(0, 0.3)), at))
		m.Observe("y", dist.Normal(mu, 1), y)
		if v, _ := checked(t, m, infer.CheckSettings{}); !v.OK && strings.Contains(v.Flags[0].Kind, "prior") {
			seen++
		}
	}
	if seen < 6 {
		t.Errorf("%d of 8 priors that are five standard deviations off were seen", seen)
	}
}

// Counts of which nearly all are 0 are placed anew for every data set.
func TestSparseCounts(t *testing.T) {
	flagged := 0
	models := tier.Of(6, 12)
	for seed := range uint64(models) {
		r := rand.New(rand.NewPCG(47, seed))
		y := make([]float64, 145)
		for i := range y {
			y[i] = float64(poisson(r, 0.005))
		}
		m := infer.NewModel("rare")
		m.Observe("y", dist.Poisson(m.Param("mu", dist.Gamma(1, 100))), y, infer.Shape(len(y)))
		if v, _ := checked(t, m, infer.CheckSettings{}); !v.OK {
			flagged++
			t.Log(v)
		}
	}
	if flagged > 1 {
		t.Errorf("%d of %d right models flagged", flagged, models)
	}
}

// A drift in the order of measurement is seen although x was taken at random.
func TestDriftInTheOrderOfMeasurement(t *testing.T) {
	r := rand.New(rand.NewPCG(49, 50))
	var x, y []float64
	for i, k := range r.Perm(100) {
		x = append(x, float64(k)/100)
		y = append(y, 1+2*x[i]+0.004*float64(i)+0.1*r.NormFloat64())
	}
	v, _ := checked(t, lineModel(x, y, nil, dist.Normal(0, 5)), infer.CheckSettings{})
	if v.OK || !strings.Contains(v.String(), "along the order of the data") {
		t.Errorf("%v", v)
	}
	if math.IsNaN(v.P) {
		t.Error("no p-value")
	}
}

// Values at the mark of a censored distribution are placed within its tail: the same data under
// a plain distribution are not normal.
func TestCensoredValuesAreJudged(t *testing.T) {
	flagged, plain := 0, 0
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(61, seed))
		var y []float64
		for range 80 {
			y = append(y, min(1.5, max(-0.5, 1+r.NormFloat64())))
		}
		for _, censored := range []bool{true, false} {
			m := infer.NewModel("meter")
			distribution := dist.Normal(m.Param("mu", dist.Normal(0, 3)), m.Param("s", dist.HalfNormal(3)))
			if censored {
				distribution = dist.Censored(distribution, -0.5, 1.5)
			}
			m.Observe("y", distribution, y, infer.Shape(len(y)))
			v, _ := checked(t, m, infer.CheckSettings{})
			switch {
			case censored && !v.OK:
				flagged++
				t.Log(v)
			case !censored && !v.OK:
				plain++
			}
		}
	}
	if flagged > 1 || plain < 6 {
		t.Errorf("%d of 8 right models flagged, %d of 8 wrong ones", flagged, plain)
	}
}
