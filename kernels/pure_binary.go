// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"unsafe"
)

var (
	pureBinary64  = binaryLoops[float64]()
	pureBinary32  = binaryLoops[float32]()
	pureTernary64 = ternaryLoops[float64]()
	pureTernary32 = ternaryLoops[float32]()
)

func binaryLoops[T float]() map[string]func(dst, a, b *T, n int) {
	maximum, minimum := extreme[T](math.Max), extreme[T](math.Min)
	loops := map[string]func(dst, a, b *T, n int){
		"add": func(dst, a, b *T, n int) {
			d, x, y := triple(dst, a, b, n)
			for i := range d {
				d[i] = x[i] + y[i]
			}
		},
		"sub": func(dst, a, b *T, n int) {
			d, x, y := triple(dst, a, b, n)
			for i := range d {
				d[i] = x[i] - y[i]
			}
		},
		"mul": func(dst, a, b *T, n int) {
			d, x, y := triple(dst, a, b, n)
			for i := range d {
				d[i] = x[i] * y[i]
			}
		},
		"div": func(dst, a, b *T, n int) {
			d, x, y := triple(dst, a, b, n)
			for i := range d {
				d[i] = x[i] / y[i]
			}
		},
		"atan2":         lift(func(y, x T) T { return T(atan2(float64(y), float64(x))) }),
		"maximum":       lift(maximum),
		"minimum":       lift(minimum),
		"less":          lift(func(x, y T) T { return truth[T](x < y) }),
		"less_equal":    lift(func(x, y T) T { return truth[T](x <= y) }),
		"greater":       lift(func(x, y T) T { return truth[T](x > y) }),
		"greater_equal": lift(func(x, y T) T { return truth[T](x >= y) }),
		"equal":         lift(func(x, y T) T { return truth[T](x == y) }),
		"not_equal":     lift(func(x, y T) T { return truth[T](x != y) }),
	}
	for name, f := range map[string]func(x, y T) T{
		"add_s":     func(x, y T) T { return x + y },
		"sub_s":     func(x, y T) T { return x - y },
		"mul_s":     func(x, y T) T { return x * y },
		"div_s":     func(x, y T) T { return x / y },
		"rsub_s":    func(x, y T) T { return y - x },
		"rdiv_s":    func(x, y T) T { return y / x },
		"maximum_s": maximum,
		"minimum_s": minimum,
	} {
		loops[name] = func(dst, a, b *T, n int) {
			if n <= 0 {
				return
			}
			s := *b
			d, x := pair(dst, a, n)
			for i, v := range x {
				d[i] = f(v, s)
			}
		}
	}
	return loops
}

func ternaryLoops[T float]() map[string]func(dst, a, b, c *T, n int) {
	return map[string]func(dst, a, b, c *T, n int){
		"fma": func(dst, a, b, c *T, n int) {
			d, x, y := triple(dst, a, b, n)
			_, z := pair(dst, c, n)
			for i := range d {
				d[i] = fma(x[i], y[i], z[i])
			}
		},
		"fma_s": func(dst, a, b, c *T, n int) {
			if n <= 0 {
				return
			}
			s := *b
			d, x, z := triple(dst, a, c, n)
			for i := range d {
				d[i] = fma(x[i], s, z[i])
			}
		},
		"where": func(dst, a, b, c *T, n int) {
			d, x, y := triple(dst, a, b, n)
			_, z := pair(dst, c, n)
			for i := range d {
				if x[i] != 0 {
					d[i] = y[i]
				} else {
					d[i] = z[i]
				}
			}
		},
	}
}

// atan2 is math.Atan2 with the sign of y also where y/x is too small for a number and x is negative.
func atan2(y, x float64) float64 { return math.Copysign(math.Atan2(y, x), y) }

func lift[T float](f func(x, y T) T) func(dst, a, b *T, n int) {
	return func(dst, a, b *T, n int) {
		d, x, y := triple(dst, a, b, n)
		for i := range d {
			d[i] = f(x[i], y[i])
		}
	}
}

func extreme[T float](f func(x, y float64) float64) func(x, y T) T {
	return func(x, y T) T {
		if x != x || y != y { // math.Max(+Inf, NaN) is +Inf
			return x + y
		}
		return T(f(float64(x), float64(y)))
	}
}

func truth[T float](b bool) T {
	if b {
		return 1
	}
	return 0
}

// fma rounds once for float64; for float32 the product is exact in float64 and the sum is rounded to odd before the
// last rounding, so that is once as well.
func fma[T float](x, y, z T) T {
	if unsafe.Sizeof(x) == 8 {
		return T(fused(float64(x), float64(y), float64(z)))
	}
	p, c := float64(x)*float64(y), float64(z)
	s := float64(p) + c
	b := s - p
	err := (p - (s - b)) + (c - b) // exact
	if err != 0 && err == err && math.Float64bits(s)&1 == 0 {
		if (err > 0) == (s > 0) {
			s = math.Float64frombits(math.Float64bits(s) + 1)
		} else {
			s = math.Float64frombits(math.Float64bits(s) - 1)
		}
	}
	return T(s)
}

// triple returns the n elements at dst, at a and at b.
func triple[T float](dst, a, b *T, n int) (d, x, y []T) {
	if n <= 0 {
		return nil, nil, nil
	}
	return unsafe.Slice(dst, n), unsafe.Slice(a, n), unsafe.Slice(b, n)
}
