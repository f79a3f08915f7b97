// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
	"slices"
)

// KindSpread is the flag of errors that are right in some places only.
const KindSpread = "spread of the residuals"

// cubeRoots returns what spreadTest regresses: the cube roots of the squared studentised residuals that are not NaN.
func (w *residuals) cubeRoots() []float64 {
	if w.roots == nil {
		w.roots = w.mem.numbers.take(w.n)[:0]
		for _, x := range w.studentised {
			if !math.IsNaN(x) {
				w.roots = append(w.roots, math.Cbrt(x*x))
			}
		}
	}
	return w.roots
}

func init() { register(shapeStage, (*residuals).spreadTests) }

// spreadTests tests the spread along the axes and along the predicted values, unless an axis has their order.
func (w *residuals) spreadTests(r *round, all []test) []test {
	if w.d.SigmaEstimated {
		return all
	}
	axes := r.axes
	if w.d.Mean != nil && !slices.ContainsFunc(axes, func(a Axis) bool { return w.sameOrder(a.Values, w.d.Mean) }) {
		axes = append(slices.Clone(axes), Axis{Name: "the predicted value", Values: w.d.Mean})
	}
	for _, a := range axes {
		all = append(all, w.spreadTest(a))
	}
	return all
}

// spreadTest regresses the cube roots of the squared studentised residuals, which are
// nearly normal, on a constant and two cosines of the rank along an axis. It is the
// test of Breusch and Pagan for moderate samples too.
//
// Reference: Breusch and Pagan 1979, doi 10.2307/1911963; Wilson and Hilferty 1931,
// doi 10.1073/pnas.17.12.684.
func (w *residuals) spreadTest(a Axis) test {
	t := test{kind: KindSpread, of: a.Name, p: 1}
	if w.dof() < 12 {
		return t
	}
	order := w.mem.order(a.Values)
	columns, v := order.cosines(2), w.cubeRoots()
	if len(v) < w.n {
		var at []float64
		for i, x := range w.studentised {
			if !math.IsNaN(x) {
				at = append(at, order.ranks[i])
			}
		}
		columns = cosines(at, 2)
	}
	w.mem.spread = Data{Z: v, Relative: true}
	s := w.mem.of(&w.mem.spread)
	s.absorb(columns[:1])
	g := s.try(columns[1:])
	t.p = g.p
	t.effect = g.share
	if t.p <= w.level {
		_, _, ratio := w.thirds(a)
		t.harmless = ratio < 1.1 && ratio > 1/1.1
	}
	t.say = func(*test) Flag {
		low, high, ratio := w.thirds(a)
		larger, smaller := high, low
		if ratio < 1 {
			ratio, larger, smaller = 1/ratio, low, high
		}
		return Flag{Where: larger, Text: fmt.Sprintf("the scatter varies along %s: it is %.2g times as large for %s as for %s", a.title(), ratio, larger, smaller),
			Remedy: "give errors that vary in the same way, or let the model estimate a scale that depends on " + a.title()}
	}
	return t
}

// thirds compares the typical size of the residuals in the first third of an axis with that in the
// last third or, where the difference is larger, in the middle third.
func (w *residuals) thirds(a Axis) (low, high string, ratio float64) {
	z, order := w.studentised, w.mem.order(a.Values).places
	part := func(k int) (string, float64) {
		p := order[k*len(order)/3 : (k+1)*len(order)/3]
		s, n := 0.0, 0.0
		for _, i := range p {
			if !math.IsNaN(z[i]) {
				s, n = s+z[i]*z[i], n+1
			}
		}
		return a.label(a.Values[p[0]], a.Values[p[len(p)-1]]), math.Sqrt(s / max(n, 1))
	}
	low, first := part(0)
	middle, second := part(1)
	high, third := part(2)
	ratio = third / first
	if inner := second / math.Sqrt(first*third); math.Abs(math.Log(inner)) > math.Abs(math.Log(ratio)) {
		high, ratio = middle, second/first
	}
	return low, high, ratio
}
