// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
)

// naive is the transform by its definition, in float64.
func naive(x []complex128, inverse bool) []complex128 {
	n := len(x)
	w := roots[n]
	if w == nil {
		w = make([]complex128, n)
		for k := range w {
			w[k] = complex(root(k, n))
		}
		roots[n] = w
	}
	y := make([]complex128, n)
	for k := range y {
		at := 0 // j k mod n
		for _, v := range x {
			r := w[at]
			if inverse {
				r = complex(real(r), -imag(r))
			}
			y[k] += v * r
			if at += k; at >= n {
				at -= n
			}
		}
	}
	return y
}

// roots are those of unity by order; tests of this file run one after the other.
var roots = map[int][]complex128{}

// naiveOver transforms every axis of an array by the definition.
func naiveOver(x []complex128, shape []int, inverse bool) []complex128 {
	y := append([]complex128(nil), x...)
	stride := 1
	for a := len(shape) - 1; a >= 0; a-- {
		n := shape[a]
		line := make([]complex128, n)
		for at := range y {
			if at/stride%n != 0 {
				continue
			}
			for j := range line {
				line[j] = y[at+j*stride]
			}
			for j, v := range naive(line, inverse) {
				y[at+j*stride] = v
			}
		}
		stride *= n
	}
	return y
}

func normals(n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(float32(r.NormFloat64()))
	}
	return x
}

func complexNormals(n int, seed uint64) []complex128 {
	re, im := normals(n, seed), normals(n, seed+1000)
	x := make([]complex128, n)
	for i := range x {
		x[i] = complex(re[i], im[i])
	}
	return x
}

// relative is the relative 2-norm of the difference.
func relative(got, want []complex128) float64 {
	d, w := 0.0, 0.0
	for i, v := range want {
		d += real((got[i] - v) * cmplx.Conj(got[i]-v))
		w += real(v * cmplx.Conj(v))
	}
	return math.Sqrt(d / w)
}

func to64(x []complex128) []complex64 {
	y := make([]complex64, len(x))
	for i, v := range x {
		y[i] = complex64(v)
	}
	return y
}

func from64(x []complex64) []complex128 {
	y := make([]complex128, len(x))
	for i, v := range x {
		y[i] = complex128(v)
	}
	return y
}

func sizeOf(shape []int) int {
	n := 1
	for _, m := range shape {
		n *= m
	}
	return n
}

// checkFFT compares all transforms of a shape with the definition.
func checkFFT(t *testing.T, l Level, shape []int) {
	t.Helper()
	n := sizeOf(shape)
	last := shape[len(shape)-1]
	bits := max(1, math.Log2(float64(n)))
	limit64, limit32 := 1e-15*bits, 6e-8*bits
	p, ws := NewFFTBatch(l, 1, shape...), &FFTWorkspace{}
	fail := func(what string, d, limit float64) {
		t.Helper()
		if !(d <= limit) {
			t.Errorf("%v %v %s: relative error %.3g, want at most %.3g", l, shape, what, d, limit)
		}
	}
	x := complexNormals(n, uint64(n))
	for _, inverse := range []bool{false, true} {
		want := naiveOver(x, shape, inverse)
		got := make([]complex128, n)
		p.Complex128(got, x, inverse, ws)
		fail(fmt.Sprint("complex128 ", inverse), relative(got, want), limit64)
		got32 := to64(x)
		p.Complex64(got32, got32, inverse, ws)
		fail(fmt.Sprint("complex64 ", inverse), relative(from64(got32), want), limit32)
	}

	re := normals(n, uint64(n)+7)
	re32 := make([]float32, n)
	for i, v := range re {
		re32[i], x[i] = float32(v), complex(v, 0)
	}
	full := naiveOver(x, shape, false)
	var want []complex128
	for i, v := range full {
		if i%last <= last/2 {
			want = append(want, v)
		}
	}
	half, half32 := make([]complex128, len(want)), make([]complex64, len(want))
	p.Real64(half, re, ws)
	fail("real64", relative(half, want), limit64)
	p.Real32(half32, re32, ws)
	fail("real32", relative(from64(half32), want), limit32)

	for i := range x {
		x[i] *= complex(float64(n), 0)
	}
	keep, keep32 := append([]complex128(nil), half...), append([]complex64(nil), half32...)
	back, back32, got := make([]float64, n), make([]float32, n), make([]complex128, n)
	p.RealInverse64(back, half, ws)
	for i, v := range back {
		got[i] = complex(v, 0)
	}
	fail("real inverse 64", relative(got, x), 2*limit64)
	p.RealInverse32(back32, half32, ws)
	for i, v := range back32 {
		got[i] = complex(float64(v), 0)
	}
	fail("real inverse 32", relative(got, x), 2*limit32)
	for i := range half {
		if half[i] != keep[i] || half32[i] != keep32[i] {
			t.Fatalf("%v %v: the spectrum changed", l, shape)
		}
	}
}

func TestFFTLengths(t *testing.T) {
	lengths := []int{257, 360, 500, 512, 1000, 1009, 1024, 1536}
	for n := 1; n <= 130; n++ {
		lengths = append(lengths, n)
	}
	for _, l := range Levels() {
		for _, n := range lengths {
			checkFFT(t, l, []int{n})
		}
	}
}

func TestFFTShapes(t *testing.T) {
	for _, l := range Levels() {
		for _, s := range append(tier.Of([][]int(nil), [][]int{{20, 1024}, {2, 10, 1100}}), [][]int{{16, 16}, {17, 32}, {33, 48}, {5, 7}, {40, 36}, {64, 31}, {20, 67}, {67, 20}, {128, 1}, {1, 128}, {1, 1},
			{4, 16, 16}, {3, 5, 40}, {8, 20, 33}, {18, 1, 9}, {1, 1, 24}, {2, 70, 1}, {16, 3, 6}, {9, 24, 34}, {67, 4, 6}}...) {
			checkFFT(t, l, s)
		}
	}
}

// A batch is its arrays one by one.
func TestFFTBatch(t *testing.T) {
	for _, l := range Levels() {
		for _, shape := range [][]int{{7}, {64}, {300}, {6, 20}, {33, 16}, {2, 3, 5}} {
			for _, count := range []int{1, 2, 19} {
				n := sizeOf(shape)
				many, one, ws := NewFFTBatch(l, count, shape...), NewFFTBatch(l, 1, shape...), &FFTWorkspace{}
				re := normals(count*n, 5)
				x := complexNormals(count*n, 6)
				y, half, back := make([]complex128, count*n), make([]complex128, count*one.half), make([]float64, count*n)
				many.Complex128(y, x, true, ws)
				many.Real64(half, re, ws)
				many.RealInverse64(back, half, ws)
				for i := range count {
					a, h, b := make([]complex128, n), make([]complex128, one.half), make([]float64, n)
					one.Complex128(a, x[i*n:(i+1)*n], true, ws)
					one.Real64(h, re[i*n:(i+1)*n], ws)
					one.RealInverse64(b, h, ws)
					for j := range b {
						if math.Abs(b[j]-back[i*n+j]) > 1e-11 {
							t.Fatalf("%v %v, array %d of %d: inverse differs at %d", l, shape, i, count, j)
						}
					}
					if e := max(relative(y[i*n:(i+1)*n], a), relative(half[i*one.half:(i+1)*one.half], h)); e > 1e-14 {
						t.Fatalf("%v %v, array %d of %d: differs by %g", l, shape, i, count, e)
					}
				}
			}
		}
	}
}
