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

// Support is an interval of real numbers or of integers. Nil ends are infinite. Ends may
// be Nodes, so a bound may depend on another parameter.
type Support struct {
	Lower, Upper *ad.Node
	Open         bool // Open excludes the ends, where the density is 0, infinite or has no limit.
	OpenLower    bool // OpenLower excludes the lower end only.
	Whole        bool // Whole restricts the interval to the integers.
}

// Common supports: all numbers, x > 0, x >= 0, 0 < x < 1, the integers 0, 1, 2, ... and
// the integers 1, 2, 3, ...
var (
	Real        = Support{}
	Positive    = Support{Lower: zero, Open: true}
	NonNegative = Support{Lower: zero}
	Unit        = Support{Lower: zero, Upper: one, Open: true}
	Counts      = Support{Lower: zero, Whole: true}
	Naturals    = Support{Lower: one, Whole: true}
)

// Ranges of parameters: probabilities from 0 to 1, those above 0, numbers or infinities, and numbers or -Inf.
var (
	closedUnit    = Support{Lower: zero, Upper: one}
	unitAbove0    = Support{Lower: zero, Upper: one, OpenLower: true}
	extended      = Support{Lower: minusInfinity, Upper: plusInfinity}
	logarithm     = Support{Lower: minusInfinity}
	minusInfinity = ad.Scalar(math.Inf(-1))
	plusInfinity  = ad.Scalar(math.Inf(1))
)

var zero, one, minusOne, half = ad.Scalar(0), ad.Scalar(1), ad.Scalar(-1), ad.Scalar(0.5)

// Interval returns the closed interval between two ends, which are numbers or Nodes.
func Interval(lower, upper any) Support {
	return Support{Lower: ad.Of(lower), Upper: ad.Of(upper)}
}

// wholes returns the integers between two ends.
func wholes(lower, upper any) Support {
	return Support{Lower: ad.Of(lower), Upper: ad.Of(upper), Whole: true}
}

// Transform returns the map from the real line to the support.
func (s Support) Transform() Transform {
	switch {
	case s.Lower != nil && s.Upper != nil:
		return IntervalTransform(s.Lower, s.Upper)
	case s.Lower != nil && infinite(s.Lower):
		return IntervalTransform(s.Lower, plusInfinity)
	case s.Upper != nil && infinite(s.Upper):
		return IntervalTransform(minusInfinity, s.Upper)
	case s.Lower != nil:
		return LowerTransform(s.Lower)
	case s.Upper != nil:
		return UpperTransform(s.Upper)
	}
	return IdentityTransform()
}

// Constrain maps the unconstrained u to the support; logJ is the logarithm of the
// absolute determinant of the Jacobian.
func (s Support) Constrain(u *ad.Node) (y, logJ *ad.Node) { return s.Transform().Constrain(u) }

// guard evaluates f inside the support and returns -Inf outside. Values of f outside
// cannot affect a gradient.
func (s Support) guard(x *ad.Node, f func(*ad.Node) *ad.Node) *ad.Node {
	inside := s.Inside(x)
	if inside == nil {
		return f(x)
	}
	return ad.Where(inside, f(ad.Where(inside, x, s.middle())), ad.Scalar(math.Inf(-1)))
}

// Inside returns 1 where x lies in the support and 0 elsewhere; nil stands for 1
// everywhere. Infinities are outside.
func (s Support) Inside(x *ad.Node) *ad.Node {
	above, below := ad.GreaterEqual, ad.LessEqual
	if s.Open {
		above, below = ad.Greater, ad.Less
	}
	if s.OpenLower {
		above = ad.Greater
	}
	var in *ad.Node
	both := func(n *ad.Node) {
		if in != nil {
			n = ad.Mul(in, n)
		}
		in = n
	}
	if s.Lower != nil {
		both(above(x, s.Lower))
	}
	if s.Upper != nil {
		both(below(x, s.Upper))
	}
	if s.Whole {
		both(ad.Equal(x, ad.Floor(x)))
	}
	switch inf := ad.Scalar(math.Inf(1)); { // exclude infinity
	case in == nil:
		if v, ok := constant(x); !ok || slices.ContainsFunc(v, func(v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) }) {
			in = ad.Less(ad.Abs(x), inf)
		}
	case s == extended || s.Lower != nil && s.Upper != nil && !mayBeInfinite(s.Lower) && !mayBeInfinite(s.Upper):
	case s.Lower != nil && s.Upper != nil:
		both(ad.Less(ad.Abs(x), inf))
	case s.Lower != nil:
		both(ad.Less(x, inf))
	default:
		both(ad.Less(ad.Abs(x), inf))
	}
	return in
}

// below returns 1 where the distribution has no probability at x or lower, and above
// where it has none higher than x, which may be infinite.
func (s Support) below(x *ad.Node, discrete bool) *ad.Node {
	switch {
	case s.Lower == nil:
		return ad.LessEqual(x, minusInfinity)
	case discrete:
		return ad.Less(x, s.Lower)
	}
	return ad.LessEqual(x, s.Lower)
}

func (s Support) above(x *ad.Node) *ad.Node {
	if s.Upper == nil {
		return ad.GreaterEqual(x, plusInfinity)
	}
	return ad.GreaterEqual(x, s.Upper)
}

// middle returns a point inside the support, whose ends may be infinite.
func (s Support) middle() *ad.Node {
	var m *ad.Node
	switch low, high := mayBeInfinite(s.Lower), mayBeInfinite(s.Upper); {
	case s.Lower == nil && s.Upper == nil:
		return zero
	case low || high:
		m = s.finiteMiddle()
	case s.Lower != nil && s.Whole:
		m = s.Lower
	case s.Lower != nil && s.Upper != nil:
		m = ad.Scale(0.5, ad.Add(s.Lower, s.Upper))
	case s.Lower != nil:
		m = ad.Shift(s.Lower, 1)
	case s.Whole:
		m = s.Upper
	default:
		m = ad.Shift(s.Upper, -1)
	}
	return ad.StopGradient(m)
}

// mayBeInfinite reports whether an end is a Node that may hold infinities.
func mayBeInfinite(end *ad.Node) bool {
	if end == nil || end == zero || end == one {
		return false
	}
	v, ok := constant(end)
	return !ok || slices.ContainsFunc(v, func(x float64) bool { return math.IsInf(x, 0) })
}

// finiteMiddle is middle where ends may be infinite.
func (s Support) finiteMiddle() *ad.Node {
	part := func(end *ad.Node) (finite, value *ad.Node) {
		if end == nil {
			return zero, zero
		}
		finite = ad.Less(ad.Abs(end), plusInfinity)
		return finite, ad.Where(finite, end, zero)
	}
	low, a := part(s.Lower)
	high, b := part(s.Upper)
	if s.Whole {
		return ad.Where(low, a, b)
	}
	one := ad.Where(low, ad.Shift(a, 1), ad.Where(high, ad.Shift(b, -1), zero))
	return ad.Where(ad.Mul(low, high), ad.Scale(0.5, ad.Add(a, b)), one)
}

// Ends returns the ends that are constants. Those that depend on parameters are returned as infinite.
func (s Support) Ends() (lower, upper float64) {
	return number(s.Lower, math.Inf(-1)), number(s.Upper, math.Inf(1))
}

func number(n *ad.Node, otherwise float64) float64 {
	switch n {
	case nil:
		return otherwise
	case zero:
		return 0
	case one:
		return 1
	}
	if v, ok := constant(n); ok && len(v) == 1 {
		return v[0]
	}
	return otherwise
}

// misfit returns the first number that lies outside the support.
func (s Support) misfit(v []float64) (x float64, found bool) {
	lo, hi := s.Ends()
	for _, x := range v {
		in := x > lo && x < hi || !s.Open && (x == lo && !s.OpenLower || x == hi)
		infinite := math.IsInf(x, -1) && s.Lower == nil || math.IsInf(x, 1) && s.Upper == nil
		if !in || infinite || s.Whole && x != math.Floor(x) {
			return x, true
		}
	}
	return 0, false
}

// words describes the support in words, for errors about misfits.
func (s Support) words() string {
	out := "a finite number"
	if s.Whole {
		out = "a whole number"
	}
	switch {
	case s == extended:
		return "a number or an infinity"
	case s == logarithm:
		return "a finite number or -Inf"
	}
	lo, hi := s.Ends()
	switch low, high := !math.IsInf(lo, 0), !math.IsInf(hi, 0); {
	case low && high && s.OpenLower:
		return out + fmt.Sprintf(" above %g and of at most %g", lo, hi)
	case low && high && s.Open:
		return out + fmt.Sprintf(" strictly between %g and %g", lo, hi)
	case low && high:
		return out + fmt.Sprintf(" from %g to %g", lo, hi)
	case low && (s.Open || s.OpenLower):
		return out + fmt.Sprintf(" above %g", lo)
	case low:
		return out + fmt.Sprintf(" of at least %g", lo)
	case high:
		return out + fmt.Sprintf(" of at most %g", hi)
	}
	return out
}

// Range returns the ends of the support of a scalar distribution with constant
// parameters. Other distributions give an error.
func Range(d Dist) (lower, upper float64, err error) {
	if err := d.Err(); err != nil {
		return 0, 0, err
	}
	if d.Event > 0 {
		return 0, 0, fmt.Errorf("dist: %s is a distribution of vectors or matrices and has no range: use a scalar distribution", d.Name)
	}
	theta, err := Numbers(d)
	if err != nil {
		return 0, 0, err
	}
	var p []float64
	for _, v := range theta {
		if len(v) != 1 {
			return 0, 0, fmt.Errorf("dist: the range of %s cannot be given, since a parameter has %d values: want single numbers", d.Name, len(v))
		}
		p = append(p, v[0])
	}
	lower, upper = d.ends(p)
	return lower, upper, nil
}

// Above returns the probability that a number of a scalar distribution, whose parameters do not depend on inputs, is above a limit. It is NaN
// where neither the support nor a formula tells it.
func Above(d Dist, limit float64) (float64, error) {
	lower, upper, err := Range(d)
	switch {
	case err != nil:
		return math.NaN(), err
	case lower >= limit:
		return 1, nil
	case upper <= limit:
		return 0, nil
	}
	theta, err := Numbers(d)
	if err != nil {
		return math.NaN(), err
	}
	var p []float64
	for _, v := range theta {
		p = append(p, v[0])
	}
	return 1 - d.CDF(limit, p), nil
}

// Left returns what a scalar distribution, whose parameters do not depend on inputs, leaves between two limits: its probability there, which is NaN where
// neither the support nor a formula tells it, and whether that is next to nothing, below one in a million.
func Left(d Dist, lower, upper float64) (share float64, nothing bool) {
	above, err1 := Above(d, lower)
	beyond, err2 := Above(d, upper)
	if err1 != nil || err2 != nil {
		return math.NaN(), false
	}
	share = above - beyond
	return max(share, 0), share < 1e-6
}

// Numbers returns the parameter values, in the form that Fill takes, of a distribution
// whose parameters do not depend on inputs.
func Numbers(d Dist) ([][]float64, error) {
	if len(d.Params) == 0 {
		return nil, nil
	}
	values, err := ad.Numbers(d.Params...)
	if err != nil {
		return nil, fmt.Errorf("dist: parameters of %s: %w", d.Name, errtext.Without("dist: ", err))
	}
	return values, nil
}
