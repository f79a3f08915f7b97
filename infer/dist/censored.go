// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Censored is the distribution of a number from d that is recorded as lower if it is at
// most lower, and as upper if it is at least upper. Nil or an infinite number means no
// limit. Values at or beyond a limit contribute the probability of that tail, other
// values the density. d is a scalar distribution with LogCDF and LogCCDF. Params are
// those of d, followed by the limits.
func Censored(d Dist, lower, upper any) Dist {
	lower, upper = openEnd(lower, -1), openEnd(upper, 1)
	c := censoring{truncation{base: d, low: -1, high: -1}}
	p := slices.Clone(d.Params)
	if lower != nil {
		c.low = len(p)
		p = append(p, ad.Of(lower))
	}
	if upper != nil {
		c.high = len(p)
		p = append(p, ad.Of(upper))
	}
	return c.family(p)
}

type censoring struct{ truncation }

func (c censoring) family(p []*ad.Node) Dist {
	base := c.base.with(p[:len(c.base.Params)])
	out := Dist{Name: "censored " + base.Name, Params: p, Support: base.Support, Discrete: base.Discrete, everywhere: true}
	out.ParamEvent = append(base.paramEvents(), make([]int, len(p)-len(base.Params))...)
	out.LogProbOf = func(x *ad.Node) *ad.Node { return c.logProb(base, p, x) }
	out.check = func() error { return c.check(out, base) }
	out.rangesOf = func() ranges { return c.ranges(base) }
	out.remake = c.family
	out.BoundsOf, out.marks = c.ends, c.marks
	out.LogCDFOf = func(x *ad.Node) *ad.Node { return c.tail(p, x, base.logCDF, math.Inf(-1), 0) }
	out.LogCCDFOf = func(x *ad.Node) *ad.Node { return c.tail(p, x, base.logCCDF, 0, math.Inf(-1)) }
	out.RandOf = func(src Source, q []float64) float64 {
		lo, hi := c.marks(q)
		return min(max(base.Rand(src, q[:c.base.sizeOfParams()]), lo), hi)
	}
	if base.CDFOf != nil {
		out.CDFOf = func(x float64, q []float64) float64 { return base.CDF(x, q[:c.base.sizeOfParams()]) }
	}
	return out
}

// marks returns the limits at parameter values q.
func (c censoring) marks(q []float64) (lo, hi float64) {
	n := c.base.sizeOfParams()
	lo, hi = math.Inf(-1), math.Inf(1)
	if c.low >= 0 {
		lo = q[n]
	}
	if c.high >= 0 {
		hi = q[len(q)-1]
	}
	return lo, hi
}

func (c censoring) ends(q []float64) (lo, hi float64) {
	lo, hi = c.base.ends(q[:c.base.sizeOfParams()])
	a, b := c.marks(q)
	return min(max(lo, a), b), max(min(hi, b), a)
}

func (c censoring) logProb(base Dist, p []*ad.Node, x *ad.Node) *ad.Node {
	out := base.logProb
	if c.low >= 0 {
		lower, inner := p[c.low], out
		out = func(x *ad.Node) *ad.Node {
			below := ad.LessEqual(x, lower)
			return ad.Where(below, base.logCDF(lower), inner(x))
		}
	}
	if c.high >= 0 {
		upper, inner := p[c.high], out
		out = func(x *ad.Node) *ad.Node {
			beyond := ad.GreaterEqual(x, upper)
			from := upper
			if base.Discrete { // P(X >= upper)
				from = ad.Shift(ad.Ceil(upper), -1)
			}
			return ad.Where(beyond, base.logCCDF(from), inner(x))
		}
	}
	return out(x)
}

// tail returns the tail f of the base between the limits, and below or above beyond them.
func (c censoring) tail(p []*ad.Node, x *ad.Node, f func(x *ad.Node) *ad.Node, below, above float64) *ad.Node {
	out := f(x)
	if c.low >= 0 {
		out = ad.Where(ad.Less(x, p[c.low]), ad.Scalar(below), out)
	}
	if c.high >= 0 {
		out = ad.Where(ad.GreaterEqual(x, p[c.high]), ad.Scalar(above), out)
	}
	return out
}

func (c censoring) check(d, base Dist) error {
	if base.Event > 0 || base.LogCDFOf == nil || base.LogCCDFOf == nil {
		return fmt.Errorf("dist: censored: %s has no LogCDF and LogCCDF, which limits need: set LogCDFOf and LogCCDFOf if it is yours, or use a scalar distribution that has them", base.Name)
	}
	return c.truncation.check(d, base)
}
