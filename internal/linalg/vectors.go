// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package linalg

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// long is the number of elements from which on the assembly of gonum is faster than a plain loop.
const long = 16

// Dot returns the inner product of x and the first elements of y.
func Dot(x, y []float64) float64 {
	y = y[:len(x)]
	var a, b, c, d float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += x[i] * y[i]
		b += x[i+1] * y[i+1]
		c += x[i+2] * y[i+2]
		d += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		a += x[i] * y[i]
	}
	return (a + b) + (c + d)
}

// FastDot returns the inner product of x and the first elements of y, one after the other or, if there are many, by SIMD. Its sums
// have another order than those of Dot, and other rounding errors.
func FastDot(x, y []float64) float64 {
	if len(x) >= long {
		return floats.Dot(x, y[:len(x)])
	}
	return shortDot(x, y)
}

func shortDot(x, y []float64) (s float64) {
	y = y[:len(x)]
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// Norm returns the Euclidean norm of x without overflow.
func Norm(x []float64) float64 {
	s := Dot(x, x)
	if s > 1e-280 && s < 1e280 {
		return math.Sqrt(s)
	}
	big := MaxAbs(x)
	if big == 0 || math.IsInf(big, 0) || math.IsNaN(big) {
		return big
	}
	s = 0
	for _, v := range x {
		s += (v / big) * (v / big)
	}
	return big * math.Sqrt(s)
}

// MaxAbs returns the largest absolute value, NaN if there is one.
func MaxAbs(x []float64) float64 {
	b := 0.0
	for _, v := range x {
		if a := math.Abs(v); a > b || math.IsNaN(a) {
			b = a
		}
	}
	return b
}

// AddScaled adds a x to the first elements of y.
func AddScaled(y []float64, a float64, x []float64) {
	y = y[:len(x):len(y)]
	if len(x) >= long {
		floats.AddScaled(y, a, x)
		return
	}
	for i, v := range x {
		y[i] += a * v
	}
}

// Assign is copy, which costs more than a loop where there are few numbers. dst is at most as long as src.
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

// Scale multiplies x by a.
func Scale(x []float64, a float64) {
	for i := range x {
		x[i] *= a
	}
}

// reflect subtracts beta (v.x) v from x.
func reflect(v, x []float64, beta float64) { AddScaled(x, -beta*Dot(v, x), v) }

// householder turns x into the vector v of the reflection I - beta v v^T that
// takes x to (first, 0, ...). For x = 0, beta is 0.
func householder(x []float64) (first, beta float64) {
	s := Norm(x)
	if s == 0 {
		return 0, 0
	}
	if x[0] > 0 {
		s = -s
	}
	x[0] -= s
	return s, -1 / (s * x[0])
}

// rotation returns the cosine and sine that take (a, b) to (r, 0).
func rotation(a, b float64) (c, s, r float64) {
	if b == 0 {
		return 1, 0, a
	}
	r = math.Hypot(a, b)
	return a / r, b / r, r
}

// Finite reports whether v is neither NaN nor infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// AllFinite reports whether every element of x is finite.
func AllFinite(x []float64) bool {
	for _, v := range x {
		if !Finite(v) {
			return false
		}
	}
	return true
}
