// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/optim"
)

func rosenbrockN(x, g []float64) (f float64) {
	clear(g)
	for i := range len(x) - 1 {
		a, b := x[i+1]-x[i]*x[i], 1-x[i]
		f += 100*a*a + b*b
		g[i] += -400*a*x[i] - 2*b
		g[i+1] += 200 * a
	}
	return f
}

func quadratic2(x, g []float64) float64 {
	g[0], g[1] = 3*x[0]+.5*x[1]-1, .5*x[0]+x[1]-1
	return .5*(x[0]*(3*x[0]+.5*x[1])+x[1]*(.5*x[0]+x[1])) - x[0] - x[1]
}

// descents are optimisers of all kinds.
func descents() map[string]*optim.Descent {
	q := func(r optim.Rule, lr float64) *optim.Descent { return &optim.Descent{Rule: r, LR: lr} }
	scheduled := func(r optim.Rule, lr float64, s optim.Schedule) *optim.Descent {
		return &optim.Descent{Rule: r, LR: lr, Schedule: s}
	}
	return map[string]*optim.Descent{
		"sgd":                       q(optim.SGD{}, 1e-3),
		"sgd_momentum":              q(optim.SGD{Momentum: .9}, 1e-4),
		"sgd_nesterov":              q(optim.SGD{Momentum: .9, Nesterov: true}, 1e-4),
		"sgd_momentum_dampening_l2": q(optim.SGD{Momentum: .8, Dampening: .1, WeightDecay: .01}, .05),
		"adam":                      q(optim.Adam{}, .05),
		"adam_amsgrad":              q(optim.Adam{AMSGrad: true}, .05),
		"adam_l2":                   q(optim.Adam{WeightDecay: .1}, .1),
		"adamw":                     q(optim.Adam{WeightDecay: .1, Decoupled: true}, .1),
		"rmsprop":                   q(optim.RMSProp{}, .01),
		"rmsprop_centered_momentum": q(optim.RMSProp{Alpha: .95, Centered: true, Momentum: .5}, .01),
		"adagrad":                   q(optim.Adagrad{}, .5),
		"adadelta":                  q(optim.Adadelta{}, 1),
		"adamax":                    q(optim.Adamax{}, .1),
		"nadam":                     q(optim.NAdam{Torch110: true}, .1),
		"radam":                     q(optim.RAdam{}, .1),
		"adam_clip_norm":            {Rule: optim.Adam{}, LR: .05, ClipNorm: 1},
		"sgd_clip_norm":             {Rule: optim.SGD{}, LR: .01, ClipNorm: 5},
		"sgd_clip_value":            {Rule: optim.SGD{}, LR: .01, ClipValue: 2},
		"sgd_cosine":                scheduled(optim.SGD{}, .1, optim.Cosine(20, .001)),
		"sgd_exponential":           scheduled(optim.SGD{}, .1, optim.Exponential(.9)),
		"sgd_step":                  scheduled(optim.SGD{}, .1, optim.StepDecay(5, .5)),
		"sgd_warmup_linear":         scheduled(optim.SGD{}, .1, optim.Warmup(.1, 8)),
		"sgd_onecycle":              scheduled(optim.SGD{Momentum: .9}, .2, optim.OneCycle(25, .3)),
	}
}

// trajectory is the path of an optimiser; its name begins with that of the rule.
type trajectory struct {
	Function   string
	Hyper      map[string]any
	X0         []float64
	Trajectory [][]float64
}

// descent makes the optimiser, nil if its rule or schedule is unknown.
func (c *trajectory) descent(name string) *optim.Descent {
	num := func(key string) float64 { v, _ := c.Hyper[key].(float64); return v }
	is := func(key string) bool { v, _ := c.Hyper[key].(bool); return v }
	decay := num("weight_decay") + num("weight_decay_l2")
	rule, _, _ := strings.Cut(name, "_")
	d := &optim.Descent{LR: num("lr"), ClipNorm: num("clip_global_norm"), ClipValue: num("clip_value"), Rule: map[string]optim.Rule{
		"sgd":      optim.SGD{Momentum: num("momentum"), Dampening: num("dampening"), Nesterov: is("nesterov"), WeightDecay: decay},
		"adam":     optim.Adam{Beta1: num("beta1"), Beta2: num("beta2"), Eps: num("eps"), AMSGrad: is("amsgrad"), WeightDecay: decay},
		"adamw":    optim.Adam{Beta1: num("beta1"), Beta2: num("beta2"), Eps: num("eps"), WeightDecay: num("weight_decay_decoupled"), Decoupled: true},
		"rmsprop":  optim.RMSProp{Alpha: num("alpha"), Eps: num("eps"), Centered: is("centered"), Momentum: num("momentum"), WeightDecay: decay},
		"adagrad":  optim.Adagrad{Eps: num("eps"), Initial: num("initial_accumulator"), WeightDecay: decay},
		"adadelta": optim.Adadelta{Rho: num("rho"), Eps: num("eps")},
		"adamax":   optim.Adamax{Beta1: num("beta1"), Beta2: num("beta2"), Eps: num("eps")},
		"nadam":    optim.NAdam{Torch110: true},
		"radam":    optim.RAdam{},
	}[rule]}
	if text, ok := c.Hyper["schedule"].(string); ok && d.Rule != nil {
		var n int
		var a, b float64
		reads := func(format string, into ...any) bool { _, err := fmt.Sscanf(text, format, into...); return err == nil }
		switch {
		case reads("cosine annealing, T_max=%d, eta_min=%g", &n, &a):
			d.Schedule = optim.Cosine(n, a)
		case reads("exponential gamma=%g", &a):
			d.Schedule = optim.Exponential(a)
		case reads("step size=%d gamma=%g", &n, &a):
			d.Schedule = optim.StepDecay(n, a)
		case reads("linear warm-up factor %g->1 in %d steps", &a, &n):
			d.Schedule = optim.Warmup(a, n)
		case reads("one-cycle max_lr=%g total_steps=%d pct_start=%g cos", &a, &n, &b):
			d.LR, d.Schedule, d.Rule = a, optim.OneCycle(n, b), optim.SGD{Momentum: 0.9}
		default:
			return nil
		}
	}
	if d.Rule == nil {
		return nil
	}
	return d
}

// Trajectories of PyTorch 1.13 in float64.
func TestDescentTrajectories(t *testing.T) {
	var all map[string]json.RawMessage
	golden.JSON(t, &all, "inference", "optim", "first_order_trajectories.json")
	worst := 0.0
	for name, text := range all {
		if name[0] == '_' { // a note
			continue
		}
		var c trajectory
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		d := c.descent(name)
		if d == nil {
			t.Logf("not compared: this test does not know the rule or schedule of %s", name)
			continue
		}
		f := rosenbrockN
		if c.Function == "quadratic2" {
			f = quadratic2
		}
		x, g := append([]float64{}, c.X0...), make([]float64, len(c.X0))
		for k, want := range c.Trajectory {
			f(x, g)
			d.Step(x, g)
			for i, w := range want {
				e := math.Abs(x[i]-w) / max(math.Abs(w), 1e-3)
				if worst = max(worst, e); e > 1e-12 {
					t.Fatalf("%s step %d: %v, want %v", name, k, x, want)
				}
			}
		}
	}
	t.Logf("largest deviation %.1e", worst)
}

func TestDescentStateContinues(t *testing.T) {
	for name, d := range descents() {
		for _, accumulate := range []int{1, 3} {
			x, g := []float64{2, -3}, make([]float64, 2)
			d.State, d.Accumulate, d.Average = optim.DescentState{}, accumulate, .9
			for range 10 {
				quadratic2(x, g)
				d.Step(x, g)
			}
			b, err := json.Marshal(d.State)
			if err != nil {
				t.Fatal(err)
			}
			e := descents()[name]
			e.Accumulate, e.Average = accumulate, .9
			if err := json.Unmarshal(b, &e.State); err != nil {
				t.Fatal(err)
			}
			y := append([]float64{}, x...)
			for range 5 {
				quadratic2(x, g)
				d.Step(x, g)
				quadratic2(y, g)
				e.Step(y, g)
			}
			if !slices.Equal(x, y) || !slices.Equal(d.Averaged(), e.Averaged()) {
				t.Errorf("%s: continued at %v, want %v", name, y, x)
			}
		}
	}
}

// The published first step, by hand: m = 0.1 g, so that the step is
// 1 + 0.1 mu_2/(1 - mu_1 mu_2) learning rates.
func TestNAdamAsPublished(t *testing.T) {
	x := []float64{2}
	(&optim.Descent{Rule: optim.NAdam{}, LR: .1}).Step(x, []float64{3})
	mu1, mu2 := .9*(1-.5*math.Pow(.96, .004)), .9*(1-.5*math.Pow(.96, .008))
	if want := 2 - .1*(1+.1*mu2/(1-mu1*mu2)); math.Abs(x[0]-want) > 1e-9 {
		t.Errorf("%.12g, want %.12g", x[0], want)
	}
}

// Trajectories of PyTorch 1.13 with gradients from a counter-based generator: of rules, and of rules as graphs.
func TestDescentOnGivenGradients(t *testing.T) { givenGradients(t, false) }

func TestDescentOnDevice(t *testing.T) {
	pretend.Shared(t)
	givenGradients(t, true)
}

// A rule as a graph follows a schedule that sets the momentum in some steps as Descent does, also where the rule has none of its own.
// A centred RMSProp does not fail at gradients that do not change, whose variance rounding takes below 0.
func TestRulesAsGraphs(t *testing.T) {
	cycle := optim.Join(optim.Join(optim.Cosine(4, 0.1), 4, optim.OneCycle(10, 0.3)), 14, optim.Cosine(5, 0.1))
	for _, r := range []optim.Rule{optim.SGD{}, optim.SGD{Dampening: 0.3}, optim.SGD{Momentum: 0.5, Nesterov: true}, optim.RMSProp{}, optim.RMSProp{Momentum: 0.5, Centered: true}, optim.Adam{}, optim.Adagrad{}} {
		k, err := optim.Buffers(r, true)
		if err != nil {
			t.Fatal(err)
		}
		u := optim.UpdateNodes{X: ad.Input("x", 2), G: ad.Input("g", 2), Rate: ad.Input("rate"), Step: ad.Input("step"), Momentum: ad.Input("momentum")}
		for range k {
			u.Memory = append(u.Memory, ad.Input("memory", 2))
		}
		x, memory := optim.Update(r, u)
		p, err := ad.Compile(append([]*ad.Node{x}, memory...), ad.Settings{Inputs: append([]*ad.Node{u.X, u.G, u.Rate, u.Step, u.Momentum}, u.Memory...)})
		if err != nil {
			t.Fatal(err)
		}
		s, d, want := p.NewState(), optim.Descent{Rule: r, LR: 0.1, Schedule: cycle}, []float64{1, -2}
		s.Input(0)[0], s.Input(0)[1] = 1, -2
		for step := range 19 {
			g := []float64{math.Sin(float64(step)), 0.3 * float64(step)}
			rate, momentum := cycle(0.1, step)
			copy(s.Input(1), g)
			s.Input(2)[0], s.Input(3)[0], s.Input(4)[0] = rate, float64(step+1), momentum
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			for i := range 1 + k {
				to := 0
				if i > 0 {
					to = 4 + i
				}
				copy(s.Input(to), s.Output(i))
			}
			d.Step(want, g)
			if got := s.Output(0); math.Abs(got[0]-want[0])+math.Abs(got[1]-want[1]) > 1e-9 {
				t.Errorf("%T%+v, step %d: %v, want %v", r, r, step, got, want)
				break
			}
		}
	}
	graph, d, x := newRuleGraph(t, optim.RMSProp{Centered: true}, 1, nil), optim.Descent{Rule: optim.RMSProp{Centered: true}, LR: 1e-3}, []float64{0}
	for step := range 4000 {
		graph.step(t, 1e-3, step+1, []float64{0.1})
		d.Step(x, []float64{0.1})
	}
	if math.IsNaN(x[0]) || math.IsNaN(graph.x[0]) {
		t.Errorf("a constant gradient leads to %v, and to %v as a graph", x, graph.x)
	}
}

// ruleGraph is a rule as a program, whose memory is carried from step to step.
type ruleGraph struct {
	state    *ad.State
	x        []float64
	memories int
}

func newRuleGraph(t *testing.T, r optim.Rule, n int, backend ad.Backend) *ruleGraph {
	t.Helper()
	k, err := optim.Buffers(r, false)
	if err != nil {
		t.Fatal(err)
	}
	u := optim.UpdateNodes{X: ad.Input("x", n), G: ad.Input("g", n), Rate: ad.Input("rate"), Step: ad.Input("step")}
	for range k {
		u.Memory = append(u.Memory, ad.Input("memory", n))
	}
	x, memory := optim.Update(r, u)
	p, err := ad.Compile(append([]*ad.Node{x}, memory...), ad.Settings{Inputs: append([]*ad.Node{u.X, u.G, u.Rate, u.Step}, u.Memory...), Backend: backend})
	if err != nil {
		t.Fatal(err)
	}
	return &ruleGraph{p.NewState(), make([]float64, n), k}
}

func (r *ruleGraph) step(t *testing.T, rate float64, step int, g []float64) {
	t.Helper()
	for i, v := range [][]float64{r.x, g, {rate}, {float64(step)}} {
		if err := r.state.SetInput(i, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.state.Run(); err != nil {
		t.Fatal(err)
	}
	copy(r.x, r.state.OutputFloat64(0))
	for k := range r.memories {
		if err := r.state.SetInput(4+k, r.state.OutputFloat64(1+k)); err != nil {
			t.Fatal(err)
		}
	}
}

func givenGradients(t *testing.T, device bool) {
	t.Helper()
	var f struct {
		Cases []struct {
			ID, Op string
			Attrs  map[string]any
			Inputs struct {
				P0   golden.Input `json:"p0"`
				Grad struct {
					Shape  []int
					Gen    string
					Seed   string
					Lo, Hi float64
				} `json:"grad_step_k"`
			}
			Outputs struct {
				Params [][]float64          `json:"params_after_step"`
				State  map[string][]float64 `json:"-"`
			}
		}
	}
	golden.JSON(t, &f, "cuda", "optim.json")
	for _, c := range f.Cases {
		num := func(name string) float64 { v, _ := c.Attrs[name].(float64); return v }
		is := func(name string) bool { v, _ := c.Attrs[name].(bool); return v }
		var beta1, beta2 float64
		if b, ok := c.Attrs["betas"].([]any); ok {
			beta1, beta2 = b[0].(float64), b[1].(float64)
		}
		rules := map[string]optim.Rule{
			"sgd":     optim.SGD{Momentum: num("momentum"), Dampening: num("dampening"), Nesterov: is("nesterov"), WeightDecay: num("weight_decay")},
			"adam":    optim.Adam{Beta1: beta1, Beta2: beta2, Eps: num("eps"), AMSGrad: is("amsgrad"), WeightDecay: num("weight_decay")},
			"adamw":   optim.Adam{Beta1: beta1, Beta2: beta2, Eps: num("eps"), AMSGrad: is("amsgrad"), WeightDecay: num("weight_decay"), Decoupled: true},
			"rmsprop": optim.RMSProp{Alpha: num("alpha"), Eps: num("eps"), Centered: is("centered"), Momentum: num("momentum"), WeightDecay: num("weight_decay")},
			"adagrad": optim.Adagrad{Eps: num("eps"), Initial: num("initial_accumulator_value"), LRDecay: num("lr_decay"), WeightDecay: num("weight_decay")},
		}
		rule := rules[c.Op]
		if rule == nil {
			t.Errorf("%s: no rule for %s", c.ID, c.Op)
			continue
		}
		graphs := []*ruleGraph{newRuleGraph(t, rule, len(c.Inputs.P0.Values()), ad.CPU{})}
		if device {
			graphs = append(graphs, newRuleGraph(t, rule, len(c.Inputs.P0.Values()), ad.CUDA{}))
		}
		for _, r := range graphs {
			copy(r.x, c.Inputs.P0.Values())
		}
		d := &optim.Descent{Rule: rule, LR: num("lr")}
		x := c.Inputs.P0.Values()
		g := golden.Input{Shape: c.Inputs.Grad.Shape, Gen: c.Inputs.Grad.Gen, Lo: c.Inputs.Grad.Lo, Hi: c.Inputs.Grad.Hi}
		if _, err := fmt.Sscanf(c.Inputs.Grad.Seed, "%d+k", &g.Seed); err != nil {
			t.Fatal(err)
		}
		for k, want := range c.Outputs.Params {
			d.Step(x, g.Values())
			for _, r := range graphs {
				r.step(t, num("lr"), k+1, g.Values())
				if e := distance(r.x, want); e > 1e-12 {
					t.Errorf("%s as a graph, step %d: deviation %.1e: %v, want %v", c.ID, k, e, r.x, want)
				}
			}
			g.Seed++
			if e := distance(x, want); e > 1e-12 {
				t.Errorf("%s step %d: deviation %.1e: %v, want %v", c.ID, k, e, x, want)
				break
			}
		}
	}
}

func TestAccumulatedGradientsAreOneMean(t *testing.T) {
	a, b := []float64{1, 2}, []float64{1, 2}
	one, many := &optim.Descent{Rule: optim.Adam{}, LR: .1}, &optim.Descent{Rule: optim.Adam{}, LR: .1, Accumulate: 2}
	for k := range 6 {
		g := []float64{float64(k), 1}
		moved := many.Step(a, g)
		if moved != (k%2 == 1) {
			t.Errorf("call %d: moved %t", k, moved)
		}
		if k%2 == 1 {
			one.Step(b, []float64{float64(k) - .5, 1})
		}
	}
	if !slices.Equal(a, b) {
		t.Errorf("%v, want %v", a, b)
	}
}

func TestDescend(t *testing.T) {
	x := []float64{2, -3}
	d := &optim.Descent{Rule: optim.SGD{Momentum: .5}, LR: .2, Average: .9}
	if _, err := optim.Descend(context.Background(), quadratic2, x, d, 300); err != nil || math.Abs(x[0]-2./11) > 1e-9 || math.Abs(d.Averaged()[0]-2./11) > 1e-6 {
		t.Errorf("%v %v %v", err, x, d.Averaged())
	}
	if _, err := optim.Descend(context.Background(), quadratic2, []float64{2, -3}, &optim.Descent{Rule: optim.SGD{}, LR: 100}, 1000); err == nil {
		t.Error("a diverging descent has no error")
	}
	if _, err := optim.Descend(context.Background(), quadratic2, x, &optim.Descent{LR: 1}, 10); err == nil {
		t.Error("no rule, no error")
	}
	s := optim.WarmRestarts(10, 2, 0)
	if a, _ := s(1, 10); a != 1 {
		t.Errorf("warm restart: %g", a)
	}
	if a, _ := optim.MultiStep(.1, 3, 6)(1, 7); math.Abs(a-.01) > 1e-15 {
		t.Errorf("multi-step: %g", a)
	}
}

func TestSchedules(t *testing.T) {
	joined := optim.Join(optim.Warmup(.1, 4), 4, optim.Cosine(10, 0))
	for step, want := range map[int]float64{0: .1, 2: .55, 4: 1, 9: .5, 14: 0} {
		if got, _ := joined(1, step); math.Abs(got-want) > 1e-12 {
			t.Errorf("joined at %d: %g, want %g", step, got, want)
		}
	}
	// Lengths of nothing are not worth a panic, nor an endless loop.
	for name, s := range map[string]optim.Schedule{"step": optim.StepDecay(0, .5), "cosine": optim.Cosine(0, 0), "restarts": optim.WarmRestarts(0, 0, 0),
		"warm-up": optim.Warmup(.1, 0), "cycle 0": optim.OneCycle(0, .3), "cycle 1": optim.OneCycle(1, .3), "cycle 2": optim.OneCycle(2, 0)} {
		for step := range 5 {
			if lr, _ := s(1, step); math.IsNaN(lr) || lr < 0 || lr > 1 && name != "step" {
				t.Errorf("%s at %d: %g", name, step, lr)
			}
		}
	}
	told := 0
	d := &optim.Descent{Rule: optim.Adam{}, LR: .1, Accumulate: 2, Progress: func(p optim.Progress) { told = p.Step }}
	if _, err := optim.Descend(context.Background(), quadratic2, []float64{1, 1}, d, 10); err != nil || told != 5 {
		t.Errorf("%v, told %d", err, told)
	}
}
