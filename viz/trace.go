// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import "math"

func init() { builtIn("trace", "draws in sequence, one line per chain", Trace) }

// Trace draws the draws of every chain in order, with their density to the right. Chains that
// explore the same posterior overlap and do not drift; ticks at the bottom are divergent draws.
// Without names it takes the first 12. Of chains with more draws than the picture has columns, it
// draws the lowest and the highest draw in each column, so that no excursion is lost.
func Trace(d Draws, names ...string) (*Figure, error) {
	s, err := d.pick("trace", 12, names)
	if err != nil {
		return nil, err
	}
	f := &Figure{Title: "Trace", Width: pageWidth, keys: s.chainKeys()}
	f.grid = &grid{wide: []float64{1, 0.2}, gapX: 3, gapY: 7}
	for i, q := range s.q {
		last := i == len(s.q)-1
		f.grid.rows = append(f.grid.rows, []*panel{d.tracePanel(q, last), d.sidePanel(q)})
	}
	first := ""
	if d.divergences() > 0 {
		f.keys = append(f.keys, key{"divergent", ink, ticked})
	}
	f.keys = append(f.keys, d.highlightKey()...)
	f.Note = s.note(first)
	f.Height = 0.95*float64(len(s.q)) + 0.95
	return f, nil
}

func (d Draws) tracePanel(q quantity, last bool) *panel {
	p := &panel{x: axis{label: "draw", whole: true, bare: !last}, y: axis{label: q.label, of: q.name, pad: 0.05}}
	p.y.include(q.all...)
	longest := 1
	for c, chain := range q.raw {
		longest = max(longest, len(chain))
		x, y := thinned(chain, 900)
		if len(x) == 1 {
			p.add(dots(x, y, chainColor(c), 2))
		}
		p.add(line(x, y, fade(chainColor(c), 0.8), 0.55))
	}
	if x, y := d.lit(q); len(x) > 0 {
		p.add(cloud(x, y, highlit))
	}
	p.x.limits(1, math.Max(2, float64(longest)))
	var at []float64
	for c := range d.Diverging {
		for i := range d.Diverging[c] {
			if d.diverging(c, i) {
				at = append(at, float64(i+1))
			}
		}
	}
	p.add(rug(at, ink))
	return p
}

// sidePanel draws the density of every chain sideways, beside its trace.
func (d Draws) sidePanel(q quantity) *panel {
	p := &panel{x: axis{none: true}, y: axis{none: true, pad: 0.05}}
	p.y.include(q.all...)
	p.x.include(0)
	for c := range q.x {
		k := kde(q.chain(c), p.y.lo, p.y.hi, 200)
		p.x.include(k.y...)
		p.add(line(k.y, k.x, chainColor(c), 1))
	}
	if k := d.litDensity(q, p.y.lo, p.y.hi, 200); k != nil {
		p.add(line(k.y, k.x, highlit, strong))
	}
	return p
}
