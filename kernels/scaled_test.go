// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math"
	"testing"
)

func TestScaled(t *testing.T) {
	for _, l := range Levels() {
		testScaled(t, l, 1e-15, one(l, pureAddScaled[float64], addScaled64s), one(l, pureAddScaledPair[float64], addScaledPair64s), one(l, pureScaledPairSum[float64], scaledPairSum64s))
		testScaled(t, l, 5e-7, one(l, pureAddScaled[float32], addScaled32s), one(l, pureAddScaledPair[float32], addScaledPair32s), one(l, pureScaledPairSum[float32], scaledPairSum32s))
	}
}

// testScaled checks every length up to 140 against the formula, and that nothing beyond the end changes.
func testScaled[T float](t *testing.T, l Level, tol float64, add addScaledFn[T], addPair, sum scaledPairFn[T]) {
	t.Helper()
	const a, b = 0.75, -1.5
	for n := range 140 {
		var x, y, z []T
		for i := range n + 8 {
			x, y, z = append(x, T(i)+0.1), append(y, 3-T(i)/7), append(z, T(i%5)/3)
		}
		want := func(what string, got []T, f func(i int) float64, old func(i int) T) {
			t.Helper()
			for i, v := range got {
				w := f(i)
				if i >= n {
					w = float64(old(i))
				}
				if math.Abs(float64(v)-w) > tol*(math.Abs(w)+float64(n)+1) {
					t.Fatalf("%s %v %T n=%d: element %d is %g, want %g", what, l, v, n, i, v, w)
				}
			}
		}
		c, s := append([]T(nil), y...), append([]T(nil), z...)
		add(&c[0], &x[0], a, n)
		want("AddScaled", c, func(i int) float64 { return float64(y[i]) + a*float64(x[i]) }, func(i int) T { return y[i] })
		copy(c, y)
		addPair(&c[0], &s[0], &x[0], a, b, n)
		want("AddScaledPair c", c, func(i int) float64 { return float64(y[i]) + a*float64(x[i]) }, func(i int) T { return y[i] })
		want("AddScaledPair s", s, func(i int) float64 { return float64(z[i]) + b*float64(x[i]) }, func(i int) T { return z[i] })
		copy(c, y)
		sum(&c[0], &x[0], &z[0], a, b, n)
		want("ScaledPairSum", c, func(i int) float64 { return float64(y[i]) + a*float64(x[i]) + b*float64(z[i]) }, func(i int) T { return y[i] })
	}
}

// The pair sum is the transpose of adding a pair: <(u, v), P x> = <S(u, v), x>.
func TestScaledTranspose(t *testing.T) {
	x, u, v := normals(77, 1), normals(77, 2), normals(77, 3)
	c, s, d := make([]float64, 77), make([]float64, 77), make([]float64, 77)
	AddScaledPair64(c, s, x, 0.3, -2)
	ScaledPairSum64(d, u, v, 0.3, -2)
	left := Dot64(PureGo)(&u[0], &c[0], 77) + Dot64(PureGo)(&v[0], &s[0], 77)
	if right := Dot64(PureGo)(&d[0], &x[0], 77); math.Abs(left-right) > 1e-12 {
		t.Errorf("%g and %g differ", left, right)
	}
	defer func() {
		if recover() == nil {
			t.Error("slices of different lengths did not panic")
		}
	}()
	AddScaled32(make([]float32, 3), make([]float32, 4), 1)
}

func BenchmarkScaled(b *testing.B) {
	for _, n := range []int{8, 33, 257} {
		x, c, s := make([]float32, n), make([]float32, n), make([]float32, n)
		b.Run(fmt.Sprintf("pair32/%d", n), func(b *testing.B) {
			for b.Loop() {
				AddScaledPair32(c, s, x, 0.5, 0.25)
			}
			perElement(b, n)
		})
		b.Run(fmt.Sprintf("sum32/%d", n), func(b *testing.B) {
			for b.Loop() {
				ScaledPairSum32(x, c, s, 0.5, 0.25)
			}
			perElement(b, n)
		})
		b.Run(fmt.Sprintf("sincos32/%d", n), func(b *testing.B) {
			for b.Loop() {
				SinCos32(s, c, x)
			}
			perElement(b, n)
		})
	}
}

// The exported functions begin at the first element and end with the last.
func TestScaledFromFirstToLast(t *testing.T) {
	for _, n := range []int{1, 2, 17} {
		c32, s32, x32 := make([]float32, n+1), make([]float32, n+1), make([]float32, n)
		c64, s64, x64 := make([]float64, n+1), make([]float64, n+1), make([]float64, n)
		for i := range n {
			x32[i], x64[i] = float32(i+1), float64(i+1)
		}
		AddScaledPair32(c32[:n], s32[:n], x32, 2, 3)
		AddScaledPair64(c64[:n], s64[:n], x64, 2, 3)
		for i := range n + 1 {
			want := float64(i+1) * 2
			if i == n {
				want = 0
			}
			if float64(c32[i]) != want || c64[i] != want || float64(s32[i]) != 1.5*want || s64[i] != 1.5*want {
				t.Fatalf("%d numbers, element %d: %g %g %g %g", n, i, c32[i], c64[i], s32[i], s64[i])
			}
		}
		ScaledPairSum32(x32, c32[:n], s32[:n], 1, 1)
		ScaledPairSum64(x64, c64[:n], s64[:n], 1, 1)
		for i := range n {
			if want := float64(i+1) * 6; x64[i] != want || float64(x32[i]) != want {
				t.Fatalf("%d numbers, element %d of the sum: %g %g, want %g", n, i, x64[i], x32[i], want)
			}
		}
		AddScaled32(x32, c32[:n], 2)
		AddScaled64(x64, c64[:n], 2)
		for i := range n {
			if want := float64(i+1) * 10; x64[i] != want || float64(x32[i]) != want {
				t.Fatalf("%d numbers, element %d with a multiple added: %g %g, want %g", n, i, x64[i], x32[i], want)
			}
		}
	}
}
