// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

type (
	addScaledFn[T float]  = func(dst, x *T, a T, n int)
	scaledPairFn[T float] = func(c, s, x *T, a, b T, n int)
)

// The kernels of the best level, chosen once: these calls are short.
var (
	addScaled64     = one(Best(), pureAddScaled[float64], addScaled64s)
	addScaled32     = one(Best(), pureAddScaled[float32], addScaled32s)
	addScaledPair64 = one(Best(), pureAddScaledPair[float64], addScaledPair64s)
	addScaledPair32 = one(Best(), pureAddScaledPair[float32], addScaledPair32s)
	scaledPairSum64 = one(Best(), pureScaledPairSum[float64], scaledPairSum64s)
	scaledPairSum32 = one(Best(), pureScaledPairSum[float32], scaledPairSum32s)
)

// AddScaled64 sets dst += a x. It panics if the slices have different lengths.
func AddScaled64(dst, x []float64, a float64) {
	if n := len(dst); sameLength(n, len(x), n) {
		addScaled64(&dst[0], &x[0], a, n)
	}
}

// AddScaled32 is AddScaled64 for float32.
func AddScaled32(dst, x []float32, a float32) {
	if n := len(dst); sameLength(n, len(x), n) {
		addScaled32(&dst[0], &x[0], a, n)
	}
}

// AddScaledPair64 sets c += a x and s += b x. It panics if the slices have different lengths. c and
// s must not overlap.
func AddScaledPair64(c, s, x []float64, a, b float64) {
	if n := len(c); sameLength(n, len(s), len(x)) {
		addScaledPair64(&c[0], &s[0], &x[0], a, b, n)
	}
}

// AddScaledPair32 is AddScaledPair64 for float32.
func AddScaledPair32(c, s, x []float32, a, b float32) {
	if n := len(c); sameLength(n, len(s), len(x)) {
		addScaledPair32(&c[0], &s[0], &x[0], a, b, n)
	}
}

// ScaledPairSum64 sets dst += a c + b s, the transpose of AddScaledPair64. It panics if the slices
// have different lengths.
func ScaledPairSum64(dst, c, s []float64, a, b float64) {
	if n := len(dst); sameLength(n, len(c), len(s)) {
		scaledPairSum64(&dst[0], &c[0], &s[0], a, b, n)
	}
}

// ScaledPairSum32 is ScaledPairSum64 for float32.
func ScaledPairSum32(dst, c, s []float32, a, b float32) {
	if n := len(dst); sameLength(n, len(c), len(s)) {
		scaledPairSum32(&dst[0], &c[0], &s[0], a, b, n)
	}
}

// sameLength panics unless the lengths are equal, and reports whether there is anything to do.
func sameLength(n, m, k int) bool {
	if n != m || n != k {
		panic("kernels: the slices have different lengths")
	}
	return n > 0
}

func pureAddScaled[T float](dst, x *T, a T, n int) {
	d, v := pair(dst, x, n)
	for i := range d {
		d[i] += a * v[i]
	}
}

func pureAddScaledPair[T float](c, s, x *T, a, b T, n int) {
	p, v := pair(c, x, n)
	q := slice(s, n)
	for i, u := range v {
		p[i] += a * u
		q[i] += b * u
	}
}

func pureScaledPairSum[T float](dst, c, s *T, a, b T, n int) {
	p, q := pair(c, s, n)
	d := slice(dst, n)
	for i := range d {
		d[i] += a*p[i] + b*q[i]
	}
}
