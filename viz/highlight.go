// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Range is an interval of a quantity, with both of its ends, which may be infinite.
type Range struct {
	Name      string
	Low, High float64
}

// highlit is the colour of draws that are highlighted.
var highlit = rgb(0xc4, 0x7f, 0x00)

// Highlight returns the draws with those marked that lie in all of the ranges: Trace, Density, Pair and Forest show them in a colour of
// their own. It is an error if a quantity is not known, if a range is empty, or if no draw lies in all of them.
func (d Draws) Highlight(ranges ...Range) (Draws, error) {
	if len(ranges) == 0 {
		return d, nil
	}
	if err := d.check("highlight"); err != nil {
		return d, err
	}
	d.highlighted = make([][]bool, len(d.X[0]))
	for c, chain := range d.X[0] {
		d.highlighted[c] = make([]bool, len(chain))
		for i := range chain {
			d.highlighted[c][i] = true
		}
	}
	var said []string
	for _, r := range ranges {
		if err := d.within(r); err != nil {
			return d, err
		}
		said = append(said, r.String())
	}
	d.ranges = strings.Join(said, " and ")
	if d.highlights() == 0 {
		return d, fmt.Errorf("viz: highlight: no draw has %s: widen the ranges", d.ranges)
	}
	return d, nil
}

// String writes the range as a condition.
func (r Range) String() string {
	switch {
	case math.IsInf(r.Low, -1):
		return fmt.Sprintf("%s up to %.4g", r.Name, r.High)
	case math.IsInf(r.High, 1):
		return fmt.Sprintf("%s of %.4g or more", r.Name, r.Low)
	}
	return fmt.Sprintf("%s from %.4g to %.4g", r.Name, r.Low, r.High)
}

// within takes the mark from draws outside a range.
func (d Draws) within(r Range) error {
	if err := d.known(r.Name); err != nil {
		return fmt.Errorf("viz: highlight: %w", err)
	}
	if !(r.Low <= r.High) {
		return fmt.Errorf("viz: highlight: the range of %s from %g to %g holds nothing: give the smaller number first", r.Name, r.Low, r.High)
	}
	for i, name := range d.Names {
		if name != r.Name {
			continue
		}
		for c, marks := range d.highlighted {
			for k := range marks {
				in := c < len(d.X[i]) && k < len(d.X[i][c]) && r.Low <= d.X[i][c][k] && d.X[i][c][k] <= r.High
				marks[k] = marks[k] && in
			}
		}
	}
	return nil
}

// highlight reports whether a draw is highlighted.
func (d Draws) highlight(chain, draw int) bool {
	return chain < len(d.highlighted) && draw < len(d.highlighted[chain]) && d.highlighted[chain][draw]
}

// highlights counts the draws that are highlighted.
func (d Draws) highlights() (n int) {
	for _, marks := range d.highlighted {
		for _, is := range marks {
			if is {
				n++
			}
		}
	}
	return n
}

// highlightKey is the entry of a legend for draws that are highlighted.
func (d Draws) highlightKey() []key {
	n := d.highlights()
	if n == 0 {
		return nil
	}
	return []key{{fmt.Sprintf("%s with %s", count(n, "draw", "draws"), d.ranges), highlit, stroke}}
}

// lit returns the finite values of a quantity in draws that are highlighted, each with its number in its chain, from 1.
func (d Draws) lit(q quantity) (at, values []float64) {
	for c, chain := range q.raw {
		for i, v := range chain {
			if d.highlight(c, i) && linalg.Finite(v) {
				at, values = append(at, float64(i+1)), append(values, v)
			}
		}
	}
	return at, values
}

// litPairs returns the values of two quantities in draws that are highlighted.
func (d Draws) litPairs(a, b quantity) (x, y []float64) {
	for c := range min(len(a.raw), len(b.raw)) {
		for i := range min(len(a.raw[c]), len(b.raw[c])) {
			if u, v := a.raw[c][i], b.raw[c][i]; d.highlight(c, i) && linalg.Finite(u) && linalg.Finite(v) {
				x, y = append(x, u), append(y, v)
			}
		}
	}
	return x, y
}

// litDensity returns the share of the density that draws which are highlighted have; nil if there are too few of them.
func (d Draws) litDensity(q quantity, lo, hi float64, n int) *sampled {
	_, values := d.lit(q)
	k := kde(diag.Ascend(values), lo, hi, n)
	if len(k.x) == 0 {
		return nil
	}
	scale(k.y, float64(len(values))/float64(len(q.all)))
	return &k
}

// valued returns a quantity that has given draws.
func valued(values []float64) quantity {
	return quantity{all: values, orders: &orders{}}
}
