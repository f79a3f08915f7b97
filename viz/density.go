// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
)

// Probabilities of the highest-density intervals that the plots show.
const (
	innerProb = 0.50
	outerProb = 0.95
)

const intervalNote = "The point is the median; the thick and thin bars are the 50 % and 95 % intervals of highest density."

func init() { builtIn("density", "marginal densities, one curve per chain", Density) }

// Density draws the marginal densities: an area for all chains together and a line for every chain,
// with the median and intervals below. Without names it takes the first 12.
func Density(d Draws, names ...string) (*Figure, error) {
	s, err := d.pick("density", 12, names)
	if err != nil {
		return nil, err
	}
	var panels []*panel
	cut := 0
	for _, q := range s.q {
		p, less := d.densityPanel(q)
		panels = append(panels, p)
		if less {
			cut++
		}
	}
	if cut > 0 {
		s.remark("Because of long tails, only the central 99 %% of the draws are shown in %s.", count(cut, "panel", "panels"))
	}
	f := tiles("Density", s, intervalNote, panels, columns(len(panels)))
	f.keys = append(f.keys, d.highlightKey()...)
	return f, nil
}

func (d Draws) densityPanel(q quantity) (p *panel, cut bool) {
	p = &panel{x: axis{label: q.label, of: q.name, pad: 0.02}, y: axis{none: true}}
	lo, hi, cut := window(q.ascending())
	p.x.include(lo, hi)
	all := kde(q.ascending(), lo, hi, 256)
	peak := 0.0
	for _, y := range all.y {
		peak = max(peak, y)
	}
	if peak == 0 {
		p.add(words("constant at " + strconv.FormatFloat(q.all[0], 'g', 6, 64)))
		p.y.limits(0, 1)
		return p, false
	}
	scale(all.y, 1/peak)
	p.add(band(all.x, make([]float64, len(all.x)), all.y, fade(pooled, 0.13)))
	highest := 1.0
	for c := range q.x {
		k := kde(q.chain(c), lo, hi, 256)
		scale(k.y, 1/peak)
		for _, y := range k.y {
			highest = max(highest, y)
		}
		p.add(line(k.x, k.y, fade(chainColor(c), 0.9), 1))
	}
	if k := d.litDensity(q, lo, hi, 256); k != nil {
		scale(k.y, 1/peak)
		p.add(line(k.x, k.y, highlit, strong))
	}
	p.y.limits(-0.13*highest, 1.04*highest)
	p.add(horizontalLine(0, soft, 0.4), intervals(q, -0.065*highest, ink))
	p.title = medianText(q)
	return p, cut
}

// medianText returns the median with the ends of the 95 % interval, to about a hundredth of the
// interval.
func medianText(q quantity) string {
	m, i := q.ascending().Quantile(0.5), q.outer()
	width := i.High - i.Low
	if size := max(math.Abs(i.Low), math.Abs(i.High)); len(q.all) < 20 || !(width > 1e-8*size) || math.IsInf(width, 0) {
		return q.name
	}
	power := int(math.Floor(math.Log10(max(math.Abs(i.Low), math.Abs(i.High)))))
	if power >= -3 && power <= 4 {
		power = 0
	}
	unit := math.Pow(10, float64(power))
	decimals := min(max(1-int(math.Floor(math.Log10(width/unit/2))), 0), 9)
	text := func(v float64) string { return minus(strconv.FormatFloat(v/unit, 'f', decimals, 64)) }
	s := fmt.Sprintf("%s [%s, %s]", text(m), text(i.Low), text(i.High))
	if power != 0 {
		s = "(" + s + ")×10^{" + signed(power) + "}"
	}
	return q.name + " = " + s
}

// intervals draws the median and the intervals of a quantity at height y.
func intervals(q quantity, y float64, c color.NRGBA) mark {
	outer, inner := q.outer(), q.ascending().HDI(innerProb)
	m := []float64{q.ascending().Quantile(0.5)}
	return mark{draw: func(f *frame) {
		line([]float64{outer.Low, outer.High}, []float64{y, y}, c, 1).draw(f)
		line([]float64{inner.Low, inner.High}, []float64{y, y}, c, 2.8).draw(f)
		dots(m, []float64{y}, c, 3).draw(f)
		dots(m, []float64{y}, paper, 1.4).draw(f)
	}}
}

func scale(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}
