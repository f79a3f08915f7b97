// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"
	"sync"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/infer/internal/lockstep"
	"github.com/euryale-dev/euryale/tensor"
)

// fewestOnDevice is the number of chains from which Sample lets them advance together where the density runs on a GPU. Below,
// each has a program of its own: few lanes take as long as one, and trees of different sizes would wait for each other.
const fewestOnDevice = 16

// samplePrograms returns programs of lanes for the chains of a run, one for each goroutine, and the target for what chains do
// by themselves; no programs, and the target as it is, where each chain is to advance alone.
func samplePrograms(t Target, cfg *Settings) ([]*lockstep.Program, Target, error) {
	p, ok := t.(*Posterior)
	if !ok || p.onProcessor() || p.dim == 0 || cfg.Method != NUTS || cfg.Chains < fewestOnDevice {
		return nil, t, nil
	}
	all := ad.Spread(p.model.backend)
	runners := max(len(all), min(cfg.Parallel, cfg.Chains/64))
	lanes := (cfg.Chains + runners - 1) / runners
	made := make([]*lockstep.Program, len(all))
	var list []*lockstep.Program
	for i := range runners {
		k := i % len(all)
		if made[k] == nil {
			density := p.laneDensity()
			density.Backend = all[k]
			prog, err := lockstep.Compile(density, lanes)
			if err != nil {
				return nil, nil, fmt.Errorf("infer: model %s in %d lanes: %w", p.model.name, lanes, err)
			}
			if prog.Device() == "cpu" { // too small, says Auto
				return nil, t, nil
			}
			made[k] = prog
		}
		list = append(list, made[k])
	}
	alone, err := p.alone()
	return list, alone, err
}

// sampleInLanes advances the chains in lock step.
func (r *run) sampleInLanes(programs []*lockstep.Program) {
	q := &sampleQueue{run: r}
	var wg sync.WaitGroup
	for _, prog := range programs {
		wg.Go(func() { prog.NewRunner(q).Run() })
	}
	wg.Wait()
	for _, l := range q.taken {
		l.leave()
	}
}

// sampleQueue hands out the chains of a run.
type sampleQueue struct {
	run   *run
	mu    sync.Mutex
	next  int
	taken []*sampleLane
}

var _ lockstep.Queue = (*sampleQueue)(nil)

func (q *sampleQueue) Stopped() bool { return q.run.stop.Load() }

func (q *sampleQueue) Next() lockstep.Chain {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.next < len(q.run.chains) && !q.Stopped() {
		i := q.next
		q.next++
		c := q.run.chains[i]
		if c.done < c.total() {
			l := &sampleLane{chain: c, run: q.run, number: i}
			q.taken = append(q.taken, l)
			return l
		}
		q.run.keepState(i, c, math.MaxInt64)
	}
	return nil
}

// sampleLane is a chain of Sample in a lane.
type sampleLane struct {
	*chain
	run    *run
	number int
	since  time.Time
	over   bool

	// What the chain was before the transition that is under way.
	momentum, choice tensor.Stream
	count            int
}

var _ lockstep.Chain = (*sampleLane)(nil)

func (c *sampleLane) Begin() error {
	c.since = time.Now()
	c.view.running.Store(true)
	if !c.started {
		if err := c.begin(); err != nil {
			return err
		}
	}
	c.note()
	return nil
}

// note keeps what a transition changes before it is complete.
func (c *sampleLane) note() {
	c.momentum, c.choice, c.count = c.chain.momentum, c.chain.choice, c.tr.Count
}

func (c *sampleLane) Tree() *hamiltonian.Tree   { return c.tree }
func (c *sampleLane) Point() *hamiltonian.Point { return &c.p }
func (c *sampleLane) Data() [][]float64         { return c.target.(*Posterior).givenValues() }
func (c *sampleLane) Step() float64             { return c.nextStep() }
func (c *sampleLane) Fault(err error) error     { return c.fault(err) }

func (c *sampleLane) Keep(out *hamiltonian.Transition) (complete bool, err error) {
	phase := c.phase()
	if err := c.keep(out); err != nil {
		return false, err
	}
	now := time.Now()
	c.times[phase] += now.Sub(c.since)
	c.since = now
	c.note()
	c.publish()
	c.run.answer(c.number, c.chain)
	return c.done == c.total(), nil
}

func (c *sampleLane) End(err error) {
	c.err = err
	c.leave()
}

// leave ends the work on a chain; of a transition that was under way nothing is left.
func (c *sampleLane) leave() {
	if c.over {
		return
	}
	c.over = true
	if c.started && c.err == nil {
		c.chain.momentum, c.chain.choice, c.tr.Count = c.momentum, c.choice, c.count
	}
	c.view.running.Store(false)
	c.run.keepState(c.number, c.chain, math.MaxInt64)
}
