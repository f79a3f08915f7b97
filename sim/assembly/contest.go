// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

// contest draws the new neurons that may win a round of a target.
type contest struct {
	distribution *inputDistribution
	draw         func() (int, bool) // inputs in falling order, if earlier rounds do not count
	order        order
	set          uint64 // hash of what fires
	proposal     int    // number of neurons drawn so far
	free         int    // neurons left that never fired
	last         rival  // the last winner, or the limit of the policy that others missed
	conditional  bool   // whether earlier rounds count
	over         bool   // whether there were losers
}

// compete begins a round of new neurons given what is known about them.
func (b *Brain) compete(t *target) *contest {
	b.index(t.area)
	c := &contest{distribution: b.inputOf(t), free: t.N - t.stored(), set: t.firingSet(), conditional: true}
	c.order = order{distribution: c.distribution.binomial, left: t.N}
	if i, ok := t.memory.bySet[c.set]; ok { // the same neurons fired before: who lost then has no more input now
		c.order.startBelow(c.distribution.above(t.memory.defeats[i].rival))
	}
	b.findFired(t)
	return c
}

// next draws the new neuron of the next largest input, and among equals of the next rank; false if none is left.
// Neurons that would have won earlier are passed over.
func (c *contest) next(b *Brain, t *target, src *randomStream) (r recruit, ok bool) {
	if !c.conditional {
		m, ok := c.draw()
		return recruit{input: m}, ok
	}
	for c.free > 0 {
		m, rank, more := c.order.nextRanked(src.uniform())
		if !more {
			break
		}
		c.proposal++
		r = recruit{input: m, rank: rank, from: len(b.arena), cuts: len(b.cuts)}
		c.distribution.sources(b, src, m)
		if b.hasLost(t, r, c.proposal) {
			c.free--
			return r, true
		}
		b.forget(r)
	}
	return recruit{}, false
}

// before reports whether a new neuron comes before a stored one.
func (c *contest) before(r recruit, e entry, t *target) bool {
	x := float64(r.input)
	return x > e.x || x == e.x && c.conditional && r.rank < t.memory.ranks[e.j]
}

// won notes the last winner.
func (c *contest) won(x float64, r recruit, old bool, j int32, t *target) {
	if c.last = (rival{x, r.rank}); old && c.conditional {
		c.last.rank = t.memory.ranks[j]
	}
}

// lost notes that all who follow have lost, n having won, of which the first had the input largest. If these are
// fewer than K, the policy has a limit, which the last of them need not reach with AtLeast.
func (c *contest) lost(t *target, n int, largest float64) {
	c.over = true
	if n == t.K {
		return
	}
	limit := rival{t.Threshold, belowAll}
	if t.Policy == Relative {
		limit.input *= largest
	}
	if n == 0 || limit.beaten(c.last.input, c.last.rank) {
		c.last = limit
	}
}
