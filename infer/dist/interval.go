// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// span is an interval that is known to contain all elements of a Node that are numbers. An open end is excluded.
type span struct {
	lo, hi         float64
	loOpen, hiOpen bool
}

var anything = span{math.Inf(-1), math.Inf(1), true, true}

// mostVisited bounds the cost of the analysis in large graphs. Beyond it, nothing is known.
const mostVisited = 500

// spanOf derives an interval from the operations by which n is computed, in exact arithmetic: the exponential of any
// number is above 0, although that of -800 rounds to 0. What it cannot tell from them is anything.
func spanOf(n *ad.Node) span {
	a := analysis{}
	return a.of(n)
}

type analysis map[*ad.Node]span

func (a analysis) of(n *ad.Node) span {
	if s, done := a[n]; done {
		return s
	}
	if len(a) >= mostVisited || n.Err() != nil || n.IsInt() {
		return anything
	}
	a[n] = anything // counts the visit
	s := a.derive(n)
	a[n] = s
	return s
}

func (a analysis) derive(n *ad.Node) span {
	if v, ok := constant(n); ok {
		return spanOfNumbers(v)
	}
	if n.Op() == nil {
		return anything
	}
	in := n.In()
	at := func(i int) span { return a.of(in[i]) }
	switch n.Op().Name {
	case "reshape", "permute", "broadcast", "slice", "gather":
		return at(0)
	case "concat":
		return a.union(in)
	case "where":
		return a.union(in[1:3])
	case "add":
		return at(0).plus(at(1))
	case "sub":
		return at(0).plus(at(1).negative())
	case "neg":
		return at(0).negative()
	case "mul":
		if in[0] == in[1] {
			return span{0, math.Inf(1), !at(0).holds(0), true}
		}
		return at(0).times(at(1))
	case "div":
		return at(0).times(at(1).inverse())
	case "reciprocal":
		return at(0).inverse()
	case "square", "abs":
		return span{0, math.Inf(1), !at(0).holds(0), true}
	case "sqrt":
		return span{0, math.Inf(1), at(0).positive(), true}
	case "exp", "exp2", "softplus", "rsqrt":
		return span{0, math.Inf(1), true, true}
	case "sigmoid":
		return span{0, 1, true, true}
	case "tanh", "erf":
		return span{-1, 1, true, true}
	case "erfc":
		return span{0, 2, true, true}
	case "sum":
		return at(0).repeated()
	case "maximum", "fmax":
		return at(0).most(at(1))
	case "minimum", "fmin":
		return at(0).negative().most(at(1).negative()).negative()
	}
	return anything
}

func (a analysis) union(in []*ad.Node) span {
	s := a.of(in[0])
	for _, n := range in[1:] {
		t := a.of(n)
		if t.lo < s.lo || t.lo == s.lo && !t.loOpen {
			s.lo, s.loOpen = t.lo, t.loOpen
		}
		if t.hi > s.hi || t.hi == s.hi && !t.hiOpen {
			s.hi, s.hiOpen = t.hi, t.hiOpen
		}
	}
	return s
}

func spanOfNumbers(v []float64) span {
	s := span{lo: v[0], hi: v[0]}
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return anything
		}
		s.lo, s.hi = min(s.lo, x), max(s.hi, x)
	}
	return s
}

func (s span) holds(x float64) bool {
	return (s.lo < x || s.lo == x && !s.loOpen) && (x < s.hi || x == s.hi && !s.hiOpen)
}

func (s span) positive() bool { return s.lo > 0 || s.lo == 0 && s.loOpen }

func (s span) negative() span { return span{-s.hi, -s.lo, s.hiOpen, s.loOpen} }

func (s span) plus(t span) span {
	return span{s.lo + t.lo, s.hi + t.hi, s.loOpen || t.loOpen, s.hiOpen || t.hiOpen}
}

// times is the product of numbers of known sign, and anything otherwise.
func (s span) times(t span) span {
	below := func(s span) bool { return s.lo < 0 && s.hi <= 0 }
	switch {
	case below(s):
		return s.negative().times(t).negative()
	case below(t):
		return s.times(t.negative()).negative()
	}
	if s.lo < 0 || t.lo < 0 || math.IsInf(s.lo, 0) || math.IsInf(t.lo, 0) {
		return anything
	}
	out := span{s.lo * t.lo, s.hi * t.hi, s.positive() && t.positive() && (s.loOpen || t.loOpen), true}
	if out.lo == 0 { // 0, or the underflow of a product of numbers above 0
		out.loOpen = s.positive() && t.positive()
	}
	if math.IsNaN(out.hi) {
		return anything
	}
	if !math.IsInf(out.hi, 1) {
		out.hiOpen = s.hiOpen && t.hiOpen || s.hiOpen && t.hi > 0 || t.hiOpen && s.hi > 0
	}
	return out
}

// inverse is the reciprocal of numbers above 0, and anything otherwise.
func (s span) inverse() span {
	if s.hi < 0 || s.hi == 0 && s.hiOpen {
		return s.negative().inverse().negative()
	}
	if !s.positive() {
		return anything
	}
	out := span{0, math.Inf(1), true, true}
	if !math.IsInf(s.hi, 1) {
		out.lo, out.loOpen = 1/s.hi, s.hiOpen
	}
	if s.lo > 0 {
		out.hi, out.hiOpen = 1/s.lo, s.loOpen
	}
	return out
}

// repeated is the sum of at least one of the numbers.
func (s span) repeated() span {
	if s.lo < 0 {
		return anything
	}
	return span{s.lo, math.Inf(1), s.loOpen, true}
}

func (s span) most(t span) span {
	if t.lo > s.lo || t.lo == s.lo && t.loOpen {
		s.lo, s.loOpen = t.lo, t.loOpen
	}
	if t.hi > s.hi || t.hi == s.hi && !t.hiOpen {
		s.hi, s.hiOpen = t.hi, t.hiOpen
	}
	return s
}

// within reports whether all numbers of s lie in an interval with constant ends.
func (s span) within(t Support) bool {
	if s == anything || t.Whole || t.Lower != nil && !t.Lower.IsConst() || t.Upper != nil && !t.Upper.IsConst() {
		return false
	}
	lo, hi := t.Ends()
	low := math.IsInf(lo, -1) || s.lo > lo || s.lo == lo && (!t.Open && !t.OpenLower || s.loOpen)
	high := math.IsInf(hi, 1) || s.hi < hi || s.hi == hi && (!t.Open || s.hiOpen)
	return low && high
}
