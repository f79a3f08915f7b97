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
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/internal/tier"
)

// moment is what n columns from first on should have: a mean, and a standard
// deviation unless it is nil.
type moment struct {
	first, n int
	mean, sd func(k int) float64
}

func always(v float64) func(int) float64 { return func(int) float64 { return v } }

func listed(v ...float64) func(int) float64 { return func(k int) float64 { return v[k] } }

// compiledModel builds a posterior in place.
func compiledModel(t *testing.T, build func(m *Model)) *Posterior {
	t.Helper()
	m := NewModel("synthetic")
	build(m)
	p, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// spiked is a unit normal distribution of n parameters but for two directions.
func spiked(n int) Target {
	u, w := make([]float64, n), make([]float64, n)
	for i := range u {
		u[i] = 1 / math.Sqrt(float64(n))
		w[i] = u[i] * float64(1-2*((i+1)%2))
	}
	return Func(n, func(q, g []float64) float64 {
		a, b := linalg.FastDot(u, q), linalg.FastDot(w, q)
		for i := range g {
			g[i] = -q[i] + u[i]*a*2000/2001 + w[i]*b*500/501
		}
		return linalg.FastDot(q, g) / 2
	})
}

// Distributions with known moments, at 5 standard errors (synthetic_targets.json).
func TestSyntheticTargets(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	ill := make([]float64, 100)
	for i := range ill {
		ill[i] = math.Pow(10, -3+6*float64(i)/99)
	}
	for name, c := range map[string]struct {
		target  Target
		moments []moment
		least   float64 // effective draws per gradient
	}{
		"std_normal_100":       {target: independent(slices.Repeat([]float64{1}, 100)...), moments: []moment{{0, 100, always(0), always(1)}}},
		"ill_conditioned_100":  {target: independent(ill...), moments: []moment{{0, 100, always(0), func(k int) float64 { return ill[k] }}}},
		"ar1_correlated_50":    {target: ar1(50, 0.98), moments: []moment{{0, 50, always(0), always(1)}}},
		"spiked_covariance_50": {target: spiked(50), moments: []moment{{0, 50, always(0), always(math.Sqrt(51))}}, least: 0.15},
		"student_t5_10": {target: compiledModel(t, func(m *Model) { m.Param("x", dist.StudentT(5, 0, 1), Shape(10)) }),
			moments: []moment{{0, 10, always(0), always(1.2909944487358056)}}},
		"dirichlet_2_3_5": {target: compiledModel(t, func(m *Model) {
			m.Param("w", dist.Dirichlet([]float64{2, 3, 5}))
		}), moments: []moment{{0, 3, listed(0.2, 0.3, 0.5), listed(math.Sqrt(0.014545454545454545), math.Sqrt(0.019090909090909092), math.Sqrt(0.022727272727272728))}}},
		"lkj_corr_3_eta1": {target: correlations(t, 3, 1), moments: []moment{{9, 3, always(0), always(0.5)}}},
		"lkj_corr_4_eta2": {target: correlations(t, 4, 2), moments: []moment{{16, 6, always(0), always(math.Sqrt(1. / 7))}}},
		"interval_uniform": {target: compiledModel(t, func(m *Model) { m.Param("x", dist.Uniform(2, 5)) }),
			moments: []moment{{0, 1, always(3.5), always(math.Sqrt(0.75))}}},
		"unit_vector_3": {target: compiledModel(t, func(m *Model) { m.Flat("x", dist.UnitVectorTransform(), Shape(3)) }),
			moments: []moment{{0, 3, always(0), always(math.Sqrt(1. / 3))}}},
		"ordered_3_normal": {target: compiledModel(t, func(m *Model) {
			m.AddLogProb("normal", dist.Normal(0, 1).LogProb(m.Flat("x", dist.OrderedTransform(), Shape(3))))
		}), moments: []moment{{0, 3, listed(-0.8462843753216345, 0, 0.8462843753216345), nil}}},
		"zero_sum_4": {target: compiledModel(t, func(m *Model) {
			m.AddLogProb("normal", dist.Normal(0, 1).LogProb(m.Flat("x", dist.ZeroSumTransform(), Shape(4))))
		}), moments: []moment{{0, 4, always(0), always(math.Sqrt(0.75))}}},
	} {
		t.Run(name, func(t *testing.T) {
			config := Settings{Seed: 3}
			if c.least == 0 && !tier.Slow {
				config.Draws = 500
			}
			fit := mustSample(t, c.target, config)
			rows := fit.Summary().Rows
			for _, m := range c.moments {
				for k := range m.n {
					r := rows[m.first+k]
					if z := (r.Mean - m.mean(k)) / r.MCSEMean; !(math.Abs(z) < 5) || !(r.RHat < 1.02) {
						t.Errorf("mean of %s is %g, want %g (%.1f standard errors, R-hat %g)", r.Name, r.Mean, m.mean(k), z, r.RHat)
					}
					if m.sd == nil {
						continue
					}
					if z := (r.SD - m.sd(k)) / r.MCSESD; !(math.Abs(z) < 5) {
						t.Errorf("sd of %s is %g, want %g (%.1f standard errors)", r.Name, r.SD, m.sd(k), z)
					}
				}
			}
			if e := leastESS(fit); e < c.least {
				t.Errorf("%.3f effective draws per gradient, want %g", e, c.least)
			}
		})
	}
}

// correlations is an LKJ distribution, with what stands below the diagonal of the matrix
// stored after its factor.
func correlations(t *testing.T, k int, eta float64) Target {
	return compiledModel(t, func(m *Model) {
		l := m.Param("L", dist.LKJCholesky(k, eta))
		r := ad.MatMul(l, ad.T(l))
		var below []*ad.Node
		for i := range k {
			for j := range i {
				below = append(below, ad.Index(ad.Index(r, 0, i), 0, j))
			}
		}
		m.Deterministic("r", ad.Stack(0, below...))
	})
}

// The banana needs short steps in its tails: the default says that it diverged,
// steps shorter by far give its moments.
func TestBanana(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	p := compiledModel(t, func(m *Model) {
		x := m.Param("x", dist.Normal(0, 1))
		m.Param("y", dist.Normal(ad.Square(x), 0.3))
	})
	if fit := mustSample(t, p, Settings{Seed: 1, Independent: true}); fit.Divergent() == 0 || fit.OK(diag.Criteria{}) {
		t.Error("chains in the parameters themselves are satisfied with the banana")
	}
	fit := mustSample(t, p, Settings{Seed: 1})
	if fit.Divergent() > 0 || !fit.OK(diag.Criteria{}) {
		t.Errorf("the banana is not straightened: %v", fit.Coordinates())
	}
	for name, want := range map[string][2]float64{"x": {0, 1}, "y": {1, 1.445683229480096}} {
		r := fit.Summary().Row(name)
		if z, s := (r.Mean-want[0])/r.MCSEMean, (r.SD-want[1])/r.MCSESD; math.Abs(z) > 5 || math.Abs(s) > 5 {
			t.Errorf("%s is %g +- %g, want %v (%.1f and %.1f standard errors)", name, r.Mean, r.SD, want, z, s)
		}
	}
}

// The quartiles of a distribution without moments.
func TestHalfCauchy(t *testing.T) {
	fit := mustSample(t, compiledModel(t, func(m *Model) { m.Param("x", dist.HalfCauchy(1)) }), Settings{Seed: 1, Draws: 4000})
	x := fit.Draws("x")
	var all []float64
	for _, c := range x {
		all = append(all, c...)
	}
	slices.Sort(all)
	for p, want := range map[float64]float64{0.25: 0.41421356237309503, 0.5: 1, 0.75: 2.414213562373095} {
		if z := (diag.Quantile(all, p) - want) / diag.MCSEQuantile(x, p); math.Abs(z) > 5 {
			t.Errorf("quantile %g is %g, want %g (%.1f standard errors)", p, diag.Quantile(all, p), want, z)
		}
	}
}

// The non-centred funnel has the spread that the centred one cannot reach.
func TestFunnelNonCentred(t *testing.T) {
	p := compiledModel(t, func(m *Model) {
		v := m.Param("v", dist.Normal(0, 3))
		m.Param("x", dist.Normal(0, ad.Exp(ad.Scale(0.5, v))), Shape(9), NonCentred())
	})
	fit := mustSample(t, p, Settings{Seed: 2})
	r := fit.Summary().Row("v")
	if math.Abs(r.SD-3) > 4*r.MCSESD || fit.Divergent() > 0 {
		t.Errorf("v has sd %g +- %g, want 3; %d divergences", r.SD, r.MCSESD, fit.Divergent())
	}
}
