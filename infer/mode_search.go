package infer

import (
	"math"
	"sync"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/tensor"
)

// Each chain climbs from a random place of its own. So that none stays at a minor
// top, which no chain leaves, it compares its top with those of poolClimbs climbs
// that depend on the seed alone and that all chains of a run share. Where it is
// minor the chain takes the start of one of the climbs that are not.
//
// A top is minor where it is lower than another and holds less mass than another,
// both by more than climbSlack, in logarithms. Height alone would not do: towards
// the neck of a funnel the density grows without end. The mass by Laplace's method
// alone would not do either: from the few steps of a climb its error can be as
// large. Where several tops remain the chains find them as often as random places
// lead there.
const modeSearchStarts = 8

func modeSlack(dim int) float64 { return 10 + 2*float64(dim) }

// modeSearch holds the climbs of a run, by the number of their random stream, which
// for the first is that of a chain. Chains that ask for them share the work.
type modeSearch struct {
	mu sync.Mutex
	// next is the next ascent to claim.
	next  int
	done  sync.WaitGroup
	ends  [modeSearchStarts]ascentEnd
	first sync.Once
}

// ascentEnd is where a climb ended.
type ascentEnd struct {
	at    hamiltonian.Point
	scale []float64
	top   peak
	calls int
	err   error
}

// climbToStart puts p at a start near a top that holds a part of the posterior.
func (c *chain) climbToStart(p *hamiltonian.Point) error {
	pool := c.pool.all(c)
	own := c.ownClimb(pool)
	if own.err != nil {
		return own.err
	}
	if best := highest(pool); own.top.dominated(best, len(p.Q)) {
		own = pick(pool, best, c.id)
	}
	p.Set(&own.at)
	c.ad.Scale = own.scale
	return nil
}

// highest returns the largest height and the largest mass of the climbs.
func highest(pool []ascentEnd) peak {
	best := peak{math.Inf(-1), math.Inf(-1)}
	for i := range pool {
		if e := &pool[i]; e.err == nil {
			best = peak{math.Max(best.height, e.top.height), math.Max(best.mass, e.top.mass)}
		}
	}
	return best
}

func (s peak) dominated(best peak, dim int) bool {
	slack := modeSlack(dim)
	return s.height < best.height-slack && s.mass < best.mass-slack
}

// ownClimb returns the climb of the chain's own stream, and counts it and, for the
// first chain of the run, those that are of no chain.
func (c *chain) ownClimb(pool []ascentEnd) *ascentEnd {
	own := &ascentEnd{}
	if c.id < len(pool) {
		own = &pool[c.id]
	} else {
		c.climbFrom(c.id, own)
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

// pick returns climb k of those that are not minor, round and round.
func pick(pool []ascentEnd, best peak, k int) *ascentEnd {
	var major []*ascentEnd
	for i := range pool {
		if e := &pool[i]; e.err == nil && !e.top.dominated(best, len(e.at.Q)) {
			major = append(major, e)
		}
	}
	return major[k%len(major)]
}

// all returns the climbs when all are made; c makes those that no other chain
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
		c.climbFrom(k, &p.ends[k])
		p.done.Done()
	}
	p.done.Wait()
	return p.ends[:]
}

// climbFrom climbs from the random place of stream k.
func (c *chain) climbFrom(k int, end *ascentEnd) {
	before := c.tr.Count
	defer func() { end.calls, c.tr.Count = c.tr.Count-before, before }()
	defer given.CaughtAs(&end.err, c.fault)
	random := tensor.NewStream(c.cfg.Seed, purposeInit, uint32(k))
	end.at = hamiltonian.NewPoint(len(c.p.Q))
	if end.err = c.place(&random, nil, &end.at); end.err != nil {
		return
	}
	end.scale, end.top, end.err = climb(&c.tr.System, &end.at)
}
