// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
)

func TestSlide64(t *testing.T) { slideAll(t, Slide64, 1e-14) }
func TestSlide32(t *testing.T) { slideAll(t, Slide32, 1e-5) }

func normal[T float](r *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(r.NormFloat64())
	}
	return x
}

func slideAll[T float](t *testing.T, f func(l Level, m, n, k int, a []T, lda int, b []T, rows []int, c []T, ldc int), tolerance float64) {
	for _, l := range Levels() {
		r := rand.New(rand.NewSource(6))
		for range points(200) {
			m, n, k := r.Intn(20), r.Intn(120), 1+r.Intn(60)
			lda, ldc := k+r.Intn(3), n+Room+r.Intn(3)
			a, b, c, rows := normal[T](r, m*lda), normal[T](r, 200+n+Room), make([]T, m*ldc), make([]int, k)
			for p := range rows {
				rows[p] = r.Intn(200)
			}
			f(l, m, n, k, a, lda, b, rows, c, ldc)
			for i := range m {
				for j := range n {
					want, scale := 0.0, 0.0
					for p := range k {
						x := float64(a[i*lda+p]) * float64(b[rows[p]+j])
						want, scale = want+x, scale+math.Abs(x)
					}
					if e := math.Abs(float64(c[i*ldc+j]) - want); !(e <= tolerance*scale) {
						t.Fatalf("%v %dx%dx%d: C(%d, %d) = %v, want %v", l, m, n, k, i, j, c[i*ldc+j], want)
					}
				}
			}
		}
	}
}

func TestCopyRows(t *testing.T) {
	for _, l := range Levels() {
		for n := range 40 {
			const rows, ds, ss = 3, 43, 45
			r := rand.New(rand.NewSource(12))
			src, dst, dst32 := normal[float64](r, 2*ss+n), make([]float64, rows*ds), make([]float32, rows*ds)
			src32 := make([]float32, len(src))
			for i, v := range src {
				src32[i] = float32(v)
			}
			CopyRows64(l, rows, n, dst, ds, src, ss)
			CopyRows32(l, rows, n, dst32, ds, src32, ss)
			for k := range dst {
				want := 0.0
				if k%ds < n {
					want = src[k/ds*ss+k%ds]
				}
				if dst[k] != want || dst32[k] != float32(want) {
					t.Fatalf("%v, %d of %d: %v and %v, want %v", l, k, n, dst[k], dst32[k], want)
				}
			}
		}
	}
}

func TestTranspose(t *testing.T) {
	for _, l := range Levels() {
		for rows := range 18 {
			for columns := range 18 {
				r := rand.New(rand.NewSource(8))
				src, dst, dst32 := normal[float64](r, rows*20+columns), make([]float64, columns*21+rows), make([]float32, columns*21+rows)
				src32 := make([]float32, len(src))
				for i, v := range src {
					src32[i] = float32(v)
				}
				Transpose64(l, dst, 21, src, 20, rows, columns)
				Transpose32(l, dst32, 21, src32, 20, rows, columns)
				for i := range rows {
					for p := range columns {
						if dst[p*21+i] != src[i*20+p] || dst32[p*21+i] != src32[i*20+p] {
							t.Fatalf("%v %d rows of %d: wrong at (%d, %d)", l, rows, columns, i, p)
						}
					}
				}
			}
		}
	}
}

// BenchmarkSlide is 64 filters of 32 x 3 x 3 over an image of 16 x 16 with zeros around it.
func BenchmarkSlide(b *testing.B) {
	r := rand.New(rand.NewSource(9))
	a, x, c, rows := normal[float64](r, 64*288), normal[float64](r, 32*324+Room), make([]float64, 64*304), []int{}
	for p := range 288 {
		rows = append(rows, p/9*324+p%9/3*18+p%3)
	}
	a32, x32, c32 := normal[float32](r, len(a)), normal[float32](r, len(x)), make([]float32, len(c))
	rate := func(b *testing.B) {
		b.ReportMetric(2*64*288*286*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
	}
	for _, l := range Levels()[1:] {
		b.Run(fmt.Sprintf("float64/%v", l), func(b *testing.B) {
			for b.Loop() {
				Slide64(l, 64, 286, 288, a, 288, x, rows, c, 304)
			}
			rate(b)
		})
		b.Run(fmt.Sprintf("float32/%v", l), func(b *testing.B) {
			for b.Loop() {
				Slide32(l, 64, 286, 288, a32, 288, x32, rows, c32, 304)
			}
			rate(b)
		})
	}
}
