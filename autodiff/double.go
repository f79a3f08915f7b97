// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "math"

// double is the unevaluated sum of two numbers, the second below half of the last digit of the first.
//
// Reference: Dekker, doi:10.1007/BF01397083.
type double struct{ hi, lo float64 }

// product returns a b without rounding.
func product(a, b float64) double {
	p := float64(a * b) // rounded also where the compiler would fuse it with a sum
	return double{p, math.FMA(a, b, -p)}
}

// sum returns a + b without rounding.
func sum(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

func (x double) negative() double { return double{-x.hi, -x.lo} }

func (x double) plus(y double) double {
	s := sum(x.hi, y.hi)
	return sum(s.hi, s.lo+(x.lo+y.lo))
}

func (x double) times(y double) double {
	p := product(x.hi, y.hi)
	return sum(p.hi, p.lo+(x.hi*y.lo+x.lo*y.hi))
}

func (x double) over(y double) double {
	q := x.hi / y.hi
	rest := x.plus(y.times(double{q, 0}).negative())
	return sum(q, rest.hi/y.hi)
}

func (x double) root() double {
	r := math.Sqrt(x.hi)
	rest := x.plus(product(r, r).negative())
	return sum(r, rest.hi/(2*r))
}
