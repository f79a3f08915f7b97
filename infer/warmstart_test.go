// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Starts lie around the fit with a scale matrix of twice its covariance: the
// quartiles of Student's distribution of 4 degrees of freedom are at +-0.7407.
func TestWarmStartSpread(t *testing.T) {
	m := infer.NewModel("plane")
	a := m.Param("a", dist.Normal(0, 100))
	b := m.Param("b", dist.LogNormal(0, 10))
	m.Observe("y", dist.Normal(ad.Add(a, b), 1), []float64{1})
	p := compiled(t, m)
	const chains, sdA, sdB, r = 4000, 0.1, 0.02, 0.8
	// b is named first: the order of names is free.
	cov := []float64{sdB * sdB, r * sdA * sdB, r * sdA * sdB, sdA * sdA}
	starts, err := p.WarmStart([]string{"b", "a"}, []float64{2, -1}, cov, chains, 3)
	if err != nil || len(starts) != chains {
		t.Fatal(err)
	}
	g := make([]float64, 2)
	column := func(f func(q []float64) float64) []float64 {
		var v []float64
		for _, q := range starts {
			if lp, err := p.LogProbGrad(q, g); err != nil || math.IsInf(lp, 0) || math.IsNaN(lp) {
				t.Fatalf("start %v: log density %g, %v", q, lp, err)
			}
			v = append(v, f(q))
		}
		slices.Sort(v)
		return v
	}
	for _, c := range []struct {
		name       string
		centre, sd float64
		f          func(q []float64) float64
	}{
		{"a", -1, sdA, func(q []float64) float64 { return q[0] }},
		{"log b", math.Log(2), sdB / 2, func(q []float64) float64 { return q[1] }},
		{"a - 10 log b", -1 - 10*math.Log(2), math.Sqrt(0.01 + 0.01 - 2*r*0.01), func(q []float64) float64 { return q[0] - 10*q[1] }},
	} {
		v := column(c.f)
		scale := (v[3*chains/4] - v[chains/4]) / (2 * 0.7407)
		if math.Abs(v[chains/2]-c.centre) > 0.15*c.sd || math.Abs(scale*scale/(2*c.sd*c.sd)-1) > 0.15 {
			t.Errorf("%s: around %g with scale^2 %.3g, want %g and %.3g", c.name, v[chains/2], scale*scale, c.centre, 2*c.sd*c.sd)
		}
	}
	again, err := p.WarmStart([]string{"b", "a"}, []float64{2, -1}, cov, 2, 3)
	if err != nil || !slices.Equal(again[1], starts[1]) {
		t.Errorf("a start depends on the number of chains: %v, %v", again, err)
	}
}

// A fit that ended on bounds has starts inside them, spread although its
// covariance says nothing.
func TestWarmStartOnBounds(t *testing.T) {
	m := infer.NewModel("box")
	a := m.Param("a", dist.Uniform(0, 1))
	b := m.Param("b", dist.HalfNormal(1))
	c := m.Param("c", dist.Normal(0, 1))
	m.Observe("y", dist.Normal(ad.AddN(a, b, c), 1), []float64{1})
	p := compiled(t, m)
	nan := math.NaN()
	for name, cov := range map[string][]float64{
		"zero":    {0, 0, 0, 0, 0, 0, 0, 0, 0.01},
		"NaN":     {nan, nan, nan, nan, nan, nan, nan, nan, nan},
		"regular": {0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01},
	} {
		starts, err := p.WarmStart([]string{"a", "b", "c"}, []float64{1, 0, 0.5}, cov, 400, 1)
		if err != nil {
			t.Fatal(name, err)
		}
		out := make([]float64, 3)
		var spread [3][]float64
		for _, q := range starts {
			if err := p.Write(q, out); err != nil || !(out[0] > 0 && out[0] < 1 && out[1] > 0) {
				t.Fatalf("%s: start at %v, %v", name, out, err)
			}
			for i, v := range q {
				spread[i] = append(spread[i], v)
			}
		}
		for i, v := range spread {
			slices.Sort(v)
			if width := v[300] - v[100]; width < 0.1 || width > 5 {
				t.Errorf("%s: the middle half of parameter %d is %g wide", name, i, width)
			}
		}
	}
}

// Components that the model keeps in order start in order.
func TestWarmStartKeepsOrder(t *testing.T) {
	m := infer.NewModel("double")
	fast := m.Param("fast", dist.LogNormal(0, 2))
	slow := m.Param("slow", dist.LogNormal(0, 2), infer.By(dist.LowerTransform(fast)))
	m.Observe("y", dist.Normal(ad.Add(fast, slow), 0.5), []float64{2})
	p := compiled(t, m)
	starts, err := p.WarmStart([]string{"fast", "slow"}, []float64{1, 1.2}, []float64{0.04, 0, 0, 0.04}, 200, 1)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, 2)
	for _, q := range starts {
		if err := p.Write(q, out); err != nil || !(out[0] < out[1]) {
			t.Fatalf("start %v: want order (%v)", out, err)
		}
	}
}

func TestWarmStartErrors(t *testing.T) {
	p := compiled(t, line([]float64{1, 2}, []float64{2, 3}))
	cov := make([]float64, 9)
	for _, c := range []struct {
		names  []string
		values []float64
		cov    []float64
		word   string
	}{
		{[]string{"a", "b"}, []float64{1, 2}, cov[:4], "parameter s: it has no value"},
		{[]string{"a", "b", "s"}, []float64{1, 2}, cov, "2 values"},
		{[]string{"a", "b", "s"}, []float64{1, 2, 3}, cov[:4], "4 covariances: want 3 values and 9"},
		{[]string{"a", "b", "t"}, []float64{1, 2, 3}, cov, "parameter t"},
		{[]string{"a", "b", "s"}, []float64{1, math.NaN(), 3}, cov, "mu of normal = NaN is out of its range"},
	} {
		if _, err := p.WarmStart(c.names, c.values, c.cov, 2, 1); err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%v = %v: error %v, want %q", c.names, c.values, err, c.word)
		}
	}
	if _, err := compiled(t, schools()).WarmStart([]string{"z", "mu", "tau"}, []float64{0, 0, 1}, cov, 2, 1); err == nil {
		t.Error("an array started from one number")
	}
}
