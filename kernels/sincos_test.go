// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"testing"
)

// Both functions have the bits of the kernels of one, at any length, place and argument.
func TestSinCos(t *testing.T) {
	for _, l := range Levels() {
		testSinCos(t, l, sinCosAt64(l))
		testSinCos(t, l, sinCosAt32(l))
	}
}

func testSinCos[T float](t *testing.T, l Level, k sinCos[T]) {
	t.Helper()
	special := []float64{0, math.Copysign(0, -1), 1e9, -1e30, math.Inf(1), math.NaN(), 1e-40}
	for n := 1; n < 70; n++ {
		x, s, c := make([]T, n), make([]T, n+1), make([]T, n+1)
		sine, cosine := make([]T, n), make([]T, n)
		for round := range 2 {
			for i := range x {
				x[i] = T(math.Sin(float64(n*i)) * math.Exp(float64(i%9)))
				if round == 1 && (i+n)%17 == 3 {
					x[i] = T(special[(i+n)%len(special)])
				}
			}
			k.sin(&sine[0], &x[0], n)
			k.cos(&cosine[0], &x[0], n)
			s[n], c[n] = 7, 8
			k.sincos(s[:n], c[:n], x)
			for i := range x {
				if !sameBits(s[i], sine[i]) || !sameBits(c[i], cosine[i]) {
					t.Fatalf("%v %T n=%d: sine and cosine of %g are %g and %g, want %g and %g", l, x[i], n, x[i], s[i], c[i], sine[i], cosine[i])
				}
			}
			if s[n] != 7 || c[n] != 8 {
				t.Fatalf("%v n=%d: wrote beyond the end", l, n)
			}
		}
	}
}

func sameBits[T float](a, b T) bool {
	return a == b && math.Signbit(float64(a)) == math.Signbit(float64(b)) || a != a && b != b
}
