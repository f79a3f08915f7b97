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
		testScaled(t, l, 1e-15, one(l, pureAddScaled[float64], addScaled64s), one(l, purePairSums[float64], pairSums64s), one(l, pureSpreadPair[float64], spreadPair64s))
		testScaled(t, l, 5e-7, one(l, pureAddScaled[float32], addScaled32s), one(l, purePairSums[float32], pairSums32s), one(l, pureSpreadPair[float32], spreadPair32s))
	}
}

// testScaled checks every length up to 140 against the formula, and that nothing beyond the end changes. Rows of the
// pairs' kernels lie 150 numbers apart, in an order of their own.
func testScaled[T float](t *testing.T, l Level, tol float64, add addScaledFn[T], sums, spread pairsFn[T]) {
	t.Helper()
	at, weights := []int{150, 0, 300}, []T{0.75, -1.5, 0.25, 2, -1, 0.5}
	for n := range 140 {
		var x, y, z []T
		for i := range n + 8 {
			y, z = append(y, 3-T(i)/7), append(z, T(i%5)/3)
		}
		for i := range 450 {
			x = append(x, T(i%150)+0.1+T(i/150))
		}
		want := func(what string, got []T, f func(i int) float64, old func(i int) T) {
			t.Helper()
			for i, v := range got {
				w := f(i)
				if i >= n {
					w = float64(old(i))
				}
				if math.Abs(float64(v)-w) > tol*(math.Abs(w)+float64(n)+1)*3 {
					t.Fatalf("%s %v %T n=%d: element %d is %g, want %g", what, l, v, n, i, v, w)
				}
			}
		}
		sum := func(i, k int) (w float64) {
			for j, from := range at {
				w += float64(weights[2*j+k]) * float64(x[from+i])
			}
			return w
		}
		c, s := append([]T(nil), y...), append([]T(nil), z...)
		add(&c[0], &x[0], 0.75, n)
		want("AddScaled", c, func(i int) float64 { return float64(y[i]) + 0.75*float64(x[i]) }, func(i int) T { return y[i] })
		copy(c, y)
		sums(&c[0], &s[0], &x[0], &at[0], &weights[0], len(at), n)
		want("PairSums c", c, func(i int) float64 { return float64(y[i]) + sum(i, 0) }, func(i int) T { return y[i] })
		want("PairSums s", s, func(i int) float64 { return float64(z[i]) + sum(i, 1) }, func(i int) T { return z[i] })
		to := append([]T(nil), x...)
		spread(&y[0], &z[0], &to[0], &at[0], &weights[0], len(at), n)
		for j, from := range at {
			want("SpreadPair", to[from:from+n+8], func(i int) float64 {
				return float64(x[from+i]) + float64(weights[2*j])*float64(y[i]) + float64(weights[2*j+1])*float64(z[i])
			}, func(i int) T { return x[from+i] })
		}
	}
}

// SpreadPair is the transpose of PairSums: <(u, v), P x> = <S(u, v), x>.
func TestScaledTranspose(t *testing.T) {
	x, u, v := normals(3*77, 1), normals(77, 2), normals(77, 3)
	c, s, d := make([]float64, 77), make([]float64, 77), make([]float64, 3*77)
	at, weights := []int{154, 0, 77}, []float64{0.3, -2, 1.5, 0.1, -0.7, 0.9}
	PairSums64(c, s, x, at, weights)
	SpreadPair64(d, u, v, at, weights)
	left := Dot64(PureGo)(&u[0], &c[0], 77) + Dot64(PureGo)(&v[0], &s[0], 77)
	if right := Dot64(PureGo)(&d[0], &x[0], 3*77); math.Abs(left-right) > 1e-12 {
		t.Errorf("%g and %g differ", left, right)
	}
	for name, f := range map[string]func(){
		"lengths": func() { AddScaled32(make([]float32, 3), make([]float32, 4), 1) },
		"a pair":  func() { PairSums64(c, s[1:], x, at, weights) },
		"weights": func() { PairSums64(c, s, x, at, weights[1:]) },
		"a row":   func() { SpreadPair64(d, u, v, []int{0, 0, 155}, weights) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func BenchmarkScaled(b *testing.B) {
	for _, n := range []int{8, 33, 257} {
		x, c, s := make([]float32, n), make([]float32, n), make([]float32, n)
		at, weights := []int{0}, []float32{0.5, 0.25}
		b.Run(fmt.Sprintf("pair32/%d", n), func(b *testing.B) {
			for b.Loop() {
				PairSums32(c, s, x, at, weights)
			}
			perElement(b, n)
		})
		b.Run(fmt.Sprintf("sum32/%d", n), func(b *testing.B) {
			for b.Loop() {
				SpreadPair32(x, c, s, at, weights)
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
		PairSums32(c32[:n], s32[:n], x32, []int{0}, []float32{2, 3})
		PairSums64(c64[:n], s64[:n], x64, []int{0}, []float64{2, 3})
		for i := range n + 1 {
			want := float64(i+1) * 2
			if i == n {
				want = 0
			}
			if float64(c32[i]) != want || c64[i] != want || float64(s32[i]) != 1.5*want || s64[i] != 1.5*want {
				t.Fatalf("%d numbers, element %d: %g %g %g %g", n, i, c32[i], c64[i], s32[i], s64[i])
			}
		}
		SpreadPair32(x32, c32[:n], s32[:n], []int{0}, []float32{1, 1})
		SpreadPair64(x64, c64[:n], s64[:n], []int{0}, []float64{1, 1})
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
