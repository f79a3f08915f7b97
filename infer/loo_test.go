// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
)

// A value far from the others is predicted from them as a normal distribution says, although the draws of the posterior with it do not reach there.
func TestLOOMatchesMoments(t *testing.T) {
	y := []float64{0.1, -0.3, 0.2, 0.5, -0.4, 0, 12}
	m := NewModel("outlier")
	mu := m.Param("mu", dist.Normal(0, 10))
	m.Observe("y", dist.Normal(ad.Broadcast(mu, len(y)), 1), y)
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	fit, err := Sample(t.Context(), post, Settings{Seed: 2, Warmup: 300, Draws: 1000})
	if err != nil {
		t.Fatal(err)
	}
	ll, err := fit.LogLik("y")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := diag.LOO(ll, diag.LOOSettings{})
	if err != nil || len(plain.Bad()) == 0 {
		t.Fatalf("%v, and nothing is to be mended: %v", err, plain.Points)
	}
	e, err := fit.LOO("y", diag.LOOSettings{})
	if err != nil || len(e.Bad()) > 0 {
		t.Fatalf("%v: %v", err, e.Points)
	}
	var want float64
	for i := range y {
		precision, sum := 0.01, 0.0
		for j, v := range y {
			if j != i {
				precision, sum = precision+1, sum+v
			}
		}
		mean, variance := sum/precision, 1+1/precision
		one := -halfLog2Pi - math.Log(variance)/2 - (y[i]-mean)*(y[i]-mean)/2/variance
		want += one
		if math.Abs(e.Points[i].ELPD-one) > 0.3 {
			t.Errorf("value %d: %g: want %g (k %.2f, %g without matching)", i, e.Points[i].ELPD, one, e.Points[i].K, plain.Points[i].ELPD)
		}
	}
	if math.Abs(e.ELPD-want) > 0.3 || math.Abs(plain.ELPD-want) < math.Abs(e.ELPD-want) {
		t.Errorf("in all %g, and %g without matching: want %g", e.ELPD, plain.ELPD, want)
	}
}

// Scale and location move together where a value determines the scale, and refitting says what comes out.
func TestLOOMatchesScales(t *testing.T) {
	y := []float64{0.3, -0.2, 0.1, 0.4, -0.5, 0.2, 4}
	model := func(y []float64) *Fit {
		m := NewModel("scale")
		mu, sigma := m.Param("mu", dist.Normal(0, 3)), m.Param("sigma", dist.HalfNormal(2))
		m.Observe("y", dist.Normal(ad.Broadcast(mu, len(y)), sigma), y)
		post, err := m.Compile()
		if err != nil {
			t.Fatal(err)
		}
		fit, err := Sample(t.Context(), post, Settings{Seed: 5, Draws: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return fit
	}
	without := model(y[:len(y)-1])
	sum, n := 0.0, 0.0
	for c, mu := range without.Draws("mu") {
		for k := range mu {
			sigma := without.Draws("sigma")[c][k]
			z := (4 - mu[k]) / sigma
			sum, n = sum+math.Exp(-halfLog2Pi-math.Log(sigma)-z*z/2), n+1
		}
	}
	e, err := model(y).LOO("y", diag.LOOSettings{})
	if err != nil {
		t.Fatal(err)
	}
	p := e.Points[len(y)-1]
	if want := math.Log(sum / n); p.K > 0.7 || math.Abs(p.ELPD-want) > 0.5 {
		t.Errorf("elpd %g with k %.2f: want %g", p.ELPD, p.K, want)
	}
}
