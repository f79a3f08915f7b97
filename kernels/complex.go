// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

// ComplexProduct64 returns the kernel dst = a b, or a conj(b), for complex numbers stored as pairs
// of real ones; n is the number of real ones. dst may be one of the operands.
func ComplexProduct64(l Level, conj bool) Fn2x64 {
	return one(l, [2]Fn2x64{pureComplexProduct[float64], pureComplexProductConj[float64]}, complexProduct64s)[direction(conj)]
}

// ComplexProduct32 is ComplexProduct64 for float32.
func ComplexProduct32(l Level, conj bool) Fn2x32 {
	return one(l, [2]Fn2x32{pureComplexProduct[float32], pureComplexProductConj[float32]}, complexProduct32s)[direction(conj)]
}

func pureComplexProduct[T float](dst, a, b *T, n int) {
	d, x := pair(dst, a, n)
	y := slice(b, n)
	for i := 0; i+1 < n; i += 2 {
		d[i], d[i+1] = times(x[i], x[i+1], y[i], y[i+1])
	}
}

func pureComplexProductConj[T float](dst, a, b *T, n int) {
	d, x := pair(dst, a, n)
	y := slice(b, n)
	for i := 0; i+1 < n; i += 2 {
		d[i], d[i+1] = times(x[i], x[i+1], y[i], -y[i+1])
	}
}
