// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
)

// correlated is a normal distribution in n dimensions, scales 1 to 10 and correlations of
// neighbours 0.7, centred at 3; its log evidence is 0.
func correlated(n int) infer.Target {
	const rho = 0.7
	logDet := float64(n-1) * math.Log(1-rho*rho) / 2
	for i := range n {
		logDet += math.Log(scaleOf(i, n))
	}
	return infer.Func(n, func(q, g []float64) float64 {
		lp, before := -logDet-float64(n)*math.Log(2*math.Pi)/2, 0.0
		clear(g)
		for i := range q {
			z := (q[i] - 3) / scaleOf(i, n)
			if i == 0 {
				lp -= z * z / 2
				g[0] -= z / scaleOf(0, n)
			} else {
				d := (z - rho*before) / (1 - rho*rho)
				lp -= d * (z - rho*before) / 2
				g[i] -= d / scaleOf(i, n)
				g[i-1] += rho * d / scaleOf(i-1, n)
			}
			before = z
		}
		return lp
	})
}

func scaleOf(i, n int) float64 { return math.Pow(10, float64(i)/float64(max(n-1, 1))) }

// On a normal distribution Pathfinder, full-rank ADVI and Laplace find it: the evidence,
// the moments, and weights that are nearly equal.
func TestApproximationsOfNormal(t *testing.T) {
	ctx := context.Background()
	for _, n := range []int{3, 40} {
		target := correlated(n)
		fits := map[string]func() (*infer.Approximation, error){
			"Laplace": func() (*infer.Approximation, error) { return infer.Laplace(target, infer.LaplaceSettings{Seed: 1}) },
			"Pathfinder": func() (*infer.Approximation, error) {
				return infer.Pathfinder(ctx, target, infer.PathfinderSettings{Seed: 1})
			},
		}
		tol := map[string]float64{"Laplace": 1e-6, "Pathfinder": 0.3, "ADVI": 0.2}
		if n == 3 {
			fits["ADVI"] = func() (*infer.Approximation, error) {
				return infer.ADVI(ctx, target, infer.ADVISettings{Seed: 1, FullRank: true, Tolerance: 1e-3})
			}
		} else {
			tol["Pathfinder"] = 8 // the memory of ten steps does not hold forty directions
		}
		for name, f := range fits {
			a, err := f()
			if err != nil {
				t.Errorf("%s in %d dimensions: %v", name, n, err)
				continue
			}
			if math.Abs(a.ELBO) > tol[name] || n == 3 && !(a.ParetoK < 0.7) {
				t.Errorf("%s in %d dimensions: %v, want an ELBO of 0", name, n, a)
			}
			if n == 3 {
				x := a.Draws("q[2]")
				mean, sd := diag.Mean(x), diag.SD(x)
				if math.Abs(mean-3) > 1.5 || math.Abs(sd/10-1) > 0.15 {
					t.Errorf("%s: q[2] is %g +- %g, want 3 +- 10", name, mean, sd)
				}
			}
			if len(a.Starts(4)) != 4 || a.Len() != 1000 || !strings.HasPrefix(a.String(), name) {
				t.Errorf("%s: %v", name, a)
			}
		}
	}
}

// The mean-field distribution keeps the conditional scales of a normal distribution, which is what
// minimises its divergence.
func TestMeanFieldADVI(t *testing.T) {
	a, err := infer.ADVI(context.Background(), correlated(3), infer.ADVISettings{Seed: 2, Tolerance: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	const rho = 0.7
	first := math.Sqrt(1 - rho*rho) // given its one neighbour
	middle := math.Sqrt((1-rho*rho)/(1+rho*rho)) * math.Sqrt(10)
	for name, want := range map[string]float64{"q[0]": first, "q[1]": middle} {
		if sd := diag.SD(a.Draws(name)); math.Abs(sd/want-1) > 0.12 {
			t.Errorf("%s has sd %g, want %g", name, sd, want)
		}
	}
}

// Pathfinder's draws start chains near the posterior: for a far decay as a
// thousandth of the random walk would; its draws come in constrained form.
func TestPathfinderStarts(t *testing.T) {
	post, _ := decays(t, 40, 1)
	a, err := infer.Pathfinder(context.Background(), post, infer.PathfinderSettings{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	fit := sampled(t, post, infer.Settings{Seed: 1, Init: a.Starts(4)})
	r := fit.Summary().Row("tau")
	if x := a.Draws("tau"); math.Abs(diag.Mean(x)-r.Mean) > 0.5*r.SD || !(r.RHat < 1.01) {
		t.Errorf("Pathfinder's tau is %g, the posterior %g +- %g (R-hat %g)", diag.Mean(x), r.Mean, r.SD, r.RHat)
	}
	if s := a.Summary(); s.Row("tau") == nil || !math.IsNaN(s.Row("tau").RHat) {
		t.Errorf("summary %v", s)
	}
}

// Densities without a top, and targets without parameters, are errors that say so.
func TestApproximationErrors(t *testing.T) {
	funnel := infer.Func(2, func(q, g []float64) float64 { // grows for ever as q[0] falls
		e := math.Exp(-q[0])
		g[0], g[1] = -1+e*q[1]*q[1]/2, -q[1]*e
		return -q[0] - q[1]*q[1]*e/2
	})
	if _, err := infer.Laplace(funnel, infer.LaplaceSettings{}); err == nil {
		t.Error("Laplace on a density without a top: no error")
	}
	nan := infer.Func(1, func(_, g []float64) float64 { g[0] = 0; return math.NaN() })
	for name, f := range map[string]func(t infer.Target) error{
		"Laplace": func(t infer.Target) error { _, err := infer.Laplace(t, infer.LaplaceSettings{}); return err },
		"Pathfinder": func(t infer.Target) error {
			_, err := infer.Pathfinder(context.Background(), t, infer.PathfinderSettings{})
			return err
		},
		"ADVI": func(t infer.Target) error {
			_, err := infer.ADVI(context.Background(), t, infer.ADVISettings{})
			return err
		},
	} {
		if err := f(nan); err == nil || !strings.Contains(err.Error(), "finite") {
			t.Errorf("%s on NaN: %v", name, err)
		}
		m := infer.NewModel("empty")
		m.Observe("y", dist.Normal(0, 1), []float64{1})
		if err := f(compiled(t, m)); err == nil || !strings.Contains(err.Error(), "no parameters") {
			t.Errorf("%s without parameters: %v", name, err)
		}
	}
}
