// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"fmt"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/infer/internal/lockstep"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/roofline"
	"github.com/euryale-dev/euryale/tensor"
)

func init() {
	roofline.Trajectories = func(posterior any, chains int) ([]roofline.Launch, error) {
		density := posterior.(*Posterior).laneDensity()
		density.Backend = ad.CUDA{}
		return lockstep.LaunchesOfHMC(density, chains)
	}
}

// chainLanes are the lanes of some chains on one device.
type chainLanes struct {
	first, count int
	hmc          *lockstep.HMC
	// moved says which chains' last draws are the ends of their trajectories.
	moved []bool
}

// lanesOf returns the lanes for the chains of a target whose density runs on devices, and the target for what chains do
// by themselves; no lanes, and the target as it is, for others.
func lanesOf(t Target, chains int) ([]*chainLanes, Target, error) {
	p, ok := t.(*Posterior)
	if !ok || p.onProcessor() {
		return nil, t, nil
	}
	density := p.laneDensity()
	all := ad.Spread(p.model.backend)
	var lanes []*chainLanes
	for i, b := range all {
		first, end := chains*i/len(all), chains*(i+1)/len(all)
		if first == end {
			continue
		}
		density.Backend = b
		prog, err := lockstep.CompileHMC(density, end-first)
		if err != nil {
			return nil, nil, fmt.Errorf("infer: model %s in %d lanes: %w", p.model.name, end-first, err)
		}
		if prog.Device() == "cpu" { // too small, says Auto
			return nil, t, nil
		}
		hmc, err := lockstep.NewHMC(prog, density, end-first)
		if err != nil {
			return nil, nil, fmt.Errorf("infer: model %s in %d lanes: %w", p.model.name, end-first, err)
		}
		lanes = append(lanes, &chainLanes{first, end - first, hmc, make([]bool, end-first)})
	}
	alone, err := p.alone()
	return lanes, alone, err
}

// onProcessor reports whether the model was compiled for the processor.
func (p *Posterior) onProcessor() bool { return ad.OnProcessor(p.model.backend) }

// laneDensity is the density for programs of many lanes.
func (p *Posterior) laneDensity() *lockstep.Density {
	k := len(p.model.params)
	return &lockstep.Density{Outputs: p.graph, Parameters: p.inputs[:k], Given: append(append([]*ad.Node{}, p.inputs[k:]...), p.places()...), Values: p.givenValues(), Backend: p.model.backend}
}

// alone returns the posterior for chains that ask for one density at a time while others run in lanes: on the
// processor where the arrays of a density are small, and else with the memory of a single State for all clones.
func (p *Posterior) alone() (*Posterior, error) {
	c := *p
	c.run, c.write, c.ask = nil, nil, nil
	if p.density.Device() == "cpu" {
		return &c, nil
	}
	if p.density.Bytes() >= ad.DeviceWorth {
		c.shared = &sharedState{}
		return &c, nil
	}
	var err error
	c.density, err = p.model.program(ad.CPU{Threads: 1}, p.whole, append(append([]*ad.Node{}, p.inputs...), p.places()...))
	return &c, err
}

// sharedState is memory that clones of a posterior lend each other.
type sharedState struct {
	mu  sync.Mutex
	run *ad.State
}

// lend gives the memory to p until the function that it returns is called.
func (s *sharedState) lend(p *Posterior) func() {
	s.mu.Lock()
	p.run = s.run
	return func() {
		s.run, p.run = p.run, nil
		s.mu.Unlock()
	}
}

// together makes a transition of all chains, whose trajectories run in lanes. warm says that the chains adapt to it.
func (h *cheesRun) together(steps int, warm bool) error {
	momenta := make([]tensor.Stream, len(h.run.chains))
	h.forEach(func(k int, c *chain) {
		momenta[k] = c.momentum
		c.whiten(h.transitions[k].from, c.p.Q)
		c.fixed.Begin(&c.p)
	})
	faults := make([]error, len(h.lanes))
	var wg sync.WaitGroup
	for i, l := range h.lanes {
		wg.Go(func() {
			defer given.Caught(&faults[i])
			var ts []*hamiltonian.FixedLength
			for _, c := range h.run.chains[l.first : l.first+l.count] {
				ts = append(ts, c.fixed)
			}
			faults[i] = l.hmc.Follow(ts, l.moved, h.run.chains[0].ad.StepSize, steps, warm)
		})
	}
	wg.Wait()
	failed, of := make([]bool, len(h.run.chains)), make([]int, len(h.run.chains))
	for i, err := range faults {
		var point interface{ AtPoint() bool }
		if err != nil && (!errors.As(err, &point) || !point.AtPoint()) {
			return err
		}
		for k := range h.lanes[i].count {
			failed[h.lanes[i].first+k], of[h.lanes[i].first+k] = err != nil, i
		}
	}
	h.forEach(func(k int, c *chain) {
		m := &h.transitions[k]
		if failed[k] { // the density fails for some of the chains: each by itself
			c.momentum = momenta[k]
			m.err = m.make(c, steps)
			return // Follow places the lanes anew
		}
		out, moved, err := c.fixed.End(&c.p)
		l := h.lanes[of[k]]
		l.moved[k-l.first] = moved
		m.err = m.keep(c, out, err)
	})
	return nil
}
