// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import "slices"

// Clone returns a copy that goes on exactly as b would. The two share synapses until one of them
// changes them. A plan belongs to one brain: make new plans for the copy.
func (b *Brain) Clone() *Brain {
	b.settle()
	c := *b
	c.gpu, c.log, c.logged = nil, nil, 0
	c.x, c.isWinner, c.room, c.tally, c.fired, c.arena, c.cuts, c.distributions, c.ranked, c.marked, c.prof = nil, nil, nil, nil, nil, nil, nil, nil, ranked{}, marks{}, nil
	c.areas, c.fibres, c.byName = nil, nil, map[[2]string]*fibre{}
	c.stimuli, c.rivals = slices.Clone(b.stimuli), slices.Clone(b.rivals)
	c.closed = b.closed.clone()
	for _, a := range b.areas {
		d := *a
		d.fired = slices.Clone(a.fired)
		d.times, d.recent = slices.Clone(a.times), slices.Clone(a.recent)
		d.memory = a.memory.clone()
		d.into, d.out = nil, nil
		c.areas = append(c.areas, &d)
	}
	for _, f := range b.fibres {
		c.insert(f.clone(&c))
	}
	return &c
}

// clone returns a copy of f for brain c.
func (f *fibre) clone(c *Brain) *fibre {
	g := *f
	g.target, _ = c.area(f.To)
	if f.from != nil {
		g.from, _ = c.area(f.From)
	}
	g.total, g.inputs, g.scale = slices.Clone(f.total), slices.Clone(f.inputs), slices.Clone(f.scale)
	g.grown, g.moved = slices.Clone(f.grown), slices.Clone(f.moved)
	g.past = nil
	g.recent = recentSums{}.invalid()
	if f.rows != nil {
		g.rows = f.rows.clone()
	}
	if f.synapses != nil {
		g.synapses = f.synapses.clone()
	}
	return &g
}
