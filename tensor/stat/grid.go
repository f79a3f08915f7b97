// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stat

import (
	"fmt"
	"math"
)

// Linspace returns the n numbers a + i*(b-a)/(n-1); the last of them is exactly b.
func Linspace(a, b float64, n int) []float64 {
	if n < 0 {
		panic(fmt.Sprintf("stat: cannot return %d numbers: want at least 0", n))
	}
	out := make([]float64, n)
	step := (b - a) / float64(n-1)
	for i := range out {
		if step == 0 { // b - a is that small: the quotient comes last
			out[i] = a + float64(float64(float64(i)/float64(n-1))*(b-a))
			continue
		}
		out[i] = a + float64(float64(i)*step) // the conversion forbids to fuse
	}
	if n > 1 {
		out[n-1] = b
	} else if n == 1 {
		out[0] = a
	}
	return out
}

// Logspace returns 10 to the power of each number of Linspace(a, b, n).
func Logspace(a, b float64, n int) []float64 {
	out := Linspace(a, b, n)
	for i, v := range out {
		out[i] = math.Pow(10, v)
	}
	return out
}

// Mod returns the remainder of x/y. It has the sign of y, even if it is 0.
func Mod(x, y float64) float64 {
	m := math.Mod(x, y)
	if m == 0 {
		return math.Copysign(0, y)
	}
	if (m < 0) != (y < 0) {
		m += y
	}
	return m
}

// Round returns x rounded to the given number of decimals, which may be negative: x times a power
// of ten, rounded half to even, divided by that power. As in NumPy the product is rounded too, so
// that 2.675 becomes 2.68 although it lies below the midpoint.
func Round(x float64, decimals int) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || decimals == 0:
		return math.RoundToEven(x)
	case decimals < 0:
		p := math.Pow10(-decimals)
		return math.RoundToEven(x/p) * p
	}
	p := math.Pow10(decimals)
	return math.RoundToEven(float64(x*p)) / p
}
