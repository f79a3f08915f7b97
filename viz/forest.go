// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

func init() { builtIn("forest", "credible intervals of all quantities", Forest) }

// Forest draws the median and intervals of many quantities one below the other: dark for all chains
// together, coloured for each chain. Quantities that share a unit and a scale share an axis; the
// others have their own. Without names it takes the first 60.
func Forest(d Draws, names ...string) (*Figure, error) {
	s, err := d.pick("forest", 60, names)
	if err != nil {
		return nil, err
	}
	f := &Figure{Title: "Forest", Note: s.note(intervalNote), Width: pageWidth, keys: s.chainKeys()}
	f.grid = &grid{gapY: 5}
	height := 0.85
	for _, group := range d.families(s.q) {
		p := d.forestPanel(group, d.unit(group))
		f.grid.rows = append(f.grid.rows, []*panel{p})
		f.grid.high = append(f.grid.high, float64(len(group)))
		height += 0.24*float64(len(group)) + 0.45
	}
	f.keys = append(f.keys, d.highlightKey()...)
	f.Height = height
	return f, nil
}

// families groups neighbouring quantities that can share an axis.
func (d Draws) families(q []quantity) (out [][]quantity) {
	for _, one := range q {
		n := len(out)
		if n > 0 && d.unit(out[n-1]) == d.Units[one.name] && alike(append(slices.Clip(out[n-1]), one)) {
			out[n-1] = append(out[n-1], one)
			continue
		}
		out = append(out, []quantity{one})
	}
	return out
}

func (d Draws) unit(group []quantity) string { return d.Units[group[0].name] }

// alike reports whether every quantity would take a fair part of a common axis.
func alike(group []quantity) bool {
	var whole axis
	least := math.Inf(1)
	for _, q := range group {
		i := q.outer()
		whole.include(i.Low, i.High)
		if w := i.High/2 - i.Low/2; w > 0 {
			least = min(least, w)
		}
	}
	return whole.hi/2-whole.lo/2 < 25*least || math.IsInf(least, 1)
}

func (d Draws) forestPanel(group []quantity, unit string) *panel {
	p := &panel{x: axis{label: stem(group), pad: 0.03}}
	if unit != "" {
		p.x.label = label(p.x.label, unit)
	}
	n := len(group)
	p.y.limits(-0.5, float64(n)-0.5)
	p.y.fixed = []tick{}
	for i, q := range group {
		y := float64(n - 1 - i)
		p.y.fixed = append(p.y.fixed, tick{y, q.name})
		if i%2 == 1 {
			p.add(stripe(y))
		}
		p.add(chainBars(q, y)...)
		p.add(intervals(q, y+0.16, ink))
		if _, v := d.lit(q); len(v) > 0 {
			p.add(intervals(valued(v), y+0.34, highlit))
		}
		o := q.outer()
		p.x.include(o.Low, o.High, q.ascending().Quantile(0.5))
		for c := range q.x {
			o := q.chain(c).HDI(outerProb)
			p.x.include(o.Low, o.High)
		}
	}
	if lo, hi := p.x.lo, p.x.hi; lo < 0 && hi > 0 {
		p.add(verticalLine(0, soft, 0.5, 2, 2))
	}
	return p
}

func stripe(y float64) mark {
	return mark{draw: func(f *frame) { rectangle(f.x.lo, f.x.hi, y-0.5, y+0.5, fade(faint, 0.45)).draw(f) }}
}

// chainBars draws the interval of every chain below the common one.
func chainBars(q quantity, y float64) (out []mark) {
	if len(q.x) < 2 {
		return nil
	}
	for c, chain := range q.x {
		if len(chain) < 2 {
			continue
		}
		at := y - 0.06 - 0.3*float64(c)/float64(len(q.x)-1)
		o := q.chain(c).HDI(outerProb)
		out = append(out, line([]float64{o.Low, o.High}, []float64{at, at}, chainColor(c), 0.9),
			dots([]float64{q.chain(c).Quantile(0.5)}, []float64{at}, chainColor(c), 1.3))
	}
	return out
}

// stem returns the common name of theta[1], theta[2], ..., or the only name.
func stem(group []quantity) string {
	name, _, _ := strings.Cut(group[0].name, "[")
	for _, q := range group {
		if s, _, _ := strings.Cut(q.name, "["); s != name {
			return "value"
		}
	}
	return name
}

func chainName(c int) string { return fmt.Sprint(c + 1) }
