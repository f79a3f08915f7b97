package assembly

import (
	"maps"
	"slices"
)

// Clone returns a copy that shares no state with b and goes on as b would. Plans
// belong to one brain: make them anew.
func (b *Brain) Clone() *Brain {
	c := *b
	c.x, c.isWinner, c.room, c.laws, c.marked = nil, nil, nil, nil, marks{}
	c.areas = make([]*area, len(b.areas))
	for i, a := range b.areas {
		d := *a
		d.winners, d.fired = slices.Clone(a.winners), slices.Clone(a.fired)
		c.areas[i] = &d
	}
	c.stimuli = slices.Clone(b.stimuli)
	c.fibres = maps.Clone(b.fibres)
	for k, f := range c.fibres {
		g := *f
		g.total, g.rows = slices.Clone(f.total), slices.Clone(f.rows)
		for i, row := range g.rows {
			g.rows[i] = slices.Clone(row)
		}
		c.fibres[k] = &g
	}
	return &c
}
