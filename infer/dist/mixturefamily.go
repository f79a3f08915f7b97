// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// MixtureSameFamily is a Mixture whose components belong to one scalar distribution. The
// last axis of its parameters runs over the components, as does that of weights;
// parameters without axes are shared by all. It costs one pass for any number of
// components.
func MixtureSameFamily(weights any, d Dist) Dist {
	return commonFamily{mixture{name: "mixture"}, d}.family(append([]*ad.Node{ad.Of(weights)}, d.Params...))
}

// MixtureSameFamilyLogits is MixtureSameFamily with weights given by their logarithms, up
// to a common constant.
func MixtureSameFamilyLogits(logits any, d Dist) Dist {
	return commonFamily{mixture{name: "mixturelogits"}, d}.family(append([]*ad.Node{ad.Of(logits)}, d.Params...))
}

type commonFamily struct {
	mixture
	base Dist
}

func (m commonFamily) family(params []*ad.Node) Dist {
	base, k := m.base.with(params[1:]), last(params[0])
	out := Dist{Name: m.name, Params: params, Support: base.Support, Discrete: base.Discrete, ParamEvent: []int{1}}
	for _, p := range base.Params {
		out.ParamEvent = append(out.ParamEvent, min(1, len(p.Shape())))
	}
	out.check = func() error { return m.check(base, params[0], k) }
	out.remake = m.family
	out.rangesOf = func() ranges { return m.weightRange().joined(base.ranges(), "") }
	if s, ok := base.batchOfParams(); params[0].Err() != nil || !ok || len(s) == 0 || s[len(s)-1] != k {
		out.LogProbOf = func(x *ad.Node) *ad.Node { return failed(x, out.check()) }
		return out
	}
	column := func(x *ad.Node) *ad.Node { return ad.Reshape(x, append(x.Shape().Clone(), 1)...) }
	join := func(f func(x *ad.Node) *ad.Node) func(x *ad.Node) *ad.Node {
		return func(x *ad.Node) *ad.Node {
			if m.name == "mixture" {
				return weightedAxis(params[0], f(column(x)))
			}
			return ad.LogSumExp(ad.Add(ad.LogSoftmax(params[0], -1), f(column(x))), -1)
		}
	}
	if fixed := base.InsideOf == nil && fixedEnds(base.Support); fixed || base.everywhere {
		out.everywhere = base.everywhere
		out.LogProbOf = join(base.logProbClosed)
	} else { // the components have different ends
		out.Support.Lower, out.Support.Upper = edge(ad.MinAxes, base.Support.Lower), edge(ad.MaxAxes, base.Support.Upper)
		out.LogProbOf, out.Center = join(base.logProb), out.Support.middle()
		out.InsideOf = func(x *ad.Node) *ad.Node { return ad.MaxAxes(base.insideOf(column(x)), -1) }
	}
	if base.LogCDFOf != nil && base.LogCCDFOf != nil {
		out.LogCDFOf, out.LogCCDFOf = exactTails(join(base.logCDF), join(base.logCCDF))
	}
	m.numbers(&out, base, k)
	return out
}

// fixedEnds reports whether all components have the same ends.
func fixedEnds(s Support) bool {
	fixed := func(n *ad.Node) bool { return n == nil || len(n.Shape()) == 0 }
	return fixed(s.Lower) && fixed(s.Upper)
}

// edge reduces an end over the components if it differs between them.
func edge(reduce func(x *ad.Node, axes ...int) *ad.Node, end *ad.Node) *ad.Node {
	if end == nil || len(end.Shape()) == 0 {
		return end
	}
	return reduce(end, -1)
}

func (m commonFamily) check(base Dist, weights *ad.Node, k int) error {
	for _, err := range []error{weights.Err(), base.Err()} {
		if err != nil {
			return fmt.Errorf("dist: mixture of %s: %w", base.Name, errtext.Without("dist: ", err))
		}
	}
	s, _ := base.batchOfParams()
	if base.Event > 0 || base.ParamEvent != nil || len(s) == 0 || s[len(s)-1] != k {
		return fmt.Errorf("dist: mixture of %s: the weights have shape %v and the parameters batch axes %v: want a scalar distribution and equal last axes", base.Name, weights.Shape(), s)
	}
	if w, ok := constant(weights); ok && m.name == "mixture" {
		for at := 0; at < len(w); at += k {
			if err := probabilities(w[at : at+k]); err != nil {
				return err
			}
		}
	}
	return nil
}

// numbers sets the functions that work on plain numbers. They take the weights, followed
// by each parameter's numbers for all components, or its single number.
func (m commonFamily) numbers(out *Dist, base Dist, k int) {
	component := func(p []float64, j int) []float64 {
		q, at := make([]float64, len(base.Params)), k
		for i := range q {
			n := out.valueSize(i + 1)
			q[i] = p[at+min(j, n-1)]
			at += n
		}
		return q
	}
	sum := func(p []float64, f func(q []float64) float64) (s float64) {
		for j, w := range m.weights(p[:k]) {
			if w > 0 {
				s += w * f(component(p, j))
			}
		}
		return s
	}
	out.RandOf = func(src Source, p []float64) float64 {
		w, u := m.weights(p[:k]), src.Float64()
		j := 0
		for ; j < k-1 && u >= w[j]; j++ {
			u -= w[j]
		}
		return base.Rand(src, component(p, j))
	}
	if base.CDFOf != nil {
		out.CDFOf = func(x float64, p []float64) float64 {
			return sum(p, func(q []float64) float64 { return base.CDF(x, q) })
		}
	}
	out.MeanOf = func(p []float64) float64 { return sum(p, base.Mean) }
	out.VarianceOf = func(p []float64) float64 {
		mean := out.MeanOf(p)
		return sum(p, func(q []float64) float64 { e := base.Mean(q) - mean; return base.Var(q) + e*e })
	}
	out.BoundsOf = func(p []float64) (lo, hi float64) {
		lo, hi = math.Inf(1), math.Inf(-1)
		for j := range k {
			a, b := base.ends(component(p, j))
			lo, hi = min(lo, a), max(hi, b)
		}
		return lo, hi
	}
}
