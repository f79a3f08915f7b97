// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/infer/internal/warmup"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/optim"
)

// ChEESSettings says how to sample with many chains; its zero value is the default.
type ChEESSettings struct {
	// Chains is the number of chains, at least 8. Default 64.
	Chains int
	// Warmup is the number of draws per chain that adapt. Default 400.
	Warmup int
	// Draws is the number of draws that are kept per chain. Default 100.
	Draws int
	// Seed is the seed of all random numbers.
	Seed uint64
	// TargetAccept is the target of the harmonic mean of the acceptance rates. Default
	// 0.651.
	TargetAccept float64
	// MaxSteps bounds the leapfrog steps of one trajectory. Default 1000.
	MaxSteps int
	// InitRadius bounds random starts, which are uniform within it. Default 2.
	InitRadius float64
	Init       [][]float64
	// Parallel is the number of goroutines. Default GOMAXPROCS.
	Parallel int

	// NoGradientCheck is as in Settings.
	NoGradientCheck bool
}

// ChEES draws with many chains of Hamiltonian Monte Carlo that share step, metric
// and trajectory length, which together they adapt: the length grows while longer
// trajectories carry the squared distance from the mean further. All chains make
// the same number of steps, which suits devices that run many chains at once; for
// a few chains take Sample.
//
// Where the density of a Posterior runs on a GPU, all chains are lanes of one program there, and whole trajectories
// run without the processor: for each draw only a momentum is sent to the GPU and only the new position is fetched. GPUs of
// autodiff.Several share the chains. Starts are found one chain at a time, on the processor if the density is small.
//
// Reference: Hoffman, Radul and Sountsov, AISTATS 2021, PMLR 130:3907.
func ChEES(ctx context.Context, t Target, c ChEESSettings) (*Fit, error) {
	if err := given.Args("infer.ChEES", "ctx", ctx, "t", t); err != nil {
		return nil, err
	}
	if t.Dim() == 0 {
		return nil, errors.New("infer: ChEES: the target has no parameters to sample: declare at least one")
	}
	for _, s := range []struct {
		v *int
		d int
	}{{&c.Chains, 64}, {&c.Warmup, 400}, {&c.Draws, 100}, {&c.MaxSteps, 1000}} {
		if *s.v == 0 {
			*s.v = s.d
		}
	}
	if c.TargetAccept == 0 {
		c.TargetAccept = 0.651
	}
	if c.Chains < 8 || c.MaxSteps < 1 {
		return nil, fmt.Errorf("infer: ChEES: there are %d chains of at most %d steps: want at least 8 chains, because they adapt together, and at least 1 step", c.Chains, c.MaxSteps)
	}
	cfg, err := Settings{Method: HMC, Chains: c.Chains, Warmup: c.Warmup, Draws: c.Draws, Seed: c.Seed, TargetAccept: c.TargetAccept,
		InitRadius: c.InitRadius, Init: c.Init, Parallel: c.Parallel, Metric: DiagFisher, NoGradientCheck: c.NoGradientCheck}.withDefaults(t.Dim())
	if err != nil {
		return nil, err
	}
	lanes, t, err := lanesOf(t, c.Chains)
	if err != nil {
		return nil, err
	}
	r, err := newRun(t, cfg)
	if err != nil {
		return nil, err
	}
	r.addChains(t)
	if err := cfg.checkFunc(ctx, t); err != nil {
		return nil, err
	}
	h := &cheesRun{lanes: lanes, run: r, cfg: &c, length: 1, estimate: warmup.NewEstimator(DiagFisher, t.Dim(), false)}
	h.dual = warmup.DualAverage{Delta: c.TargetAccept, MaxLog: math.Inf(1)}
	h.adam = &optim.Descent{Rule: optim.Adam{Beta2: 0.95}, LR: 0.025}
	begin := time.Now()
	errs := h.iterate(ctx)
	r.elapsed = time.Since(begin)
	return newFit(r), errors.Join(errs...)
}

// cheesRun holds chains that move together.
type cheesRun struct {
	run *run
	cfg *ChEESSettings
	// length is the length of trajectories in whitened units, before jitter.
	length float64
	dual   warmup.DualAverage
	adam   *optim.Descent

	estimate    warmup.Estimator
	transitions []cheesTransition

	// lanes follow the trajectories of all chains on devices, nil where each chain does its own.
	lanes []*chainLanes
}

// cheesTransition is what one chain did in the last iteration, in whitened coordinates.
type cheesTransition struct {
	from, to, velocity []float64
	rate               float64
	err                error
}

// iterate runs all iterations and returns what went wrong.
func (h *cheesRun) iterate(ctx context.Context) []error {
	chains := h.run.chains
	h.transitions = make([]cheesTransition, len(chains))
	h.forEach(func(i int, c *chain) {
		n := len(c.p.Q)
		h.transitions[i] = cheesTransition{from: make([]float64, n), to: make([]float64, n), velocity: make([]float64, n), err: c.begin()}
	})
	if errs := h.failures(); errs != nil {
		return errs
	}
	eps := 0.0
	for _, c := range chains {
		eps += math.Log(c.ad.StepSize) / float64(len(chains))
	}
	h.setShared(hamiltonian.Metric{}, math.Exp(eps))
	h.dual.Restart(math.Exp(eps))
	for i := range h.cfg.Warmup + h.cfg.Draws {
		if ctx.Err() != nil {
			return []error{ctx.Err()}
		}
		u := halton(i + 1)
		steps := max(1, int(math.Ceil(min(float64(h.cfg.MaxSteps), u*h.length/chains[0].ad.StepSize))))
		if h.lanes != nil {
			if err := h.together(steps, i < h.cfg.Warmup); err != nil {
				return []error{err}
			}
		} else {
			h.forEach(func(k int, c *chain) { h.transitions[k].err = h.transitions[k].make(c, steps) })
		}
		if errs := h.failures(); errs != nil {
			return errs
		}
		if i < h.cfg.Warmup {
			h.adapt(i, u)
		}
	}
	return nil
}

// make moves one chain and records the draw.
func (m *cheesTransition) make(c *chain, steps int) error {
	c.whiten(m.from, c.p.Q)
	c.fixed.Steps = steps
	out, err := c.fixed.Move(&c.p, c.ad.StepSize)
	return m.keep(c, out, err)
}

// whiten writes a place in units of the metric's scales.
func (c *chain) whiten(dst, q []float64) {
	copy(dst, q)
	for i := range c.ad.Metric.Scale {
		dst[i] /= c.ad.Metric.Scale[i]
	}
}

// keep records the draw of a transition.
func (m *cheesTransition) keep(c *chain, out *hamiltonian.Transition, err error) error {
	if err != nil {
		return c.fault(err)
	}
	c.whiten(m.to, c.tr.Ends[1].Q)
	copy(m.velocity, c.tr.Ends[1].Z)
	if m.rate = out.Rate(false); out.Divergent {
		m.rate = 0
	}
	if err := c.record(out); err != nil {
		return c.fault(err)
	}
	if c.done++; c.done <= c.cfg.warmup() {
		c.warmupGrads = c.tr.Count
	}
	return nil
}

// forEach calls f for every chain.
func (h *cheesRun) forEach(f func(i int, c *chain)) {
	parallel.Do(h.run.cfg.Parallel, len(h.run.chains), func(_, i int) {
		defer given.Caught(&h.transitions[i].err)
		f(i, h.run.chains[i])
	})
}

func (h *cheesRun) failures() (errs []error) {
	for _, m := range h.transitions {
		if m.err != nil {
			errs = append(errs, m.err)
		}
	}
	return errs
}

// setShared gives all chains one metric and step.
func (h *cheesRun) setShared(m hamiltonian.Metric, eps float64) {
	for _, c := range h.run.chains {
		c.ad.Metric, c.ad.StepSize = m, eps
	}
}

// cheesWindows are the parts of the warm-up after which the metric is estimated,
// from all chains' draws since the last.
var cheesWindows = []float64{0.05, 0.1, 0.2, 0.4, 0.7}

// adapt learns from iteration i with jitter u.
func (h *cheesRun) adapt(i int, u float64) {
	inverse := 0.0
	for _, m := range h.transitions {
		inverse += 1 / math.Max(m.rate, 1e-3) / float64(len(h.transitions))
	}
	eps := h.dual.Update(1 / inverse)
	if i == h.cfg.Warmup-1 {
		eps = h.dual.Final()
	}
	if i >= 20 { // the way from the start tells nothing of lengths
		h.adaptLength(u)
	}
	metric := h.run.chains[0].ad.Metric
	for _, c := range h.run.chains {
		h.estimate.Add(slices.Clone(c.p.Q), slices.Clone(c.p.G))
	}
	for _, part := range cheesWindows {
		if i == int(part*float64(h.cfg.Warmup)) {
			if m, ok := h.estimate.Metric(); ok {
				metric = m
				h.dual.Restart(eps)
			}
			h.estimate.Reset()
		}
	}
	h.setShared(metric, eps)
}

// adaptLength makes a step up the ChEES criterion, whose gradient in log length is, by chain,
//
//	u t (|q' - m'|^2 - |q - m|^2) (q' - m') . v'
//
// with the proposals' mean m' and the weight of their acceptance.
func (h *cheesRun) adaptLength(u float64) {
	n := len(h.transitions[0].from)
	before, after, total := make([]float64, n), make([]float64, n), 0.0
	for _, m := range h.transitions {
		linalg.AddScaled(before, 1/float64(len(h.transitions)), m.from)
		if m.rate > 0 && linalg.AllFinite(m.to) {
			linalg.AddScaled(after, m.rate, m.to)
			total += m.rate
		}
	}
	if total == 0 {
		return
	}
	sum := 0.0
	for _, m := range h.transitions {
		if m.rate == 0 || !linalg.AllFinite(m.to) {
			continue
		}
		var far, near, along float64
		for i := range n {
			d, b := m.to[i]-after[i]/total, m.from[i]-before[i]
			far, near, along = far+d*d, near+b*b, along+d*m.velocity[i]
		}
		sum += m.rate / total * u * h.length * (far - near) * along
	}
	if !linalg.Finite(sum) {
		return
	}
	x := []float64{math.Log(h.length)}
	at := x[0]
	h.adam.Step(x, []float64{-sum})
	h.length = math.Exp(at + math.Min(math.Max(x[0]-at, -0.35), 0.35))
}

// halton returns element i >= 1 of the Halton sequence of base 2.
func halton(i int) (v float64) {
	for f := 0.5; i > 0; i, f = i/2, f/2 {
		v += f * float64(i%2)
	}
	return v
}
