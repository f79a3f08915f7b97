// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math/cmplx"
	"testing"
)

// Products of any length against Go's complex numbers, in place too.
func TestComplexProduct(t *testing.T) {
	for _, l := range Levels() {
		for _, conj := range []bool{false, true} {
			f, g := ComplexProduct64(l, conj), ComplexProduct32(l, conj)
			for n := range 40 {
				x, y := complexNormals(n+1, 1), complexNormals(n+1, 2)
				want := append([]complex128(nil), x...)
				for i := range n {
					b := y[i]
					if conj {
						b = cmplx.Conj(b)
					}
					want[i] = x[i] * b
				}
				x32, y32 := to64(x), to64(y)
				f(&pairs64(x)[0], &pairs64(x)[0], &pairs64(y)[0], 2*n)
				g(&pairs32(x32)[0], &pairs32(x32)[0], &pairs32(y32)[0], 2*n)
				if e, e32 := relative(x, want), relative(from64(x32), want); e > 3e-16 || e32 > 2e-7 {
					t.Errorf("%v conj %v n=%d: relative errors %g and %g", l, conj, n, e, e32)
				}
			}
		}
	}
}
