// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"sync"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/tensor"
)

// Each chain ascends from a random place of its own. So that none stays at a minor mode,
// which no chain leaves, it compares its mode with those of modeSearchStarts ascents that
// depend on the seed alone and that all chains of a run share. Where its own is minor the
// chain takes the start of one of the ascents to modes that are not.
//
// A mode is minor where it is lower than another and holds less mass than another, both by
// more than modeSlack, in logarithms. Height alone would not do: towards the neck of a
// funnel the density grows without end. The mass by Laplace's method alone would not do
// either: from the few steps of an ascent its error can be as large. Where several modes
// remain the chains find them as often as random places lead there.
const modeSearchStarts = 8

func modeSlack(dim int) float64 { return 10 + 2*float64(dim) }

// modeSearch holds the ascents of a run, by the number of their random stream, which
// for the first is that of a chain. Chains that ask for them share the work.
type modeSearch struct {
	mu sync.Mutex
	// next is the next ascent to claim.
	next  int
	done  sync.WaitGroup
	ends  [modeSearchStarts]ascentEnd
	first sync.Once
}

// ascentEnd is where an ascent ended.
type ascentEnd struct {
	at    hamiltonian.Point
	scale []float64
	mode  modeMass
	calls int
	err   error
}

// startNearMode puts p at a start near a mode that holds a part of the posterior.
func (c *chain) startNearMode(p *hamiltonian.Point) error {
	pool := c.pool.all(c)
	own := c.ownAscent(pool)
	if own.err != nil {
		return own.err
	}
	if best := largestMode(pool); own.mode.dominated(best, len(p.Q)) {
		own = chooseMajor(pool, best, c.id)
	}
	p.Set(&own.at)
	c.ad.Scale = own.scale
	return nil
}

// largestMode returns the largest height and the largest mass of the ascents.
func largestMode(pool []ascentEnd) modeMass {
	best := modeMass{math.Inf(-1), math.Inf(-1)}
	for i := range pool {
		if e := &pool[i]; e.err == nil {
			best = modeMass{math.Max(best.height, e.mode.height), math.Max(best.mass, e.mode.mass)}
		}
	}
	return best
}

func (s modeMass) dominated(best modeMass, dim int) bool {
	slack := modeSlack(dim)
	return s.height < best.height-slack && s.mass < best.mass-slack
}

// ownAscent returns the ascent of the chain's own stream, and counts it and, for the
// first chain of the run, those that are of no chain.
func (c *chain) ownAscent(pool []ascentEnd) *ascentEnd {
	own := &ascentEnd{}
	if c.id < len(pool) {
		own = &pool[c.id]
	} else {
		c.ascendFrom(c.id, own)
	}
	c.tr.Count += own.calls
	if first := c.cfg.FirstChain; c.id == first {
		for i := range pool {
			if i < first || i >= first+c.cfg.Chains {
				c.tr.Count += pool[i].calls
			}
		}
	}
	return own
}

// chooseMajor returns ascent k, modulo their number, of those whose modes are not minor.
func chooseMajor(pool []ascentEnd, best modeMass, k int) *ascentEnd {
	var major []*ascentEnd
	for i := range pool {
		if e := &pool[i]; e.err == nil && !e.mode.dominated(best, len(e.at.Q)) {
			major = append(major, e)
		}
	}
	return major[k%len(major)]
}

// all returns the ascents when all are made; c makes those that no other chain
// has claimed.
func (p *modeSearch) all(c *chain) []ascentEnd {
	p.first.Do(func() { p.done.Add(modeSearchStarts) })
	for {
		p.mu.Lock()
		k := p.next
		p.next++
		p.mu.Unlock()
		if k >= modeSearchStarts {
			break
		}
		c.ascendFrom(k, &p.ends[k])
		p.done.Done()
	}
	p.done.Wait()
	return p.ends[:]
}

// ascendFrom ascends from the random place of stream k.
func (c *chain) ascendFrom(k int, end *ascentEnd) {
	before := c.tr.Count
	defer func() { end.calls, c.tr.Count = c.tr.Count-before, before }()
	defer given.CaughtAs(&end.err, c.fault)
	random := tensor.NewStream(c.cfg.Seed, purposeInit, uint32(k))
	end.at = hamiltonian.NewPoint(len(c.p.Q))
	if end.err = c.place(&random, nil, &end.at); end.err != nil {
		return
	}
	end.scale, end.mode, end.err = ascendToMode(&c.tr.System, &end.at)
}
