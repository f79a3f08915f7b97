// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Mixture is the distribution of a number or vector that comes from one of the
// components. weights are their probabilities: the last axis of a Node on the simplex,
// with one for each component. Params are the weights, followed by the parameters of the
// components.
//
//	log p = log sum_k weights_k p_k(x)
//
// A component may be PointMass.
func Mixture(weights any, components ...Dist) Dist {
	return mixtureOf("mixture", ad.Of(weights), components)
}

// MixtureLogits is Mixture with weights given by their logarithms, up to a common
// constant.
func MixtureLogits(logits any, components ...Dist) Dist {
	return mixtureOf("mixturelogits", ad.Of(logits), components)
}

// ZeroInflated is the distribution of a number that is 0 with probability p and otherwise
// drawn from d.
func ZeroInflated(p any, d Dist) Dist {
	w := ad.Of(p)
	return Mixture(ad.Stack(-1, w, ad.Sub(one, w)), PointMass(0), d)
}

func mixtureOf(name string, weights *ad.Node, components []Dist) Dist {
	params, events := []*ad.Node{weights}, []int{1}
	for _, c := range components {
		params, events = append(params, c.Params...), append(events, c.paramEvents()...)
	}
	m := mixture{name: name, events: events, parts: components}
	return m.family(params)
}

type mixture struct {
	name   string
	events []int
	parts  []Dist
}

func (m mixture) family(params []*ad.Node) Dist {
	out := Dist{Name: m.name, Params: params, ParamEvent: m.events}
	out.check = func() error { return m.check(params[0]) }
	out.rangesOf = func() ranges {
		r := m.weightRange()
		for k, c := range m.parts {
			r = r.joined(c.ranges(), fmt.Sprintf(" of component %d, %s", k, c.Name))
		}
		return r
	}
	if len(m.parts) == 0 || params[0].Err() != nil || last(params[0]) != len(m.parts) {
		out.LogProbOf = func(x *ad.Node) *ad.Node { return failed(x, out.check()) }
		return out
	}
	parts, at := make([]Dist, len(m.parts)), 1
	for k, c := range m.parts {
		parts[k] = c.with(params[at : at+len(c.Params)])
		at += len(c.Params)
	}
	out.Support, out.Event, out.Discrete = hull(parts), parts[0].Event, true
	for _, c := range parts {
		out.Discrete = out.Discrete && c.Discrete
	}
	join := func(f func(d Dist) *ad.Node) (sum *ad.Node) {
		lp := make([]*ad.Node, len(parts))
		for k, c := range parts {
			lp[k] = f(c)
		}
		return m.sum(params[0], lp)
	}
	density := Dist.logProb
	if all(parts, func(d Dist) bool {
		return d.Event == 0 && d.InsideOf == nil && !d.everywhere && sameSupport(d.Support, out.Support)
	}) {
		density = Dist.logProbClosed // one check of the support covers all components
	} else {
		out.Center, out.InsideOf = someValue(parts[0]), func(x *ad.Node) *ad.Node { return anyInside(parts, x) }
	}
	out.LogProbOf = func(x *ad.Node) *ad.Node { return join(func(d Dist) *ad.Node { return density(d, x) }) }
	if all(parts, func(d Dist) bool { return d.LogCDFOf != nil && d.LogCCDFOf != nil }) {
		out.LogCDFOf, out.LogCCDFOf = exactTails(func(x *ad.Node) *ad.Node { return join(func(d Dist) *ad.Node { return d.logCDF(x) }) },
			func(x *ad.Node) *ad.Node { return join(func(d Dist) *ad.Node { return d.logCCDF(x) }) })
	}
	m.numbers(&out, parts)
	out.remake = m.family
	return out
}

// weightRange returns the range of the weights or of their logarithms.
func (m mixture) weightRange() ranges {
	if m.name == "mixture" {
		return ranges{params: []allowed{{known: true, name: "weights", want: closedUnit, array: Probabilities, link: "pass the softmax of any numbers, or use MixtureLogits"}}}
	}
	return ranges{params: []allowed{{known: true, name: "logits", want: logarithm}}}
}

// someValue returns a possible value of d.
func someValue(d Dist) *ad.Node {
	if d.Center != nil {
		return d.Center
	}
	return d.Support.middle()
}

// anyInside returns 1 where x is possible for at least one of the distributions.
func anyInside(parts []Dist, x *ad.Node) (any *ad.Node) {
	for _, c := range parts {
		in := c.insideOf(x)
		if in == nil {
			in = one
		}
		if any != nil {
			in = ad.Maximum(any, in)
		}
		any = in
	}
	return any
}

// numbers sets the functions that work on plain numbers instead of Nodes.
func (m mixture) numbers(out *Dist, parts []Dist) {
	k := len(parts)
	sizes := make([]int, k)
	for i, c := range parts {
		sizes[i] = c.sizeOfParams()
	}
	each := func(p []float64, f func(w float64, d Dist, q []float64)) {
		w, at := m.weights(p[:k]), k
		for i, c := range parts {
			f(w[i], c, p[at:at+sizes[i]])
			at += sizes[i]
		}
	}
	sum := func(p []float64, f func(d Dist, q []float64) float64) (s float64) {
		each(p, func(w float64, d Dist, q []float64) {
			if w > 0 {
				s += w * f(d, q)
			}
		})
		return s
	}
	pick := func(src Source, p []float64) (chosen Dist, q []float64) {
		u, found := src.Float64(), false
		each(p, func(w float64, d Dist, r []float64) {
			if !found {
				chosen, q = d, r
				u -= w
				found = u < 0
			}
		})
		return chosen, q
	}
	if parts[0].Event > 0 {
		out.DrawOf = func(src Source, dst, p []float64) error {
			d, q := pick(src, p)
			if d.DrawOf == nil {
				return fmt.Errorf("dist: mixture: %s has a density only and cannot be drawn from: set its %s, or use another component", d.Name, d.drawer())
			}
			return d.DrawOf(src, dst, q)
		}
		return
	}
	out.RandOf = func(src Source, p []float64) float64 {
		d, q := pick(src, p)
		return d.Rand(src, q)
	}
	if all(parts, func(d Dist) bool { return d.CDFOf != nil }) {
		out.CDFOf = func(x float64, p []float64) float64 {
			return sum(p, func(d Dist, q []float64) float64 { return d.CDF(x, q) })
		}
	}
	out.MeanOf = func(p []float64) float64 { return sum(p, Dist.Mean) }
	out.VarianceOf = func(p []float64) float64 {
		mean := out.MeanOf(p)
		return sum(p, func(d Dist, q []float64) float64 {
			e := d.Mean(q) - mean
			return d.Var(q) + e*e
		})
	}
	out.BoundsOf = func(p []float64) (lo, hi float64) {
		lo, hi = math.Inf(1), math.Inf(-1)
		each(p, func(_ float64, d Dist, q []float64) {
			a, b := d.ends(q)
			lo, hi = min(lo, a), max(hi, b)
		})
		return lo, hi
	}
}

func all(parts []Dist, f func(d Dist) bool) bool {
	return !slices.ContainsFunc(parts, func(d Dist) bool { return !f(d) })
}

// sum returns the logarithm of the weighted sum of densities.
func (m mixture) sum(w *ad.Node, lp []*ad.Node) *ad.Node {
	if m.name == "mixture" {
		return weighted(indexed(w, len(lp)), lp)
	}
	terms := indexed(ad.LogSoftmax(w, -1), len(lp))
	for k := range lp {
		terms[k] = ad.Add(terms[k], lp[k])
	}
	return logSum(terms)
}

// indexed returns the n elements of the last axis.
func indexed(w *ad.Node, n int) []*ad.Node {
	out := make([]*ad.Node, n)
	for k := range out {
		out[k] = ad.Index(w, -1, k)
	}
	return out
}

func (m mixture) weights(w []float64) []float64 {
	if m.name == "mixture" {
		return w
	}
	return softmax(w)
}

func softmax(logits []float64) []float64 {
	top, sum := slices.Max(logits), 0.0
	w := make([]float64, len(logits))
	for i, l := range logits {
		w[i] = math.Exp(l - top)
		sum += w[i]
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}

func (m mixture) check(weights *ad.Node) error {
	if err := weights.Err(); err != nil {
		return fmt.Errorf("dist: mixture: weights: %w", errtext.Without("dist: ", err))
	}
	if len(m.parts) == 0 || last(weights) != len(m.parts) {
		return fmt.Errorf("dist: mixture: the weights have shape %v for %d components: give one weight for each, in the last axis", weights.Shape(), len(m.parts))
	}
	for k, c := range m.parts {
		if err := c.Err(); err != nil {
			return fmt.Errorf("dist: mixture: component %d: %w", k, errtext.Without("dist: ", err))
		}
		if c.Event != m.parts[0].Event {
			return fmt.Errorf("dist: mixture: the values of the components %s and %s have different numbers of axes: mix distributions of the same kind of value", m.parts[0].Name, c.Name)
		}
	}
	if w, ok := constant(weights); ok && m.name == "mixture" {
		for at := 0; at < len(w); at += len(m.parts) {
			if err := probabilities(w[at : at+len(m.parts)]); err != nil {
				return err
			}
		}
	}
	return nil
}

// probabilities checks that numbers lie on the simplex.
func probabilities(w []float64) error {
	sum := 0.0
	for i, v := range w {
		if !(v >= 0) {
			return fmt.Errorf("dist: weight %d is %g: want at least 0", i, v)
		}
		sum += v
	}
	if !(math.Abs(sum-1) <= 1e-8) {
		return fmt.Errorf("dist: the weights sum to %.12g: want 1, or use MixtureLogits, whose weights need not be normalised", sum)
	}
	return nil
}

// hull returns the smallest interval that contains the supports, as far as they are
// known.
func hull(parts []Dist) Support {
	s := parts[0].Support
	for _, c := range parts[1:] {
		if sameSupport(s, c.Support) {
			continue
		}
		s.Lower, s.Upper = outer(ad.Minimum, s.Lower, c.Support.Lower), outer(ad.Maximum, s.Upper, c.Support.Upper)
		s.Open, s.Whole = s.Open && c.Support.Open, s.Whole && c.Support.Whole
	}
	return s
}

func outer(join func(a, b *ad.Node) *ad.Node, a, b *ad.Node) *ad.Node {
	if a == nil || b == nil {
		return nil
	}
	if a == b {
		return a
	}
	if x, y := number(a, math.NaN()), number(b, math.NaN()); x == y {
		return a
	}
	return join(a, b)
}

func sameSupport(a, b Support) bool {
	same := func(x, y *ad.Node) bool {
		return x == y || x != nil && y != nil && number(x, math.NaN()) == number(y, math.NaN())
	}
	return a.Open == b.Open && a.Whole == b.Whole && same(a.Lower, b.Lower) && same(a.Upper, b.Upper)
}
