// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/stat"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/warmup"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// A pilot run of all chains finds the coordinates in which the posterior is nearest to independent normal distributions, before the warm-up: by the
// sum over parameters of log(var z var g), where g is the gradient along z, which is 0 for independent normals and the Fisher divergence
// that the best diagonal metric leaves (arXiv:2603.18845). It takes draws and gradients only, no further evaluations of the model.
const (
	pilotDepth         = 5   // of trees, since draws of a pilot need not be independent
	pilotRounds        = 2   // the second looks from the coordinates that the first has found
	shortestAfterPilot = 150 // draws of a warm-up that follows
	leastGain          = 0.2 // for each element that moves, below which coordinates stay
	smallPilot         = 50  // parameters up to which a pilot is short
)

// pilotDraws returns the draws of each chain in a pilot, and how many of them are on their way.
func pilotDraws(dim int) (draws, begins int) {
	if dim <= smallPilot {
		return 60, 20
	}
	return 120, 40
}

// pilot is the result of pilot runs.
type pilot struct {
	target Target
	starts [][]float64
	grads  []int             // of each chain
	learnt []*warmup.Adapter // of each chain, nil where the last coordinates have not been sampled yet
	draws  int               // of each chain
	told   []string
	pool   *modeSearch // the search for starts
}

// runPilot returns the posterior in the coordinates that pilot runs choose, or nil if there is nothing to choose.
func runPilot(ctx context.Context, t Target, cfg Settings) (*pilot, error) {
	f := coordinatesOf(t)
	if f == nil {
		return nil, nil
	}
	judge, err := f.newJudge()
	if err != nil {
		return nil, err
	}
	draws, _ := pilotDraws(f.dim)
	cfg.Warmup, cfg.Draws, cfg.KeepWarmup, cfg.Sink, cfg.Checkpoint, cfg.Resume = draws, 1, false, Sink{Every: 1}, Checkpoint{}, ""
	cfg.MaxTreeDepth = min(cfg.MaxTreeDepth, pilotDepth)
	h, out := f.asDeclared(), &pilot{target: t, grads: make([]int, cfg.Chains)}
	at, err := f.in(h)
	if err != nil {
		return nil, err
	}
	for range pilotRounds {
		seen, ends, learnt, err := f.gather(ctx, at, cfg, out)
		out.learnt, out.draws = learnt, out.draws+draws
		if err != nil || len(seen) < 20*cfg.Chains {
			return nil, err // which the run itself tells
		}
		next, err := judge.choose(h, seen)
		if err != nil {
			return nil, err
		}
		same := slices.Equal(next.c, h.c) && slices.Equal(next.k, h.k)
		if !same {
			h, out.learnt = next, nil
			if at, err = f.in(h); err != nil {
				return nil, err
			}
		}
		out.starts = make([][]float64, cfg.Chains)
		for i, q := range ends {
			out.starts[i] = make([]float64, f.dim)
			if err := at.coordinatesAt(q, out.starts[i]); err != nil || !linalg.AllFinite(out.starts[i]) {
				return nil, err
			}
		}
		if same {
			break
		}
		cfg.Init = out.starts
	}
	if !h.declared() {
		out.target, out.told = at.outward(), f.told(h)
	}
	return out, nil
}

// move returns the target in the coordinates that the settings ask for, and what a pilot run found, if there was one.
func (c *Settings) move(ctx context.Context, t Target) (Target, *pilot, error) {
	if from := c.From; from != nil && len(from.chains) > 0 {
		m, f := movedOf(from.chains[0].target), coordinatesOf(t)
		if m == nil || f == nil {
			return t, nil, nil
		}
		same, err := f.in(m.of)
		if err != nil {
			return t, nil, err
		}
		c.moves = f.told(m.of)
		return same.outward(), nil, nil
	}
	if !c.pilots() {
		return t, nil, nil
	}
	found, err := runPilot(ctx, t, *c)
	if err != nil || found == nil { // chains that cannot start say so themselves
		return t, nil, ctx.Err()
	}
	c.moves, c.Warmup = found.told, max(c.Warmup-found.draws, shortestAfterPilot)
	return found.target, found, nil
}

// handOver gives chains that have not started what the pilot has learnt and spent.
func (p *pilot) handOver(chains []*chain) {
	if p == nil {
		return
	}
	for i, c := range chains {
		if c.started {
			continue
		}
		c.tr.Count, c.given, c.pool = p.grads[i], p.starts[i], p.pool
		if p.learnt != nil {
			c.ad.Scale = p.learnt[i].Metric.Variances(len(c.p.Q))
			for k, v := range c.ad.Scale {
				c.ad.Scale[k] = math.Sqrt(v)
			}
		}
	}
}

// seenDraw is a draw of the unconstrained parameters with the gradient there.
type seenDraw struct{ q, g []float64 }

// gather runs the chains of a pilot, and returns draws with gradients and the ends of the chains, all of the unconstrained parameters.
func (f *family) gather(ctx context.Context, t *moved, cfg Settings, out *pilot) (all []seenDraw, ends [][]float64, learnt []*warmup.Adapter, err error) {
	draws, begins := pilotDraws(f.dim)
	var stop atomic.Bool
	release := context.AfterFunc(ctx, func() { stop.Store(true) })
	defer release()
	chains := make([]*chain, cfg.Chains)
	seen := make([][]seenDraw, cfg.Chains)
	ends = make([][]float64, cfg.Chains)
	errs := make([]error, cfg.Chains)
	for i := range chains {
		chains[i] = newChain(&cfg, cfg.FirstChain+i, t.Clone(), &stop)
		chains[i].outputs = nil
		chains[i].pool = chains[0].pool
		chains[i].momentum = tensor.NewStream(cfg.Seed, purposePilotMomentum, uint32(chains[i].id))
		chains[i].choice = tensor.NewStream(cfg.Seed, purposePilotTree, uint32(chains[i].id))
	}
	if out.pool == nil {
		out.pool = chains[0].pool
	}
	places := make(chan struct{}, cfg.Parallel)
	var wg sync.WaitGroup
	for i, c := range chains {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			declared := f.target.Clone()
			for c.done < draws && !stop.Load() {
				if errs[i] = c.step(); errs[i] != nil {
					return
				}
				if c.done < begins {
					continue
				}
				d := seenDraw{make([]float64, f.dim), make([]float64, f.dim)}
				if _, errs[i] = movedOf(c.target).Declared(c.p.Q, d.q); errs[i] != nil {
					return
				}
				c.tr.Count++
				if lp, err := declared.LogProbGrad(d.q, d.g); err == nil && linalg.Finite(lp) && linalg.AllFinite(d.g) {
					seen[i], ends[i] = append(seen[i], d), d.q
				}
			}
		})
	}
	wg.Wait()
	for i, c := range chains {
		out.grads[i] += c.tr.Count
		if errs[i] != nil {
			return nil, nil, nil, errs[i]
		}
		if ends[i] == nil {
			return nil, nil, nil, ctx.Err()
		}
		all, learnt = append(all, seen[i]...), append(learnt, c.ad)
	}
	return all, ends, learnt, ctx.Err()
}

// judge computes the criterion for choices.
type judge struct {
	f          *family
	back, grad *ad.State // coordinates of draws, and gradients along them
	weight     []float64 // of each unconstrained parameter, 0 for those that no choice moves
}

// newJudge makes the programs of the criterion.
func (f *family) newJudge() (*judge, error) {
	n := len(f.Inputs)
	j := &judge{f: f, weight: make([]float64, f.dim)}
	choices, list := f.inputs()
	back, err := ad.Compile(f.backward(f.asDeclared(), choices), ad.Settings{Inputs: slices.Concat(f.Inputs, list, f.Given), Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, err
	}
	z, v := make([]*ad.Node, n), make([]*ad.Node, n)
	for i, u := range f.Inputs {
		z[i], v[i] = ad.Input("z", u.Shape()...), ad.Input("v", u.Shape()...)
	}
	q, logDet := f.forward(z, f.asDeclared(), choices)
	terms := []*ad.Node{logDet}
	for i := range q {
		terms = append(terms, ad.Sum(ad.Mul(q[i], v[i])))
	}
	grad, err := ad.Compile(ad.Grad(ad.AddN(terms...), z...), ad.Settings{Inputs: slices.Concat(z, v, list, f.Given), Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, err
	}
	j.back, j.grad = stateWith(back, n+len(list), f.GivenValues), stateWith(grad, 2*n+len(list), f.GivenValues)
	span := func(i int) []float64 { return j.weight[f.first[i] : f.first[i]+f.Inputs[i].Size()] }
	for _, i := range f.Positive {
		span(i)[0] = max(span(i)[0], 1)
	}
	for _, l := range f.located {
		for k := range span(l.Input) {
			span(l.Input)[k] = max(span(l.Input)[k], 1)
		}
		for _, parent := range l.parents { // the scale of many elements limits all of them
			share := float64(len(span(l.Input))) / 4 / float64(len(span(parent)))
			for k := range span(parent) {
				span(parent)[k] = max(span(parent)[k], 1) + share
			}
		}
	}
	return j, nil
}

// score is the criterion of a choice over draws: 0 for independent normals, and more the less a diagonal metric makes of them.
func (j *judge) score(h choice, draws []seenDraw) (float64, error) {
	n := len(j.f.Inputs)
	values := h.values()
	copy(j.back.InputSpan(n, n+len(values)), values)
	copy(j.grad.InputSpan(2*n, 2*n+len(values)), values)
	z, g := make([][]float64, j.f.dim), make([][]float64, j.f.dim) // columns
	for _, d := range draws {
		copy(j.back.InputSpan(0, n), d.q)
		if err := j.back.Run(); err != nil {
			return 0, err
		}
		copy(j.grad.InputSpan(0, n), j.back.OutputSpan(0, n))
		copy(j.grad.InputSpan(n, 2*n), d.g)
		if err := j.grad.Run(); err != nil {
			return 0, err
		}
		for i, v := range j.back.OutputSpan(0, n) {
			z[i] = append(z[i], v)
		}
		for i, v := range j.grad.OutputSpan(0, n) {
			g[i] = append(g[i], v)
		}
	}
	sum := 0.0
	for i, w := range j.weight {
		if w > 0 {
			sum += w * math.Log(stat.Variance(z[i], nil)*stat.Variance(g[i], nil))
		}
	}
	if !linalg.Finite(sum) { // nothing moves, or nothing is left of it
		sum = math.Inf(1)
	}
	return sum, nil
}

// rounded rounds a number to two digits, so that choices can be told.
func rounded(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return math.Round(x/unit) * unit
}

// choose returns the best choice near another one, which stays unless another is clearly better.
func (j *judge) choose(from choice, draws []seenDraw) (choice, error) {
	best := from.clone()
	least, err := j.score(best, draws)
	if err != nil {
		return best, err
	}
	// try takes a value over if the criterion falls by enough for the elements that it moves.
	try := func(at *float64, values []float64, elements int) error {
		keep := *at
		low, found := least-min(leastGain*float64(elements), 1+0.02*math.Abs(least)), keep
		for _, v := range values {
			if v == keep {
				continue
			}
			*at = v
			s, err := j.score(best, draws)
			if err != nil {
				return err
			}
			if s < low {
				low, found = s, v
			}
		}
		if *at = found; found != keep {
			least = low
		}
		return nil
	}
	for range 2 {
		for i, l := range j.f.located {
			if err := try(&best.c[i], []float64{0, 0.25, 0.5, 0.75, 1}, j.f.Inputs[l.Input].Size()); err != nil {
				return best, err
			}
		}
		for i, param := range j.f.Positive {
			mean := 0.0
			for _, d := range draws {
				mean += math.Exp(d.q[j.f.first[param]]) / float64(len(draws))
			}
			k := rounded(1 / mean)
			if err := try(&best.k[i], []float64{0, k / 2, k}, 1); err != nil {
				return best, err
			}
		}
	}
	return best, nil
}
