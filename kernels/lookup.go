// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"maps"
	"slices"
)

// Kernels of one to three operands: dst[i] = f(a[i], ...) for 0 <= i < n. dst may be one of the operands.
type (
	Fn1x64 = func(dst, a *float64, n int)
	Fn2x64 = func(dst, a, b *float64, n int)
	Fn3x64 = func(dst, a, b, c *float64, n int)
	Fn1x32 = func(dst, a *float32, n int)
	Fn2x32 = func(dst, a, b *float32, n int)
	Fn3x32 = func(dst, a, b, c *float32, n int)
)

// Reductions. Those of float32 accumulate in float64.
type (
	FnR64 = func(a *float64, n int) float64
	FnR32 = func(a *float32, n int) float64
)

// Unary64 returns the kernel of that name, or nil if there is none. The names are neg, abs, sqrt,
// rsqrt, reciprocal, square, exp, exp2, expm1, log, log2, log1p, tanh, sigmoid, softplus, sin, cos,
// atan, erf, erfc, floor, ceil and trunc.
func Unary64(l Level, name string) Fn1x64 { return find(l, name, pureUnary64, unary64) }

// Unary32 is Unary64 for float32.
func Unary32(l Level, name string) Fn1x32 { return find(l, name, pureUnary32, unary32) }

// Binary64 returns the kernel of that name, or nil. Names: add sub mul div maximum minimum (NaN if either is; +0 above
// -0) less less_equal greater greater_equal equal not_equal (1 or 0) atan2 (of y = a and x = b). Names ending in _s read
// one element of b for all i: add_s sub_s mul_s div_s maximum_s minimum_s rsub_s (b - a) rdiv_s (b / a).
func Binary64(l Level, name string) Fn2x64 { return find(l, name, pureBinary64, binary64) }

// Binary32 is Binary64 for float32.
func Binary32(l Level, name string) Fn2x32 { return find(l, name, pureBinary32, binary32) }

// Ternary64 returns the kernel of that name, or nil. Names: fma (a*b + c rounded once), fma_s (the same with one
// element of b for all i), where (b if a != 0, otherwise c; a NaN counts as true).
func Ternary64(l Level, name string) Fn3x64 { return find(l, name, pureTernary64, ternary64) }

// Ternary32 is Ternary64 for float32.
func Ternary32(l Level, name string) Fn3x32 { return find(l, name, pureTernary32, ternary32) }

// Reduce64 returns the kernel of that name, or nil. Names: sum sumsq (0 for n = 0), max (-Inf), min (+Inf); max and min
// are NaN if an element is.
func Reduce64(l Level, name string) FnR64 { return find(l, name, pureReduce64, reduce64) }

// Reduce32 is Reduce64 for float32.
func Reduce32(l Level, name string) FnR32 { return find(l, name, pureReduce32, reduce32) }

// Dot64 returns the kernel of the inner product. Products are rounded before they are added, in the
// same order as in sums.
func Dot64(l Level) func(a, b *float64, n int) float64 {
	return one(l, pureDot[float64], dot64)
}

// Dot32 is Dot64 for float32; the products are exact.
func Dot32(l Level) func(a, b *float32, n int) float64 {
	return one(l, pureDot[float32], dot32)
}

// Fill64 returns the kernel that sets dst[i] = v.
func Fill64(l Level) func(dst *float64, v float64, n int) {
	return one(l, pureFill[float64], fill64)
}

// Fill32 is Fill64 for float32.
func Fill32(l Level) func(dst *float32, v float32, n int) {
	return one(l, pureFill[float32], fill32)
}

// Names returns the names of the kernels with the given number of operands, 1 to 3; 0 stands for
// the reductions.
func Names(operands int) []string {
	switch operands {
	case 0:
		return slices.Sorted(maps.Keys(pureReduce64))
	case 1:
		return slices.Sorted(maps.Keys(pureUnary64))
	case 2:
		return slices.Sorted(maps.Keys(pureBinary64))
	case 3:
		return slices.Sorted(maps.Keys(pureTernary64))
	}
	return nil
}

func find[F any](l Level, name string, pure map[string]F, simd map[Level]map[string]F) F {
	if l = usable(l); l == PureGo {
		return pure[name]
	}
	return simd[l][name]
}

func one[F any](l Level, pure F, simd map[Level]F) F {
	if l = usable(l); l == PureGo {
		return pure
	}
	return simd[l]
}
