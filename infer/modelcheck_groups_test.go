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
)

// grouped is a hierarchy of groups with eight readings each.
func grouped(effect []float64, r *rand.Rand) *infer.Model {
	var at []int
	var y []float64
	for g, e := range effect {
		for range 8 {
			at, y = append(at, g), append(y, e+r.NormFloat64())
		}
	}
	m := infer.NewModel("groups")
	mu, tau := m.Param("mu", dist.Normal(0, 20)), m.Param("tau", dist.HalfNormal(20))
	theta := m.Param("theta", dist.Normal(mu, tau), infer.Shape(len(effect)), infer.NonCentred())
	m.Observe("y", dist.Normal(ad.Gather(theta, ad.Ints(at), 0), 1), y)
	return m
}

// A group that does not belong to the others is flagged by its name, although the
// model follows its data; groups that do belong are not.
func TestGroupsThatDoNotBelong(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	effect := make([]float64, 10)
	for g := range effect {
		effect[g] = 3 + r.NormFloat64()
	}
	v, _ := checked(t, grouped(effect, r), infer.CheckSettings{})
	if !v.OK {
		t.Errorf("right groups: %v", v)
	}
	effect[4] += 15
	v, _ = checked(t, grouped(effect, r), infer.CheckSettings{})
	if v.OK || !strings.Contains(v.String(), "the elements of theta depart from their common distribution: 1 point lies farther from the model than a normal distribution allows: theta[4]") {
		t.Errorf("one group off by 15: %v", v)
	}
}

// Two slopes of the same variable are held apart by their priors alone: noted.
func TestCombinationsThatOnlyPriorsHold(t *testing.T) {
	x, y := lineData(rand.New(rand.NewPCG(23, 24)))
	m := infer.NewModel("twice")
	at := m.Data("x", x)
	a, b, c := m.Param("a", dist.Normal(0, 5)), m.Param("b", dist.Normal(0, 5)), m.Param("c", dist.Normal(0, 5))
	m.Observe("y", dist.Normal(ad.Add(a, ad.Mul(ad.Add(b, c), at)), 0.1), y)
	v, _ := checked(t, m, infer.CheckSettings{})
	if !v.OK || !strings.Contains(v.String(), "balance between b and c") {
		t.Errorf("%v", v)
	}
}

// A posterior of narrow modes that are as far from each other as the prior is wide is not the prior; one without information is.
func TestNarrowModesAreNotThePrior(t *testing.T) {
	var x, y []float64
	for i := range 21 {
		x = append(x, float64(i)/2)
		y = append(y, math.Sin(3*x[i])+0.1*math.Sin(float64(7*i*i)))
	}
	for _, known := range []bool{true, false} { // a frequency above that of Nyquist looks like one below
		m := infer.NewModel("wave")
		w := m.Param("w", dist.Uniform(0, 30))
		noise := 0.1
		if !known {
			noise = 1e4
		}
		m.Observe("y", dist.Normal(ad.Sin(ad.Mul(w, ad.Const(x))), ad.Scalar(noise)), y)
		post, err := m.Compile()
		if err != nil {
			t.Fatal(err)
		}
		far := [][]float64{{-2.2}, {2.71}, {-2.2}, {2.71}} // logits of 3/30 and 28.1/30, in two modes
		fit, err := infer.Sample(t.Context(), post, infer.Settings{Seed: 1, Chains: 4, Init: far, Warmup: 300, Draws: 300})
		if err != nil {
			t.Fatal(err)
		}
		v, err := fit.CheckModel(infer.CheckSettings{})
		if told := strings.Contains(v.String(), "almost nothing about w"); err != nil || told == known {
			t.Errorf("known %v: %v, %v", known, err, v)
		}
	}
}

// A prior in other units is flagged although the data overrule it, unless it is one
// that nobody chose.
func TestPriorsInOtherUnits(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	var x, y []float64
	for i := range 80 {
		x = append(x, float64(i)/80)
		y = append(y, 1000+2000*x[i]+r.NormFloat64())
	}
	for _, weak := range []bool{false, true} {
		m := infer.NewModel("units")
		at := m.Data("x", x)
		var o []infer.Option
		if weak {
			o = append(o, infer.Weak())
		}
		a, b := m.Param("a", dist.Normal(1, 150), o...), m.Param("b", dist.Normal(0, 5e4))
		m.Observe("y", dist.Normal(ad.Add(a, ad.Mul(b, at)), 1), y)
		v, _ := checked(t, m, infer.CheckSettings{})
		if v.OK != weak || !strings.Contains(v.String(), "lies far out in a tail of its prior normal(1, 150)") {
			t.Errorf("weak %v: %v", weak, v)
		}
	}
}
