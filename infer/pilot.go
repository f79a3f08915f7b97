// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

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
	f, err := coordinatesOf(t)
	if f == nil {
		return nil, err
	}
	watch, err := f.newObserver()
	if err != nil {
		return nil, err
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
		seen, ends, learnt, err := f.gather(ctx, at, cfg, out, watch)
		out.learnt, out.draws = learnt, out.draws+draws
		if err != nil || len(seen) < 20*cfg.Chains {
			return nil, err // which the run itself tells
		}
		next := judge.choose(h, seen)
		same := next.same(h)
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
		m := movedOf(from.chains[0].target)
		if m == nil {
			return t, nil, nil
		}
		f, err := coordinatesOf(t)
		if f == nil {
			return t, nil, err
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

// gather runs the chains of a pilot, and returns draws with gradients and the ends of the chains, all of the unconstrained parameters.
func (f *family) gather(ctx context.Context, t *moved, cfg Settings, out *pilot, watch *observer) (all []seenDraw, ends [][]float64, learnt []*warmup.Adapter, err error) {
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
			state := watch.state()
			for c.done < draws && !stop.Load() {
				if errs[i] = c.step(); errs[i] != nil {
					return
				}
				if c.done < begins {
					continue
				}
				q := make([]float64, f.dim)
				if _, errs[i] = movedOf(c.target).Declared(c.p.Q, q); errs[i] != nil {
					return
				}
				c.tr.Count++
				if d, ok := watch.see(state, q); ok {
					seen[i], ends[i] = append(seen[i], d), q
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
