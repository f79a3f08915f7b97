// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// rightDensities have gradients worked out by hand; some have numbers that are hard
// on differences.
func rightDensities() map[string]Target {
	normal := func(n int, mean, sd float64) Target {
		return Func(n, func(q, g []float64) float64 {
			lp := 0.0
			for i, x := range q {
				z := (x - mean) / sd
				lp, g[i] = lp-z*z/2, -z/sd
			}
			return lp
		})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	return map[string]Target{
		"normal": normal(3, 0, 1), "narrow": normal(3, 1, 1e-6), "wide": normal(3, 1e9, 1e8), "offset": normal(2, 1e6, 1), "many": normal(300, 0.5, 2),
		"funnel": Func(2, func(q, g []float64) float64 {
			e := math.Exp(-q[0])
			g[0], g[1] = -q[0]/9-0.5+e*q[1]*q[1]/2, -e*q[1]
			return -q[0]*q[0]/18 - q[0]/2 - e*q[1]*q[1]/2
		}),
		"student": Func(1, func(q, g []float64) float64 { g[0] = -5 * q[0] / (4 + q[0]*q[0]); return -2.5 * math.Log(4+q[0]*q[0]) }),
		"kink": Func(2, func(q, g []float64) float64 {
			g[0], g[1] = -sign(q[0]), -sign(q[1]-1e-3)
			return -math.Abs(q[0]) - math.Abs(q[1]-1e-3)
		}),
		"wave": Func(1, func(q, g []float64) float64 { g[0] = 1e3 * math.Cos(1e3*q[0]); return math.Sin(1e3 * q[0]) }),
		"half line": Func(1, func(q, g []float64) float64 {
			if g[0] = 2/q[0] - 1; q[0] <= 0 {
				return math.Inf(-1)
			}
			return 2*math.Log(q[0]) - q[0]
		}),
		"float32": Func(2, func(q, g []float64) float64 {
			g[0], g[1] = -q[0], -q[1]
			return float64(float32(-1000 - q[0]*q[0]/2 - q[1]*q[1]/2))
		}),
		"noise":    Func(1, func(q, g []float64) float64 { g[0] = -q[0]; return -q[0]*q[0]/2 + 1e-6*rng.Float64() }),
		"constant": Func(2, func(q, g []float64) float64 { clear(g); return 3 }),
		"one of two": Func(2, func(q, g []float64) float64 {
			g[0], g[1] = -1e6*q[0], 0
			return -1e6 * q[0] * q[0] / 2
		}),
	}
}

func sign(x float64) float64 { return math.Copysign(1, x) }

func TestRightGradientsPass(t *testing.T) {
	for name, target := range rightDensities() {
		if err := CheckGradient(target); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for seed := range uint64(20) {
			cfg := Settings{Seed: seed, InitRadius: 2}
			if err := cfg.checkFunc(t.Context(), target); err != nil {
				t.Errorf("%s, seed %d: %v", name, seed, err)
			}
		}
	}
}

// Every kind of mistake is found at each of its points, with the parameter and both
// numbers.
func TestWrongGradientsAreNamed(t *testing.T) {
	base := rightDensities()
	spoil := func(name string, f func(q, g []float64)) Target {
		return Func(base[name].Dim(), func(q, g []float64) float64 {
			lp, _ := base[name].Clone().LogProbGrad(q, g)
			f(q, g)
			return lp
		})
	}
	for what, c := range map[string]struct {
		target          Target
		at              []float64
		parameter       string
		given, expected float64
	}{
		"sign":       {spoil("normal", func(q, g []float64) { g[1] = -g[1] }), []float64{1, 2, 3}, "q[1]", 2, -2},
		"factor":     {spoil("normal", func(q, g []float64) { g[2] *= 2 }), []float64{1, 2, 3}, "q[2]", -6, -3},
		"thousandth": {spoil("normal", func(q, g []float64) { g[0] *= 1.001 }), []float64{1, 2, 3}, "q[0]", -1.001, -1},
		"term":       {spoil("funnel", func(q, g []float64) { g[0] += 0.5 }), []float64{0.3, 0.1}, "q[0]", -0.3/9 + math.Exp(-0.3)*0.005, -0.3/9 - 0.5 + math.Exp(-0.3)*0.005},
		"narrow":     {spoil("narrow", func(q, g []float64) { g[0] *= 0.5 }), []float64{1.5, 1, 1}, "q[0]", -0.25e12, -0.5e12},
		"small":      {spoil("one of two", func(q, g []float64) { g[1] = 100 }), []float64{1e-3, 5}, "q[1]", 100, 0},
		"many":       {spoil("many", func(q, g []float64) { g[137] += 0.3 }), make([]float64, 300), "q[137]", 0.125 + 0.3, 0.125},
		"unset":      {Func(2, func(q, g []float64) float64 { g[0] = -q[0]; return -q[0]*q[0]/2 - q[1]*q[1] }), []float64{1, 2}, "q[1]", math.NaN(), -4},
		"added to":   {Func(1, func(q, g []float64) float64 { g[0] -= q[0]; return -q[0] * q[0] / 2 }), []float64{3}, "q[0]", math.NaN(), -3},
		"float32":    {spoil("float32", func(q, g []float64) { g[0] = 0.5 }), []float64{1, 2}, "q[0]", 0.5, -1},
	} {
		err := CheckGradient(c.target, c.at)
		var fault *GradientError
		if !errors.As(err, &fault) || len(fault.Faults) != 1 {
			t.Errorf("%s: %v, want one fault", what, err)
			continue
		}
		f := fault.Faults[0]
		same := func(a, b float64) bool {
			return math.Abs(a-b) <= 1e-6*max(1, math.Abs(b))+f.Uncertainty || a != a && b != b
		}
		if f.Parameter != c.parameter || !same(f.Given, c.given) || !same(f.Expected, c.expected) || !(f.Uncertainty < 1e-2*max(1, math.Abs(c.expected))) {
			t.Errorf("%s: %+v, want %s, %g and %g", what, f, c.parameter, c.given, c.expected)
		}
		if !strings.Contains(err.Error(), c.parameter) || !strings.Contains(err.Error(), fmt.Sprintf("%.6g", f.Expected)) {
			t.Errorf("%s: the text does not name the parameter and the number: %v", what, err)
		}
	}
}

func TestCheckGradientRefuses(t *testing.T) {
	target := rightDensities()["half line"]
	for _, at := range [][]float64{{1, 2}, {-1}} {
		if err := CheckGradient(target, at); err == nil || !strings.Contains(err.Error(), "infer: CheckGradient: ") {
			t.Errorf("%v: error %v", at, err)
		}
	}
}

// Samplers check functions before they start, unless told not to.
func TestSamplersCheckGradients(t *testing.T) {
	calls := 0
	wrong := func() func(q, g []float64) float64 {
		return func(q, g []float64) float64 { calls++; g[0], g[1] = -q[0], -2*q[1]; return -q[0]*q[0]/2 - q[1]*q[1]/2 }
	}
	short := Settings{Chains: 1, Warmup: 50, Draws: 10}
	for name, target := range map[string]Target{"Func": Func(2, wrong()), "PerChain": PerChain(2, wrong),
		"WithOutputs": WithOutputs(Func(2, wrong()), []string{"a"}, func(q, out []float64) error { out[0] = q[0]; return nil })} {
		var fault *GradientError
		if fit, err := Sample(t.Context(), target, short); !errors.As(err, &fault) || fault.Faults[0].Parameter != "q[1]" || fit != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := ChEES(t.Context(), target, ChEESSettings{Chains: 8, Warmup: 20, Draws: 5}); !errors.As(err, &fault) {
			t.Errorf("ChEES, %s: %v", name, err)
		}
		trusted := short
		trusted.NoGradientCheck = true
		if _, err := Sample(t.Context(), target, trusted); err != nil {
			t.Errorf("%s, trusted: %v", name, err)
		}
	}
	calls = 0
	many := Func(50, func(q, g []float64) float64 {
		calls++
		lp := 0.0
		for i, x := range q {
			lp, g[i] = lp-x*x/2, -x
		}
		return lp
	})
	cfg := Settings{InitRadius: 2}
	if err := cfg.checkFunc(t.Context(), many); err != nil || calls > 3*(4*50+2) {
		t.Errorf("%d evaluations for three points in 50 dimensions (%v): want four for each parameter", calls, err)
	}
	panics := Func(1, func(q, g []float64) float64 { panic("no") })
	var p *PanicError
	if _, err := Sample(t.Context(), panics, short); !errors.As(err, &p) {
		t.Errorf("a density that panics: %v", err)
	}
}
