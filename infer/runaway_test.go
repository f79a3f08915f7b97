// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
)

// scaleOf is a model of zeros under a normal distribution whose scale has the prior.
func scaleOf(t *testing.T, zeros int, prior dist.Dist) *Posterior {
	m := NewModel("zeros")
	m.Observe("y", dist.Normal(0, m.Param("s", prior)), make([]float64, zeros))
	return mustCompile(t, m)
}

func mustCompile(t *testing.T, m *Model) *Posterior {
	t.Helper()
	p, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// withMean is a model of equal observations with a mean of their own.
func withMean(t *testing.T) *Posterior {
	m := NewModel("equal")
	mu, s := m.Param("mu", dist.Normal(0, 1)), m.Param("s", dist.HalfCauchy(1))
	m.Observe("y", dist.Normal(mu, s), make([]float64, 5))
	return mustCompile(t, m)
}

// straight is a straight line through points that lie on one.
func straight(t *testing.T) *Posterior {
	m := NewModel("line")
	a, b, s := m.Param("a", dist.Normal(0, 1)), m.Param("b", dist.Normal(0, 1)), m.Param("s", dist.HalfCauchy(1))
	m.Observe("y", dist.Normal(ad.Add(a, ad.Mul(b, ad.Const([]float64{0, 1, 2, 3}))), s), []float64{1, 3, 5, 7})
	return mustCompile(t, m)
}

// schools is the model of eight schools whose density is unbounded at tau = 0,
// though its posterior is proper.
func schools(t *testing.T) *Posterior {
	m := NewModel("schools")
	mu, tau := m.Param("mu", dist.Normal(0, 5)), m.Param("tau", dist.HalfCauchy(5))
	m.Observe("y", dist.Normal(m.Param("theta", dist.Normal(mu, tau), Shape(8)), ad.Const([]float64{15, 10, 16, 11, 9, 11, 10, 18})), []float64{28, 8, -3, 7, -1, 1, 18, 12})
	return mustCompile(t, m)
}

// A density that rises without bound, or does not fall, is named in the report with
// the parameter and what to try.
func TestUnboundedDensitiesAreNamed(t *testing.T) {
	logScale := Func(1, func(q, g []float64) float64 { // five zeros, half-Cauchy
		s := math.Exp(q[0])
		g[0] = -4 - 2*s*s/(1+s*s)
		return -4*q[0] - math.Log1p(s*s)
	})
	logPrecision := Func(2, func(q, g []float64) float64 { // grows as the precision does
		g[0], g[1] = 1.5, -q[1]
		return 1.5*q[0] - q[1]*q[1]/2
	})
	for name, c := range map[string]struct {
		target    Target
		parameter string
		flat      bool
	}{
		"scale":        {scaleOf(t, 5, dist.HalfCauchy(1)), "s", false},
		"interval":     {scaleOf(t, 3, dist.Uniform(0, 10)), "s", false},
		"one zero":     {scaleOf(t, 1, dist.HalfNormal(1)), "s", true},
		"mean":         {withMean(t), "s", false},
		"by hand":      {logScale, "q[0]", false},
		"to infinity":  {logPrecision, "q[0]", false},
		"with outputs": {WithOutputs(logScale, []string{"q[0]"}, func(q, out []float64) error { out[0] = math.Exp(q[0]); return nil }), "q[0]", false},
	} {
		fit, err := Sample(t.Context(), c.target, Settings{Seed: 1, Chains: 2, Warmup: 400, Draws: 200})
		if err != nil {
			if !strings.Contains(err.Error(), c.parameter+" has run to") || !strings.Contains(err.Error(), "give "+c.parameter+" a prior") {
				t.Errorf("%s: the error does not name %s: %v", name, c.parameter, err)
			}
			continue
		}
		report := fit.Diagnose()
		first := report[0]
		if first.Check != diag.CheckBounded || report.OK() || !strings.HasPrefix(first.Cause, c.parameter+" has run to ") ||
			strings.Contains(first.Cause, "does not fall") != c.flat || !strings.Contains(first.Remedy, "give "+c.parameter+" a prior") {
			t.Errorf("%s: %v, want %s named", name, report, c.parameter)
		}
	}
}

// Posteriors that are far out, wide, narrow or steep, but proper, are not.
func TestProperDensitiesAreNotCalledUnbounded(t *testing.T) {
	small := NewModel("small")
	small.Observe("y", dist.Normal(0, small.Param("s", dist.HalfCauchy(1))), []float64{1e-15, -2e-15, 3e-15, 0.5e-15, -1e-15, 1e-15})
	far := NewModel("far")
	far.Observe("y", dist.Normal(far.Param("mu", dist.Normal(0, 1e7)), far.Param("s", dist.HalfNormal(1e4))), []float64{1e6, 1.001e6, 0.999e6, 1.002e6})
	cauchy := NewModel("cauchy")
	cauchy.Param("x", dist.Cauchy(100, 50))
	for name, target := range map[string]Target{"small scale": mustCompile(t, small), "far away": mustCompile(t, far), "heavy tails": mustCompile(t, cauchy),
		"hierarchy": schools(t), "zeros with a prior": scaleOf(t, 5, dist.LogNormal(0, 1)), "funnel": rightDensities()["funnel"]} {
		for seed := range uint64(3) {
			fit, err := Sample(t.Context(), target, Settings{Seed: seed, Warmup: 400, Draws: 200})
			if err != nil {
				t.Fatal(err)
			}
			if a := fit.Diagnose()[0]; a.Check == diag.CheckBounded {
				t.Errorf("%s, seed %d: %v", name, seed, a)
			}
		}
	}
}

// Searches for a top that is not there say so, with the parameter.
func TestModesOfUnboundedDensities(t *testing.T) {
	for name, c := range map[string]struct {
		post      *Posterior
		parameter string
	}{"scale": {scaleOf(t, 5, dist.HalfCauchy(1)), "s"}, "mean": {withMean(t), "s"}, "line": {straight(t), "s"}, "hierarchy": {schools(t), "tau"}} {
		for _, search := range map[string]func() error{
			"MAP":     func() error { _, err := c.post.MAP(t.Context(), MAPSettings{}); return err },
			"top":     func() error { _, err := c.post.MAP(t.Context(), MAPSettings{Jacobian: true}); return err },
			"Laplace": func() error { _, err := Laplace(c.post, LaplaceSettings{}); return err },
		} {
			var fault *UnboundedError
			if err := search(); !errors.As(err, &fault) || fault.Parameter != c.parameter || !(fault.Value < 1e-4) {
				t.Errorf("%s: %v, want that %s runs to 0", name, err, c.parameter)
			}
		}
	}
	for name, post := range map[string]*Posterior{"zeros with a prior": scaleOf(t, 5, dist.LogNormal(0, 1))} {
		if _, err := post.MAP(t.Context(), MAPSettings{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An infinite density names the parameter that is farthest out.
func TestInfiniteDensityIsNamed(t *testing.T) {
	target := Func(2, func(q, g []float64) float64 {
		if g[0], g[1] = -q[0], -3; q[1] < -100 {
			return math.Inf(1)
		}
		return -q[0]*q[0]/2 - 3*q[1]
	})
	_, err := Sample(t.Context(), target, Settings{Chains: 1, Warmup: 200, Draws: 10})
	if !errors.Is(err, ErrInfinite) && !errors.Is(err, ErrImproper) || !strings.Contains(err.Error(), "q[1] has run to -") {
		t.Errorf("error %v, want q[1] named", err)
	}
}

// A ridge along which the log density does not fall is told with the parameters that lie on it; wide distributions, heavy tails and strong correlations are not.
func TestRidgesAreTold(t *testing.T) {
	sum := func(wide float64) Target { // only the sum of two parameters is known, and their difference to within wide
		return Func(3, func(q, g []float64) float64 {
			s, d := q[0]+q[1]-3, (q[0]-q[1])/wide
			g[0], g[1], g[2] = -s-d/wide, -s+d/wide, -q[2]
			return -(s*s + d*d + q[2]*q[2]) / 2
		})
	}
	cauchy := Func(1, func(q, g []float64) float64 {
		g[0] = -2 * q[0] / (1 + q[0]*q[0])
		return -math.Log1p(q[0] * q[0])
	})
	heaviest := Func(1, func(q, g []float64) float64 {
		g[0] = -1.05 * math.Copysign(1, q[0]) / (1 + math.Abs(q[0]))
		return -1.05 * math.Log1p(math.Abs(q[0]))
	})
	for name, c := range map[string]struct {
		target Target
		ridge  bool
	}{"heaviest": {heaviest, false}, "endless": {sum(math.Inf(1)), true}, "wide": {sum(1e6), false}, "huge": {independent(1e20, 1), false}, "heavy": {cauchy, false}, "narrow": {independent(1, 1e-12), false}} {
		fit := mustSample(t, c.target, Settings{Seed: 3, Chains: 2, Draws: 200})
		r := fit.Diagnose()
		if got := strings.Contains(r.String(), "does not fall"); got != c.ridge {
			t.Errorf("%s: a ridge is told: %v, want %v: %s", name, got, c.ridge, r)
		} else if c.ridge && !(strings.Contains(r.String(), "together with q[0]") || strings.Contains(r.String(), "together with q[1]")) {
			t.Errorf("%s: %s", name, r)
		}
	}
}

// A model is not said to agree beside the statement that its posterior is none.
func TestImproperPosteriorsAreNotJudged(t *testing.T) {
	m := NewModel("sum")
	a, b := m.Flat("a", dist.IdentityTransform()), m.Flat("b", dist.IdentityTransform())
	m.Observe("y", dist.Normal(ad.Add(a, b), 1), []float64{0.3, -0.2, 0.4, -0.5, 0.1, 0.2, -0.3, 0.6})
	fit := mustSample(t, mustCompile(t, m), Settings{Seed: 1, Chains: 2, Draws: 200})
	v, err := fit.CheckModel(CheckSettings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{v.String(), fit.Summary().String()} {
		if strings.Contains(text, "agrees") || !strings.Contains(text, "could not be judged: the check of the model failed: the posterior has no finite integral") {
			t.Errorf("the verdict is %s", text)
		}
	}
	if v.OK || v.Word() != "not judged" {
		t.Errorf("the verdict is %s", v.Word())
	}
}

// A chain that stays beside a jump has not run away along a line on which the density does not fall: such lines are longer than what chains
// start in.
func TestStayingIsNoRidge(t *testing.T) {
	jump := Func(1, func(q, g []float64) float64 {
		g[0] = -q[0]
		if q[0] > 1 {
			return 4 - q[0]*q[0]/2
		}
		return -q[0] * q[0] / 2
	})
	flat := Func(1, func(q, g []float64) float64 { g[0] = 0; return 0 })
	for _, c := range []struct {
		target Target
		width  float64
		want   bool
	}{{jump, 1e-4, false}, {flat, 100, true}} {
		rows := make([][]float64, 40)
		for i := range rows {
			rows[i] = []float64{1 + c.width*math.Mod(float64(7*i), 40)/40}
		}
		if r, ok := (&chain{target: c.target}).ridge(rows); ok != c.want {
			t.Errorf("draws within %g of 1: a ridge is %v, want %v: %+v", c.width, ok, c.want, r)
		}
	}
}
