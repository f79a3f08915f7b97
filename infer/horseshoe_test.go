// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// sparseRegression is a regression with a horseshoe prior, or a regularised one with a slab, in standard form if asked for; logistic or with normal errors. Two of eight coefficients
// are not near 0.
func sparseRegression(t *testing.T, slab, logistic, standard bool) *Posterior {
	t.Helper()
	const n, k = 60, 8
	random := tensor.NewStream(11, 0, 0)
	x, y := random.NormalTo(make([]float64, n*k)), make([]float64, n)
	for i := range y {
		eta := 2*x[i*k] - 1.5*x[i*k+1]
		if y[i] = eta + random.Normal(); logistic {
			y[i] = 0
			if random.Float64() < 1/(1+math.Exp(-eta)) {
				y[i] = 1
			}
		}
	}
	m := NewModel("horseshoe")
	tau, lambda := m.Param("tau", dist.HalfCauchy(0.5)), m.Param("lambda", dist.HalfCauchy(1), Shape(k))
	scale := ad.Mul(tau, lambda)
	if slab {
		c2 := m.Param("c2", dist.InverseGamma(2, 8))
		scale = ad.Div(scale, ad.Sqrt(ad.Shift(ad.Div(ad.Square(scale), c2), 1)))
	}
	var beta *ad.Node
	if standard {
		beta = m.Deterministic("beta", ad.Mul(scale, m.Param("z", dist.Normal(0, 1), Shape(k))))
	} else {
		beta = m.Param("beta", dist.Normal(0, scale), Shape(k))
	}
	eta := ad.MatMul(m.Data("x", x, Shape(n, k)), beta)
	if logistic {
		m.Observe("y", dist.BernoulliLogit(eta), y)
	} else {
		m.Observe("y", dist.Normal(eta, m.Param("sigma", dist.HalfNormal(2))), y)
	}
	return compiled(t, m)
}

// heavyGroups are effects of groups that have Student's t distribution with an unknown location and scale.
func heavyGroups(t *testing.T, nu float64, standard bool) *Posterior {
	t.Helper()
	y := []float64{28, 8, -3, 7, -1, 1, 18, 12, -60, 4, 9, 14}
	m := NewModel("groups")
	mu, tau := m.Param("mu", dist.Normal(0, 20)), m.Param("tau", dist.HalfNormal(10))
	var theta *ad.Node
	if standard {
		theta = m.Deterministic("theta", ad.Add(mu, ad.Mul(tau, m.Param("z", dist.StudentT(nu, 0, 1), Shape(len(y))))))
	} else {
		theta = m.Param("theta", dist.StudentT(nu, mu, tau), Shape(len(y)))
	}
	m.Observe("y", dist.Normal(theta, 10), y)
	return compiled(t, m)
}

// Quantiles under horseshoes and of groups with heavy tails are those of a long run in standard form, to 3 % of the width or 5 standard errors, or the run is flagged.
func TestQuantilesOfHorseshoes(t *testing.T) {
	tier.SlowOnly(t)
	for _, c := range []struct {
		name string
		of   func(standard bool) *Posterior
	}{
		{"horseshoe", func(standard bool) *Posterior { return sparseRegression(t, false, false, standard) }},
		{"horseshoe, logistic", func(standard bool) *Posterior { return sparseRegression(t, false, true, standard) }},
		{"regularised horseshoe, logistic", func(standard bool) *Posterior { return sparseRegression(t, true, true, standard) }},
		{"groups with t of 3", func(standard bool) *Posterior { return heavyGroups(t, 3, standard) }},
		{"groups with Cauchy", func(standard bool) *Posterior { return heavyGroups(t, 1, standard) }},
	} {
		long := mustSample(t, c.of(true), Settings{Seed: 100, Draws: 10000, TargetAccept: 0.98, Coordinates: DeclaredCoordinates})
		p := c.of(false)
		flagged, wrong, divergent, ess := 0, 0, 0, 0.0
		var told []string
		for seed := range uint64(5) {
			fit := mustSample(t, p, Settings{Seed: seed})
			bad, worst, where := false, 0.0, ""
			for _, name := range fit.Names() {
				want := long.Draws(name)
				got := fit.Draws(name)
				if want == nil {
					continue
				}
				a, b := slices.Sorted(slices.Values(slices.Concat(got...))), slices.Sorted(slices.Values(slices.Concat(want...)))
				at := func(x []float64, share float64) float64 { return x[int(share*float64(len(x)))] }
				for _, share := range []float64{0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99} {
					d := math.Abs(at(a, share) - at(b, share))
					z := d / math.Hypot(diag.MCSEQuantile(got, share), diag.MCSEQuantile(want, share))
					if d > 0.03*(at(b, 0.95)-at(b, 0.05)) && z > worst {
						worst, where = z, name
					}
				}
			}
			bad = worst > 5
			ess += leastESS(fit) / 5
			divergent += fit.Divergent()
			told = fit.Coordinates()
			switch report := fit.Diagnose(); {
			case !report.OK():
				flagged++
				t.Logf("%s, seed %d: %s", c.name, seed, report.Verdict())
			case bad:
				wrong++
				t.Errorf("%s, seed %d: %s is %.1f standard errors off, and not flagged", c.name, seed, where, worst)
			}
		}
		t.Logf("%s: %d of 5 runs flagged, %d wrong and not flagged, %d divergences, %.4f effective draws for each gradient, %q", c.name, flagged, wrong, divergent, ess, told)
	}
}
