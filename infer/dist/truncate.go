// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Within returns a scalar distribution, whose parameters do not depend on inputs, between bounds: d itself if it does not reach beyond
// them, or else truncated. It returns an error if no probability is left between the bounds, or if it is not known.
func Within(d Dist, lower, upper float64) (Dist, error) {
	low, high, err := Range(d)
	switch {
	case err != nil:
		return d, err
	case low >= lower && high <= upper:
		return d, nil
	case high <= lower || low >= upper:
		return d, fmt.Errorf("dist: %s lies between %g and %g, outside the bounds %g to %g: change one of them", d, low, high, lower, upper)
	case d.LogCDFOf == nil || d.LogCCDFOf == nil:
		return d, fmt.Errorf("dist: the probability of %s between the bounds %g and %g is not known: leave out the bounds, or choose another distribution", d, lower, upper)
	}
	return Truncate(d, lower, upper), nil
}

// Truncate is the distribution d conditioned on lower <= x <= upper. Nil or an infinite
// number means no limit. d is a scalar distribution with LogCDF and LogCCDF.
//
//	log p = log p_d(x) - log(F_d(upper) - F_d(lower)), F_d(lower-1) for discrete distributions
//
// The difference is taken in the tail where it is accurate. Params are those of d,
// followed by the limits.
func Truncate(d Dist, lower, upper any) Dist {
	lower, upper = openEnd(lower, -1), openEnd(upper, 1)
	t := truncation{base: d, low: -1, high: -1}
	p := slices.Clone(d.Params)
	if lower != nil {
		t.low = len(p)
		p = append(p, ad.Of(lower))
	}
	if upper != nil {
		t.high = len(p)
		p = append(p, ad.Of(upper))
	}
	return t.family(p)
}

// openEnd returns nil for an end at infinity, where the product of the end and a zero
// derivative would be NaN.
func openEnd(end any, sign int) any {
	if v, ok := end.(float64); ok && math.IsInf(v, sign) {
		return nil
	}
	return end
}

// truncation holds the base and the indices of the parameters that are the limits; -1
// means no limit.
type truncation struct {
	base      Dist
	low, high int
}

func (t truncation) family(p []*ad.Node) Dist {
	base := t.base.with(p[:len(t.base.Params)])
	var lower, upper *ad.Node
	out := Dist{Name: "truncated " + base.Name, Params: p, Support: base.Support, Discrete: base.Discrete, everywhere: base.everywhere}
	out.ParamEvent = append(base.paramEvents(), make([]int, len(p)-len(base.Params))...)
	if t.low >= 0 {
		lower = p[t.low]
		out.Support.Lower = narrower(ad.Maximum, base.Support.Lower, lower)
	}
	if t.high >= 0 {
		upper = p[t.high]
		out.Support.Upper = narrower(ad.Minimum, base.Support.Upper, upper)
	}
	out.InsideOf = func(x *ad.Node) *ad.Node { return allOf(base.insideOf(x), atLeast(x, lower), atMost(x, upper)) }
	out.Center = out.Support.middle()
	whole := func() *ad.Node { return base.logBetween(lower, upper) }
	out.LogProbOf = func(x *ad.Node) *ad.Node { return ad.Sub(base.logProbClosed(x), whole()) }
	below := func(x *ad.Node) *ad.Node { return ad.Sub(base.logBetween(lower, x), whole()) }
	beyond := func(x *ad.Node) *ad.Node {
		if base.Discrete {
			x = ad.Shift(x, 1)
		}
		return ad.Sub(base.logBetween(x, upper), whole())
	}
	out.LogCDFOf, out.LogCCDFOf = exactTails(below, beyond)
	out.BoundsOf = func(q []float64) (lo, hi float64) { return t.ends(q) }
	out.check = func() error { return t.check(out, base) }
	out.rangesOf = func() ranges { return t.ranges(base) }
	out.remake = t.family
	out.CDFOf = out.graphCDF()
	out.RandOf = func(src Source, q []float64) float64 { return t.rand(out, src, q) }
	n := t.base.sizeOfParams()
	out.MeanOf = func(q []float64) float64 { m, _ := out.numericMoments(t.base, q, q[:n]); return m }
	out.VarianceOf = func(q []float64) float64 { _, v := out.numericMoments(t.base, q, q[:n]); return v }
	return out
}

// ranges returns those of the base and of the limits.
func (t truncation) ranges(base Dist) ranges {
	limit := func(name string, safe float64) ranges {
		return ranges{params: []allowed{{known: true, name: name, want: extended, safe: safe}}}
	}
	r := base.ranges()
	if t.low >= 0 {
		r = r.joined(limit("lower limit", math.Inf(-1)), "")
	}
	if t.high >= 0 {
		r = r.joined(limit("upper limit", math.Inf(1)), "")
	}
	if t.low >= 0 && t.high >= 0 {
		r.groups = append(r.groups, group{members: []int{t.low, t.high}, order: []pair{{t.low, t.high, base.Discrete}}, want: "lower < upper"})
	}
	return r
}

// narrower combines an end of the support with a limit.
func narrower(join func(a, b *ad.Node) *ad.Node, end, at *ad.Node) *ad.Node {
	if end == nil {
		return at
	}
	if end.IsConst() && at.IsConst() {
		return folded(at, join(end, at))
	}
	return join(end, at)
}

func (t truncation) ends(q []float64) (lo, hi float64) {
	n := t.base.sizeOfParams()
	lo, hi = t.base.ends(q[:n])
	if t.low >= 0 {
		lo = max(lo, q[n])
	}
	if t.high >= 0 {
		hi = min(hi, q[len(q)-1])
	}
	if t.base.Discrete {
		lo, hi = math.Ceil(lo), math.Floor(hi)
	}
	return lo, hi
}

func (t truncation) check(d, base Dist) error {
	switch {
	case base.Event > 0 || base.LogCDFOf == nil || base.LogCCDFOf == nil:
		return fmt.Errorf("dist: truncate: %s has no LogCDF and LogCCDF, which limits need: set LogCDFOf and LogCCDFOf if it is yours, or use a scalar distribution that has them", base.Name)
	}
	if err := base.Err(); err != nil {
		return err
	}
	if t.low >= 0 && t.high >= 0 {
		lo, hi := number(d.Params[t.low], math.NaN()), number(d.Params[t.high], math.NaN())
		if lo > hi || lo == hi && !base.Discrete {
			return fmt.Errorf("dist: truncate: the limits of %s are %g and %g: want lower < upper", base.Name, lo, hi)
		}
	}
	return nil
}

// rand draws from the base until a draw lies between the limits, which is fast if that is
// likely. Otherwise it inverts the distribution function.
func (t truncation) rand(d Dist, src Source, q []float64) float64 {
	lo, hi := t.ends(q)
	if lo == hi {
		return lo
	}
	inner := q[:t.base.sizeOfParams()]
	if t.base.randBetween != nil {
		return t.base.randBetween(src, lo, hi, inner)
	}
	for range 300 { // takes about as long as one inversion
		if x := t.base.RandOf(src, inner); x >= lo && x <= hi {
			return x
		}
	}
	return d.Quantile(open(src), q)
}

// logBetween returns the logarithm of the probability of lower <= x <= upper. Nil stands
// for an end of the distribution.
func (d Dist) logBetween(lower, upper *ad.Node) *ad.Node {
	if lower != nil && d.Discrete {
		lower = ad.Shift(ad.Ceil(lower), -1)
	}
	switch {
	case lower == nil && upper == nil:
		return zero
	case lower == nil:
		return d.logCDF(upper)
	case upper == nil:
		return d.logCCDF(lower)
	case d.between != nil:
		return d.betweenOr(lower, upper)
	}
	// Start from the side where the farther limit has the smaller probability.
	below, above := d.logCDF(upper), d.logCCDF(lower)
	left := ad.Less(below, above)
	near := ad.Where(left, below, above)
	far := ad.Where(left, d.logCDF(lower), d.logCCDF(upper))
	none := ad.Equal(far, ad.Scalar(math.Inf(-1)))
	rest := ad.Log1mExp(ad.Where(none, ad.Scalar(-1), ad.Sub(far, near)))
	return ad.Add(near, ad.Where(none, zero, rest))
}

// betweenOr is between where both limits are finite, and the probability of one side or 1 where they are not.
func (d Dist) betweenOr(lower, upper *ad.Node) *ad.Node {
	if !mayBeInfinite(lower) && !mayBeInfinite(upper) {
		return d.between(lower, upper)
	}
	noLower, noUpper := ad.LessEqual(lower, minusInfinity), ad.GreaterEqual(upper, plusInfinity)
	either := ad.Maximum(noLower, noUpper)
	both := d.between(ad.Where(either, one, lower), ad.Where(either, ad.Scalar(2), upper))
	sides := ad.Where(noLower, d.logCDF(upper), d.logCCDF(lower)) // the other one is 1 at an infinite limit
	return ad.Where(either, sides, both)
}

func atLeast(x, lower *ad.Node) *ad.Node {
	if lower == nil {
		return nil
	}
	return ad.GreaterEqual(x, lower)
}

func atMost(x, upper *ad.Node) *ad.Node {
	if upper == nil {
		return nil
	}
	return ad.LessEqual(x, upper)
}

// allOf returns 1 where all conditions are 1. A nil condition stands for 1.
func allOf(conditions ...*ad.Node) *ad.Node {
	out := one
	for i, c := range conditions {
		switch {
		case c == nil:
		case out == one && i < len(conditions):
			out = c
		default:
			out = ad.Mul(out, c)
		}
	}
	return out
}
