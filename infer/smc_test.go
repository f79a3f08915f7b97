// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// normalTarget has independent normal distributions about 1, with an integral of 1.
func normalTarget(sds ...float64) Target {
	return Func(len(sds), func(q, g []float64) float64 {
		lp := 0.0
		for i, v := range q {
			z := (v - 1) / sds[i]
			lp -= z*z/2 + math.Log(sds[i]) + halfLog2Pi
			g[i] = -z / sds[i]
		}
		return lp
	})
}

// evidenceOf samples by SMC and fails the test without an evidence.
func evidenceOf(t *testing.T, target Target, cfg Settings) (*Fit, *Evidence) {
	t.Helper()
	cfg.Method = SMC
	fit, err := Sample(t.Context(), target, cfg)
	if err != nil {
		t.Fatal(err)
	}
	e := fit.Evidence()
	if e == nil {
		t.Fatal("the run has no evidence")
	}
	return fit, e
}

// regression is a linear regression with normal priors, whose evidence is that of a multivariate normal distribution.
func regression(t *testing.T) (post *Posterior, evidence float64) {
	t.Helper()
	const n, d = 15, 4
	rng := tensor.NewStream(7, 1, 1)
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.Normal())
			y[i] += x.At(i, j) * float64(j)
		}
		y[i] += 0.7 * rng.Normal()
	}
	m := NewModel("regression")
	beta := m.Param("beta", dist.Normal(0, 2), Shape(d))
	m.Observe("y", dist.Normal(ad.MatMul(ad.Const(x.RawMatrix().Data, n, d), beta), 0.7), y)
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			cov.SetSym(i, j, 4*mat.Dot(x.RowView(i), x.RowView(j)))
		}
		cov.SetSym(i, i, cov.At(i, i)+0.49)
	}
	exact, _ := distmv.NewNormal(make([]float64, n), cov, nil)
	return post, exact.LogProb(y)
}

func TestEvidenceOfRegression(t *testing.T) {
	post, want := regression(t)
	fit, e := evidenceOf(t, post, Settings{Draws: 200, Seed: 3})
	if e.From != "the priors" || math.Abs(e.Log-want) > 4*max(e.Error, 0.03) || e.Error > 0.15 {
		t.Errorf("%v: want %g", e, want)
	}
	if rep := fit.Diagnose(); !rep.OK() {
		t.Error(rep)
	}
}

// Bridges between draws and a normal distribution find the evidence, also of a density that is not normal.
func TestBridgeEvidence(t *testing.T) {
	post, want := regression(t)
	gamma := Func(1, func(q, g []float64) float64 { // x^5 exp(-x) of exp(q) = x, with the integral 4!
		x := math.Exp(q[0])
		g[0] = 5 - x
		return 5*q[0] - x
	})
	for name, c := range map[string]struct {
		target Target
		want   float64
	}{"regression": {post, want}, "gamma": {gamma, math.Log(24)}} {
		var errs, squares float64
		for seed := range uint64(8) {
			fit, err := Sample(t.Context(), c.target, Settings{Warmup: 200, Draws: 300, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			e, err := fit.BridgeEvidence()
			if err != nil {
				t.Fatal(err)
			}
			errs, squares = errs+e.Error/8, squares+(e.Log-c.want)*(e.Log-c.want)/8
		}
		if scatter := math.Sqrt(squares); scatter > 2*errs || scatter < errs/3 || errs > 0.05 {
			t.Errorf("%s: off by %g, with standard errors of %g", name, scatter, errs)
		}
	}
	fit, err := Sample(t.Context(), gamma, Settings{Warmup: 50, Draws: 20})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fit.BridgeEvidence(); err == nil || !strings.Contains(err.Error(), "at least 100 draws") {
		t.Errorf("error %v", err)
	}
}

// Half-normal and scale parameters have Jacobians, and some draws from the prior no likelihood.
func TestEvidenceWithBounds(t *testing.T) {
	m := NewModel("uniform")
	width := m.Param("width", dist.Pareto(1, 2)) // density 2/w^3 above 1
	m.Observe("y", dist.Uniform(0, width), []float64{0.5, 3, 1})
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	_, e := evidenceOf(t, post, Settings{Draws: 300, Seed: 1}) // the integral of 2 w^-6 above 3
	if want := math.Log(2.0 / 5 / math.Pow(3, 5)); math.Abs(e.Log-want) > 4*max(e.Error, 0.02) {
		t.Errorf("%v: want %g", e, want)
	}
}

// twoNormals has 3/4 of its weight about 3, and 1/4 in a distribution half as wide about -3, in n dimensions.
func twoNormals(n int) Target {
	return Func(n, func(q, g []float64) float64 {
		a, b := math.Log(0.75), math.Log(0.25)
		for _, v := range q {
			a -= (v-3)*(v-3)/2 + halfLog2Pi
			b -= 2*(v+3)*(v+3) + halfLog2Pi - math.Ln2
		}
		most := max(a, b)
		lp := most + math.Log(math.Exp(a-most)+math.Exp(b-most))
		for i, v := range q {
			g[i] = -math.Exp(a-lp)*(v-3) - math.Exp(b-lp)*4*(v+3)
		}
		return lp
	})
}

// Modes that climbs find keep their masses.
func TestMassesOfModes(t *testing.T) {
	fit, e := evidenceOf(t, twoNormals(3), Settings{Draws: 250, Seed: 5, Init: [][]float64{{-3, -3, -3}, {3, 3, 3}, nil, nil}})
	if math.Abs(e.Log) > 4*max(e.Error, 0.02) || len(e.Modes) != 2 {
		t.Fatalf("%v, modes %v", e, e.Modes)
	}
	for _, m := range e.Modes {
		if want := map[bool]float64{true: 0.75, false: 0.25}[m.Q[0] > 0]; math.Abs(m.Share-want) > 0.06 {
			t.Errorf("mode at %.3g holds %.3g: want %g", m.Q, m.Share, want)
		}
	}
	if rep := fit.Diagnose(); !rep.OK() {
		t.Error(rep)
	}
}

// A run that was interrupted goes on with the same draws, on any number of threads.
func TestSMCResumes(t *testing.T) {
	target := normalTarget(0.1, 1, 3)
	cfg := Settings{Draws: 40, Seed: 2, Parallel: 1}
	whole, e := evidenceOf(t, target, cfg)
	cfg.Parallel, cfg.Method = 3, SMC
	cfg.Checkpoint.Path = filepath.Join(t.TempDir(), "checkpoint")
	_, err := cancelAfter(t, target, int64(whole.chains[0].tr.Count), cfg) // a quarter of the run
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	cfg.Resume = cfg.Checkpoint.Path
	for range 2 { // the second time it is whole already
		again, err := Sample(t.Context(), target, cfg)
		if err != nil {
			t.Fatal(err)
		}
		for i := range whole.Names() {
			if !reflect.DeepEqual(whole.Column(i), again.Column(i)) {
				t.Errorf("column %d differs", i)
			}
		}
		if got := again.Evidence(); !reflect.DeepEqual(got, e) {
			t.Errorf("evidence %v: want %v", got, e)
		}
	}
	cfg.Draws = 50
	if _, err := Sample(t.Context(), target, cfg); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "40 points") {
		t.Errorf("error %v", err)
	}
}

// Points that move in the lanes of a program, from the priors and from a normal distribution, have the same bits on any number of threads, and
// after a run that was saved on the way; a run of earlier rules is refused.
func TestSMCInLanes(t *testing.T) {
	flat := NewModel("flat")
	mu, sigma := flat.Flat("mu", dist.IdentityTransform()), flat.Flat("sigma", dist.LowerTransform(0))
	flat.Observe("y", dist.Normal(mu, sigma), []float64{1, 2, 4, 2.5, 0.5})
	for name, m := range map[string]*Model{"priors": tempered()["schools"], "normal": flat} {
		post := compiled(t, m)
		cfg := Settings{Method: SMC, Draws: 45, Seed: 2, Parallel: 1}
		whole, e := evidenceOf(t, post, cfg)
		cfg.Parallel = 3
		r := begunSMC(t, post, cfg, nil)
		if w := r.islands.workers[0]; w.places == nil || w.within != (name == "priors") {
			t.Errorf("%s: no lanes", name)
		}
		for range 3 {
			if err := r.islands.advance(); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range []*run{r, begunSMC(t, post, cfg, r.islands)} {
			r.islands.sample()
			if got := r.islands.evidence(); r.islands.err != nil || !reflect.DeepEqual(got, e) {
				t.Errorf("%s: evidence %v: want %v: %v", name, got, e, r.islands.err)
			}
			if got := newFit(r); !reflect.DeepEqual(got.Column(0), whole.Column(0)) {
				t.Errorf("%s: other draws", name)
			}
		}
	}
	earlier := &snapshot{settings: "Seed=0\nMethod=2\n"}
	if err := earlier.fits("run", fmt.Sprintf("Seed=0\nMethod=2\nRounds=%d\n", smcRules)); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "another version of the program") {
		t.Errorf("rules of an earlier version: error %v", err)
	}
}

// begunSMC returns a run whose points are at beta = 0, or where those of another run are.
func begunSMC(t *testing.T, target Target, cfg Settings, at *smcRun) *run {
	t.Helper()
	cfg, err := cfg.withDefaults(target.Dim())
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRun(target, cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.addChains(target)
	for i := range r.states {
		if at != nil {
			r.states[i] = at.save(i)
		}
	}
	if r.islands, err = newSMC(r, target); err == nil && at == nil {
		err = r.islands.begin()
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A lane whose matrix has no factor is a place without density, and others go on; a model in which that is an error of the whole run of the program goes
// on one by one.
func TestSMCRejectsPlaces(t *testing.T) {
	m := NewModel("correlation")
	x := m.Param("x", dist.Normal(0, 1))
	matrix := ad.Stack(0, ad.Stack(0, ad.Scalar(1), x), ad.Stack(0, x, ad.Scalar(1)))
	m.AddLogProb("determinant", ad.Sum(ad.Log(ad.Diag(ad.Cholesky(matrix))))) // sqrt(1 - x^2) within 1
	post := compiled(t, m)
	_, e := evidenceOf(t, post, Settings{Draws: 300, Seed: 1})
	exact, n := 0.0, 4000
	for i := range n {
		x := (float64(i)+0.5)/float64(n)*2 - 1
		exact += 2 / float64(n) * math.Exp(-x*x/2-halfLog2Pi) * math.Sqrt(1-x*x)
	}
	if want := math.Log(exact); math.Abs(e.Log-want) > 4*max(e.Error, 0.02) {
		t.Errorf("%v: want %g", e, want)
	}
}

// Islands that disagree are told.
func TestIslandsDisagree(t *testing.T) {
	e := &Evidence{Log: -3, Error: 0.8, Islands: []float64{-2, -5}, Levels: 4, From: "the priors"}
	if a := e.advice(); a.OK || !strings.Contains(a.Cause, "-5 to -2") {
		t.Error(a)
	}
	e.Error = math.NaN()
	if a := e.advice(); a.OK || !strings.Contains(a.Remedy, "2 chains") {
		t.Error(a)
	}
	e.Error, e.Still, e.Rough = 0.1, 0.03, 0.04
	if a := e.advice(); a.OK || !strings.Contains(a.Cause, "3 % of the points did not move") || !strings.Contains(a.Remedy, "NUTS") {
		t.Error(a)
	}
	e.Still, e.Rough, e.Unnormalised = 0, 0, "a and b have no prior"
	if a := e.advice(); !a.OK || !strings.Contains(a.Cause, "since a and b have no prior") {
		t.Error(a)
	}
}

// A density that is nowhere finite, one that is infinite, and settings that mean nothing are refused.
func TestSMCRefuses(t *testing.T) {
	nowhere := Func(2, func(q, g []float64) float64 { return math.Inf(-1) })
	infinite := Func(2, func(q, g []float64) float64 { clear(g); return math.Inf(1) })
	for name, c := range map[string]struct {
		target Target
		cfg    Settings
		want   string
	}{
		"nowhere":  {nowhere, Settings{}, "finite at none of"},
		"infinite": {infinite, Settings{}, "unbounded"},
		"chain":    {normalTarget(1), Settings{FirstChain: 2}, "leave From"},
		"none":     {normalTarget(), Settings{}, "no parameters"},
	} {
		c.cfg.Method, c.cfg.Draws, c.cfg.NoGradientCheck = SMC, 20, true
		if _, err := Sample(t.Context(), c.target, c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v: want %q", name, err, c.want)
		}
	}
}

func ExampleFit_Evidence() {
	m := NewModel("coin")
	p := m.Param("p", dist.Beta(1, 1))
	m.Observe("heads", dist.Binomial(10, p), []float64{7})
	post, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	fit, err := Sample(context.Background(), post, Settings{Method: SMC, Draws: 500, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("log evidence %.1f, exactly %.1f\n", fit.Evidence().Log, -math.Log(11))
	fmt.Println(slices.Max([]float64{fit.Evidence().Error, 0.1}) < 0.2)
	// Output:
	// log evidence -2.4, exactly -2.4
	// true
}
