// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package vectors

import simd "gonum.org/v1/gonum/floats"

// long is where the assembly of gonum overtakes a plain loop.
const long = 16

// Dot returns the inner product of a and the first elements of b.
func Dot(a, b []float64) float64 {
	if len(a) >= long {
		return simd.Dot(a, b[:len(a)])
	}
	return shortDot(a, b)
}

func shortDot(a, b []float64) (s float64) {
	b = b[:len(a)]
	for i, x := range a {
		s += x * b[i]
	}
	return s
}

// AddScaled adds f x to v.
func AddScaled(v []float64, f float64, x []float64) {
	x = x[:len(v)]
	if len(v) >= long {
		simd.AddScaled(v, f, x)
		return
	}
	for i := range v {
		v[i] += f * x[i]
	}
}

// Assign is copy, which costs more than a loop where there are few numbers.
func Assign(dst, src []float64) {
	if len(dst) >= long {
		copy(dst, src)
		return
	}
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = v
	}
}
