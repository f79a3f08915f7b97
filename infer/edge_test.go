// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

func TestNoParameters(t *testing.T) {
	fit := mustSample(t, Func(0, func(_, _ []float64) float64 { return -1.5 }), Settings{Warmup: 10, Draws: 20})
	if fit.Len(3) != 20 || len(fit.Row(3, 19)) != 0 || fit.Stats(0)[5].LogProb != -1.5 {
		t.Errorf("%d draws of %d numbers", fit.Len(3), len(fit.Row(3, 19)))
	}
	fit.Summary()
	fit.Diagnose()
}

func TestOneDraw(t *testing.T) {
	fit := mustSample(t, independent(1), Settings{Warmup: 1, Draws: 1})
	if fit.Len(0) != 1 || fit.OK(diag.Criteria{}) || fit.Diagnose().OK() {
		t.Errorf("one draw per chain was accepted:\n%s", fit.Diagnose())
	}
}

func TestNoWarmup(t *testing.T) {
	m, _ := DiagMetric([]float64{1, 4})
	fit := mustSample(t, independent(1, 2), Settings{NoWarmup: true, StartMetric: &m, StepSize: 0.7, Draws: 50, InitRadius: 1})
	for _, s := range fit.Stats(0) {
		if s.StepSize != 0.7 {
			t.Fatalf("step size %g, want 0.7", s.StepSize)
		}
	}
	fit = mustSample(t, independent(1, 2), Settings{NoWarmup: true, Draws: 50})
	if s := fit.Stats(0)[0].StepSize; s < 0.1 || s > 4 {
		t.Errorf("searched step size is %g", s)
	}
}

func TestOneChainIsNeverConverged(t *testing.T) {
	fit := mustSample(t, independent(1), Settings{Chains: 1, Draws: 3000})
	if r := fit.Summary().Rows[0]; !math.IsNaN(r.RHat) {
		t.Errorf("R-hat of one chain is %g", r.RHat)
	}
	if fit.OK(diag.Criteria{}) || fit.Diagnose().OK() || strings.Contains(fit.Summary().Note, "satisfactory") {
		t.Error("one chain was called converged")
	}
}

func TestBadStarts(t *testing.T) {
	never := func(lp, grad float64) Target {
		return Func(2, func(_, g []float64) float64 { g[0], g[1] = 0, grad; return lp })
	}
	inf := math.Inf(1)
	for _, c := range []struct {
		target Target
		cfg    Settings
		want   string
	}{
		{never(-inf, 0), Settings{}, "in 100 tries: log density is -Inf"},
		{never(math.NaN(), 0), Settings{InitTries: 3}, "in 3 tries: log density is NaN"},
		{never(inf, 0), Settings{}, "log density is +Inf"},
		{never(0, math.NaN()), Settings{}, "the gradient with respect to q[1] is NaN, where its unconstrained value is "},
		{never(-inf, 0), Settings{Init: [][]float64{{1, 2}, {3, 4}}, Chains: 2}, "in 1 tries"},
		{explaining{never(-inf, 0)}, Settings{}, "prior of tau is -Inf"},
		{rejecting{}, Settings{}, "solver gave up"},
	} {
		fit, err := Sample(t.Context(), c.target, c.cfg)
		var init *InitError
		if !errors.As(err, &init) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
		if fit == nil || fit.Len(0) != 0 || fit.OK(diag.Criteria{}) {
			t.Error("a fit without draws was accepted")
		}
		fit.Summary()
	}
}

type explaining struct{ Target }

func (e explaining) Clone() Target            { return explaining{e.Target.Clone()} }
func (e explaining) Explain([]float64) string { return "prior of tau is -Inf" }

type rejecting struct{}

func (rejecting) Dim() int      { return 1 }
func (rejecting) Clone() Target { return rejecting{} }
func (rejecting) LogProbGrad(_, _ []float64) (float64, error) {
	return 0, Reject(errors.New("solver gave up"))
}

func TestInitFunc(t *testing.T) {
	cfg := Settings{Warmup: 1, Draws: 1, InitFunc: func(chain int, random *tensor.Stream, q []float64) error {
		q[0] = 100*float64(chain) + random.Float64()
		return nil
	}, NoWarmup: true, StepSize: 1e-9}
	fit := mustSample(t, independent(1), cfg)
	for c := range 4 {
		if q := fit.Row(c, 0)[0]; q < 100*float64(c)-1e-3 || q > 100*float64(c)+1.001 {
			t.Errorf("chain %d started near %g", c, q)
		}
	}
	cfg.InitFunc = func(int, *tensor.Stream, []float64) error { return errors.New("no table") }
	if _, err := Sample(t.Context(), independent(1), cfg); err == nil || !strings.Contains(err.Error(), "no table") {
		t.Errorf("error %v", err)
	}
}

// Beyond |q| = 1 the density is missing in one of several ways; the chains must
// stay inside and say why.
func TestMissingRegions(t *testing.T) {
	for name, edge := range map[string]func(g []float64) (float64, error){
		"log density is NaN":             func([]float64) (float64, error) { return math.NaN(), nil },
		"log density is -Inf":            func([]float64) (float64, error) { return math.Inf(-1), nil },
		"gradient of parameter 0 is NaN": func(g []float64) (float64, error) { g[0] = math.NaN(); return 0, nil },
		"stiff":                          func([]float64) (float64, error) { return 0, Reject(errors.New("stiff")) },
	} {
		fit := mustSample(t, bounded{edge}, Settings{Chains: 2, Warmup: 200, Draws: 300, InitRadius: 0.9})
		if fit.Divergent() == 0 {
			t.Errorf("%s: no divergence", name)
		}
		for _, x := range fit.Column(0)[0] {
			if math.Abs(x) > 1 {
				t.Fatalf("%s: drew %g", name, x)
			}
		}
		d := fit.Divergences()[0]
		if !strings.Contains(d.Message, name) || math.Abs(d.Start[0]) > 1 || math.Abs(d.End[0]) <= 1 || len(d.Momentum) != 1 {
			t.Errorf("%s: recorded %+v", name, d)
		}
		if ok := fit.Diagnose().OK(); ok || fit.OK(diag.Criteria{}) {
			t.Errorf("%s: accepted", name)
		}
	}
}

type bounded struct {
	edge func(g []float64) (float64, error)
}

func (b bounded) Dim() int      { return 1 }
func (b bounded) Clone() Target { return b }
func (b bounded) LogProbGrad(q, g []float64) (float64, error) {
	if g[0] = -q[0]; math.Abs(q[0]) > 1 {
		return b.edge(g)
	}
	return -q[0] * q[0] / 2, nil
}

func TestModelFailures(t *testing.T) {
	for name, c := range map[string]struct {
		edge func([]float64) (float64, error)
		want string
	}{
		"+Inf":  {func([]float64) (float64, error) { return math.Inf(1), nil }, "+Inf"},
		"error": {func([]float64) (float64, error) { return 0, errors.New("file vanished") }, "file vanished"},
		"panic": {func([]float64) (float64, error) { panic("index out of range") }, "panicked: index out of range"},
	} {
		fit, err := Sample(t.Context(), bounded{c.edge}, Settings{Chains: 2, InitRadius: 0.9})
		var at *DrawError
		if !errors.As(err, &at) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		for _, part := range []string{fmt.Sprintf("chain %d", at.Chain+1), fmt.Sprintf("draw %d", at.Draw+1)} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: error does not name %s: %v", name, part, err)
			}
		}
		if fit == nil {
			t.Errorf("%s: no partial fit", name)
		}
	}
}

func TestImproper(t *testing.T) {
	_, err := Sample(t.Context(), Func(1, func(_, g []float64) float64 { g[0] = 0; return 0 }), Settings{})
	if !errors.Is(err, ErrImproper) {
		t.Errorf("error %v", err)
	}
}

func TestScales(t *testing.T) {
	for _, metric := range []MetricKind{LowRank, DiagFisher} {
		sd := []float64{1e-12, 1e-6, 1, 1e6, 1e12}
		starts := make([][]float64, 4)
		for c := range starts {
			for i, s := range sd {
				starts[c] = append(starts[c], s*(float64((c+i)%4)-1.5))
			}
		}
		fit := mustSample(t, independent(sd...), Settings{Init: starts, Metric: metric, Seed: 2})
		for i, r := range fit.Summary().Rows {
			if z := (r.SD - sd[i]) / r.MCSESD; math.Abs(z) > 5 || !(r.RHat < 1.02) {
				t.Errorf("metric %d: scale %g is estimated as %g +- %g, R-hat %g", metric, sd[i], r.SD, r.MCSESD, r.RHat)
			}
		}
	}
	// From the default starts, up to 2e6 standard deviations away.
	sd := []float64{1e-6, 1e-3, 1, 1e3, 1e6}
	fit := mustSample(t, independent(sd...), Settings{Seed: 2})
	for i, r := range fit.Summary().Rows {
		if z := (r.SD - sd[i]) / r.MCSESD; math.Abs(z) > 5 || !(r.RHat < 1.02) {
			t.Errorf("default start: scale %g is estimated as %g +- %g, R-hat %g", sd[i], r.SD, r.MCSESD, r.RHat)
		}
	}
}

func TestManyParameters(t *testing.T) {
	n := tier.Of(20_000, 100_000)
	target := Func(n, func(q, g []float64) (lp float64) {
		for i, x := range q {
			g[i] = -x
			lp -= x * x / 2
		}
		return lp
	})
	fit := mustSample(t, target, Settings{Chains: 1, Warmup: 20, Draws: 2, Metric: DiagFisher, MaxTreeDepth: 4})
	if fit.Len(0) != 2 || !fit.Stats(0)[1].valid() {
		t.Errorf("%d draws, %+v", fit.Len(0), fit.Stats(0))
	}
}

func (s *DrawStat) valid() bool {
	return linalg.Finite(s.LogProb) && linalg.Finite(s.Energy) && s.Steps > 0
}

// Chain 3 starts on an island from which it cannot move.
func TestStuckChain(t *testing.T) {
	target := Func(1, func(q, g []float64) float64 {
		if q[0] == 50 {
			g[0] = 0
			return 0
		}
		if g[0] = -q[0]; q[0] > 20 {
			return math.Inf(-1)
		}
		return -q[0] * q[0] / 2
	})
	fit := mustSample(t, target, Settings{NoWarmup: true, StepSize: 0.5, Init: [][]float64{{0}, {1}, {50}, {-1}}})
	var stuck bool
	for _, a := range fit.Diagnose().Problems() {
		stuck = stuck || a.Check == diag.CheckStuck && strings.Contains(a.Cause, "chain 3")
	}
	if !stuck || fit.OK(diag.Criteria{}) {
		t.Errorf("not flagged:\n%s", fit.Diagnose())
	}
}

func TestTwoModes(t *testing.T) {
	target := Func(1, func(q, g []float64) float64 {
		a, b := -(q[0]-10)*(q[0]-10)/2, -(q[0]+10)*(q[0]+10)/2
		lp := logAddExp(a, b)
		g[0] = -(q[0]-10)*math.Exp(a-lp) - (q[0]+10)*math.Exp(b-lp)
		return lp
	})
	fit := mustSample(t, target, Settings{Chains: 8, Seed: 1})
	if r := fit.Summary().Rows[0].RHat; !(r > 1.1) || fit.OK(diag.Criteria{}) {
		t.Errorf("R-hat is %g", r)
	}
}

// A funnel must not pass unnoticed.
func TestFunnelIsFlagged(t *testing.T) {
	target := Func(10, func(q, g []float64) float64 {
		v, e := q[0], math.Exp(-q[0])
		lp := -v*v/18 - 4.5*v
		g[0] = -v/9 - 4.5
		for i := 1; i < 10; i++ {
			lp -= e * q[i] * q[i] / 2
			g[0] += e * q[i] * q[i] / 2
			g[i] = -e * q[i]
		}
		return lp
	})
	fit := mustSample(t, target, Settings{Seed: 1})
	energy := fit.EBFMI()
	low := math.Min(math.Min(energy[0], energy[1]), math.Min(energy[2], energy[3]))
	if fit.Divergent() == 0 && !(low < 0.3) {
		t.Errorf("%d divergences, E-BFMI %v", fit.Divergent(), energy)
	}
}

func TestCancelledBeforeStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	fit, err := Sample(ctx, independent(1), Settings{})
	if !errors.Is(err, context.Canceled) || fit == nil || fit.Len(0) != 0 {
		t.Errorf("error %v", err)
	}
	fit.Summary()
	fit.Diagnose()
}

func TestCancelKeepsDraws(t *testing.T) {
	fit, err := cancelAfter(t, &eightSchoolsPlain{}, 12000, Settings{Chains: 2, Warmup: 200, Parallel: 1})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if fit.Len(0) == 0 || fit.Len(0) == 1000 && fit.Len(1) == 1000 {
		t.Errorf("%d and %d draws", fit.Len(0), fit.Len(1))
	}
	if s := fit.Summary(); s.Draws == 0 || !strings.Contains(s.Note, "+") && fit.Len(0) != fit.Len(1) {
		t.Errorf("summary of %d draws: %s", s.Draws, s.Note)
	}
}

func TestStopRules(t *testing.T) {
	cfg := Settings{Warmup: 200, Draws: 5000, Seed: 3, StopWhen: StopRule{RHat: 1.01, ESS: 400, Every: 50}}
	first := mustSample(t, &eightSchools{}, cfg)
	if n := first.Len(0); n >= 5000 || n%50 != 0 || first.Len(3) != n || first.Stopped == "" {
		t.Fatalf("stopped after %d draws (%q)", n, first.Stopped)
	}
	if s := first.Summary(); !(s.MaxRHat() <= 1.01 && s.MinESS() >= 400) {
		t.Errorf("stopped with R-hat %g, ESS %g", s.MaxRHat(), s.MinESS())
	}
	cfg.Parallel = 1
	if again := mustSample(t, &eightSchools{}, cfg); again.Len(0) != first.Len(0) || again.Row(2, 10)[3] != first.Row(2, 10)[3] {
		t.Errorf("stopped after %d draws, then after %d", first.Len(0), again.Len(0))
	}
	slow := Func(1, func(q, g []float64) float64 { time.Sleep(time.Millisecond); g[0] = -q[0]; return -q[0] * q[0] / 2 })
	fit := mustSample(t, slow, Settings{StopWhen: StopRule{MaxTime: 150 * time.Millisecond}})
	if fit.Stopped != "the time was up" || fit.Len(0) >= 1000 {
		t.Errorf("stopped after %d draws: %q", fit.Len(0), fit.Stopped)
	}
}

func TestProgress(t *testing.T) {
	var last Progress
	calls := 0
	mustSample(t, &eightSchools{}, Settings{Chains: 2, Warmup: 100, Draws: 50, Progress: func(p Progress) { last, calls = p, calls+1 }})
	if !last.Done || calls == 0 || len(last.Chains) != 2 || last.Remaining() != 0 {
		t.Fatalf("%d calls, last %+v", calls, last)
	}
	for _, c := range last.Chains {
		if c.Draw != 150 || c.Total != 150 || c.Warmup || c.Running || c.Gradients == 0 || c.StepSize == 0 {
			t.Errorf("chain ended at %+v", c)
		}
	}
}

func TestBadSettingsAreListedTogether(t *testing.T) {
	_, err := Sample(t.Context(), independent(1, 1), Settings{Chains: -1, TargetAccept: 1.5, MaxTreeDepth: 99, Init: [][]float64{{1}}})
	for _, word := range []string{"(Settings.Chains, --chains on the command line) is -1", "(Settings.TargetAccept, --target-accept on the command line) is 1.5", "(Settings.MaxTreeDepth, --max-tree-depth on the command line) is 99", "(Settings.Init) has length 1"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("error does not mention %q: %v", word, err)
		}
	}
}

type named struct {
	Target
	names []string
}

func (n named) Clone() Target                { return named{n.Target.Clone(), n.names} }
func (n named) Names() []string              { return n.names }
func (n named) Len() int                     { return 2 }
func (n named) Write(q, out []float64) error { copy(out, q); return nil }

func TestOutputNames(t *testing.T) {
	for names, word := range map[string]string{"a a": `"a"`, "a": "1 names for 2 outputs"} {
		if _, err := Sample(t.Context(), named{independent(1, 1), strings.Fields(names)}, Settings{}); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("names %s: error %v", names, err)
		}
	}
}

type failingOutputs struct {
	named
	err error
}

func (f failingOutputs) Clone() Target {
	return failingOutputs{named{f.Target.Clone(), f.names}, f.err}
}
func (f failingOutputs) Write(_, out []float64) error { return f.err }

// Outputs that cannot be computed at a point are NaN there; other errors end the
// chain.
func TestOutputErrors(t *testing.T) {
	target := failingOutputs{named{independent(1, 1), []string{"a", "b"}}, Reject(errors.New("no root"))}
	fit := mustSample(t, target, Settings{Warmup: 30, Draws: 5})
	if x := fit.Draws("b")[2][3]; !math.IsNaN(x) || fit.OK(diag.Criteria{}) {
		t.Errorf("output is %g", x)
	}
	target.err = errors.New("table is missing")
	if _, err := Sample(t.Context(), target, Settings{Warmup: 30, Draws: 5}); err == nil || !strings.Contains(err.Error(), "outputs: table is missing") {
		t.Errorf("error %v", err)
	}
}

func logAddExp(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// The time that is left is that of the slowest chain, or that of all draws where chains wait for others.
func TestRemainingTime(t *testing.T) {
	chain := func(draw int, running bool) ChainProgress {
		return ChainProgress{Draw: draw, Total: 1000, Running: running}
	}
	for want, chains := range map[time.Duration][]ChainProgress{
		30 * time.Second: {chain(250, true), chain(500, true)},
		10 * time.Second: {chain(1000, false), chain(500, true)},
		15 * time.Second: {chain(1000, false), chain(600, true), chain(0, false), chain(0, false)},
		0:                {chain(0, true), chain(500, true)},
	} {
		got := Progress{Chains: chains, Elapsed: 10 * time.Second}.Remaining()
		if got != want {
			t.Errorf("%+v: %v, want %v", chains, got, want)
		}
	}
}
