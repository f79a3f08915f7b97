// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
	"slices"
)

// KindPattern is the flag of residuals that follow a smooth curve along an axis.
const KindPattern = "pattern of the residuals"

// waves is the largest number of cosines in the test of a pattern.
const waves = 8

// trend is the number of columns of the narrow test of a pattern.
const trend = 2

func init() { register(patternStage, (*residuals).patternTests) }

// patternTests looks for smooth patterns along the axes.
func (w *residuals) patternTests(r *round, all []test) []test {
	for _, a := range r.axes {
		all = append(all, w.patterns(a)...)
	}
	return all
}

// patterns looks for a smooth pattern along an axis: a constant and cosines of the
// rank, as many as a sixth of the degrees of freedom, at most 8; and the slowest two
// that the parameters leave, which see a faint bend that is lost among more.
func (w *residuals) patterns(a Axis) []test {
	all := w.mem.order(a.Values).cosines(int(min(max(w.dof()/6, 1), waves)))
	slow := w.base.beyond(all, trend)
	if len(all) < 2*trend || len(slow) < trend {
		return []test{w.patternTest(a, all)}
	}
	bend := w.patternTest(a, slow)
	bend.of += ", slow waves only"
	return []test{w.patternTest(a, all), bend}
}

// tinyMean is the mean of the residuals in a twelfth of an axis, in standard deviations of a point,
// below which a pattern that moves no parameter is only noted.
const tinyMean = 0.05

func (w *residuals) patternTest(a Axis, columns [][]float64) test {
	g := w.try(columns)
	t := test{kind: KindPattern, of: a.Name, p: g.p, columns: columns, gain: g, effect: g.share}
	if g.p <= w.level && g.harmless() {
		_, mean := w.strongest(a)
		t.harmless = math.Abs(mean) < tinyMean
	}
	t.say = func(*test) Flag {
		where, mean := w.strongest(a)
		return Flag{Where: where,
			Text: fmt.Sprintf("the residuals follow a pattern along %s: near %s the data lie %s standard deviations %s the model on average; the pattern explains %s of their scatter",
				a.title(), where, size(mean), side(mean), percent(g.share)),
			Remedy: "add the term that is missing or compare another model"}
	}
	return t
}

func side(mean float64) string {
	if mean > 0 {
		return "above"
	}
	return "below"
}

// harmless reports whether a finding neither moves a parameter nor matters beside the scatter.
func (g *gain) harmless() bool {
	most := 0.0
	for _, s := range g.shift {
		most = max(most, math.Abs(s))
	}
	return most < 0.2 && g.share < 0.01
}

// moves says how far a parameter would move if a pattern were added to the model.
func (w *residuals) moves(g *gain) string {
	name, shift := g.moved(w.d.Names)
	if math.Abs(shift) < 0.1 {
		return ""
	}
	return fmt.Sprintf("; with it in the model, %s would move by %s standard deviations", name, Rough(shift))
}

// cosines returns cos(pi k u) for k from 0 to most, by cos (k+1)x = 2 cos x cos kx - cos (k-1)x.
func cosines(u []float64, most int) [][]float64 {
	n := len(u)
	columns, room := make([][]float64, most+1), make([]float64, (most+1)*n)
	for k := range columns {
		columns[k] = room[k*n : (k+1)*n]
	}
	for i, x := range u {
		first := math.Cos(math.Pi * x)
		before, now := 1.0, first
		columns[0][i] = 1
		for k := 1; k <= most; k++ {
			columns[k][i] = now
			before, now = now, 2*first*now-before
		}
	}
	return columns
}

// ranks maps values to (rank - 1/2)/n; equal values share their mean rank.
func ranks(values []float64, order []int) []float64 {
	out := make([]float64, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			out[k] = float64(i+j) / 2 / float64(len(order))
		}
		i = j
	}
	return out
}

// sorted returns the places of values in ascending order.
func sorted(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return a - b
	})
	return order
}

// strongest names the twelfth of an axis where the residuals depart most from 0, and returns their
// mean there.
func (w *residuals) strongest(a Axis) (where string, mean float64) {
	order := w.mem.order(a.Values).places
	parts := min(12, max(min(2, len(order)), len(order)/3))
	best := -1.0
	for b := range parts {
		part := order[b*len(order)/parts : (b+1)*len(order)/parts]
		m := 0.0
		for _, i := range part {
			m += w.z[i] / float64(len(part))
		}
		if s := math.Abs(m) * math.Sqrt(float64(len(part))); s > best {
			best, mean = s, m
			where = a.label(a.Values[part[0]], a.Values[part[len(part)-1]])
		}
	}
	return where, mean / w.scale()
}

func percent(share float64) string {
	if share < 0.01 {
		return fmt.Sprintf("%.2g %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}
