// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
)

func TestNonzero64(t *testing.T) { nonzeroAll(t, Nonzero64) }
func TestNonzero32(t *testing.T) { nonzeroAll(t, Nonzero32) }

func nonzeroAll[T float](t *testing.T, f func(l Level, n int, x []T, at []int, w []T, where, end []int)) {
	for _, l := range Levels() {
		r := rand.New(rand.NewSource(10))
		for n := range 100 {
			rows := r.Intn(4)
			x, at, w, where, end := normal[T](r, rows*n), r.Perm(n+Room), make([]T, rows*n+Room), make([]int, rows*n+Room), make([]int, rows)
			for i := range x {
				if x[i] = x[i] * T(r.Intn(2)); i%19 == 5 {
					x[i] = T(math.NaN())
				}
			}
			f(l, n, x, at, w, where, end)
			k := 0
			for i, v := range x {
				if v != 0 {
					if !same(w[k], v) || where[k] != at[i%n] {
						t.Fatalf("%v, rows of %d, %v: %v at %v, number %d", l, n, x, w, where, k)
					}
					k++
				}
				if i%n == n-1 && end[i/n] != k {
					t.Fatalf("%v, rows of %d, %v: ends %v, want %d of row %d", l, n, x, end, k, i/n)
				}
			}
		}
	}
}

func TestWeightedRows64(t *testing.T) { weightedAll(t, WeightedRows64, 1e-14) }
func TestWeightedRows32(t *testing.T) { weightedAll(t, WeightedRows32, 1e-5) }

func weightedAll[T float](t *testing.T, f func(l Level, rows, n int, end []int, w []T, offs []int, x []T, xs int, dst []T, at []int, ds int), tolerance float64) {
	for _, l := range Levels() {
		r := rand.New(rand.NewSource(7))
		for range points(200) {
			rows, n, lists := r.Intn(8), r.Intn(150), r.Intn(5)
			xs, ds := r.Intn(200), n+Room
			count, end, at := 0, make([]int, lists), r.Perm(lists)
			for i := range end {
				count += r.Intn(9)
				end[i], at[i] = count, at[i]*rows*ds
			}
			w, x, dst, offs := normal[T](r, count), normal[T](r, 300+rows*xs+n+Room), normal[T](r, lists*rows*ds), make([]int, count)
			for p := range offs {
				offs[p] = r.Intn(300)
			}
			got := append([]T(nil), dst...)
			f(l, rows, n, end, w, offs, x, xs, got, at, ds)
			for k := range lists * rows * n {
				list, i, j := k/(rows*n), k/n%rows, k%n
				to := at[list] + i*ds + j
				want := float64(dst[to])
				scale := math.Abs(want)
				first := 0
				if list > 0 {
					first = end[list-1]
				}
				for p := first; p < end[list]; p++ {
					u := float64(w[p]) * float64(x[offs[p]+i*xs+j])
					want, scale = want+u, scale+math.Abs(u)
				}
				if e := math.Abs(float64(got[to]) - want); !(e <= tolerance*scale) {
					t.Fatalf("%v %d rows of %d, lists to %v: (%d, %d, %d) = %v, want %v", l, rows, n, end, list, i, j, got[to], want)
				}
			}
		}
	}
}

// BenchmarkWeightedRows adds 16 of 64 filters of 3 x 96 numbers to an image of 18 x 18 x 32 at each of 16 x 16 places.
func BenchmarkWeightedRows(b *testing.B) {
	r := rand.New(rand.NewSource(9))
	w, x, dst, offs := normal[float64](r, 4096), normal[float64](r, 64*3*112), normal[float64](r, 18*18*32+Room), make([]int, 4096)
	var end, at []int
	for p := range offs {
		offs[p] = r.Intn(64) * 3 * 112
		if p%16 == 15 {
			end, at = append(end, p+1), append(at, (p/256*18+p/16%16)*32)
		}
	}
	w32, x32, dst32 := normal[float32](r, len(w)), normal[float32](r, len(x)), make([]float32, len(dst))
	rate := func(b *testing.B) {
		b.ReportMetric(2*4096*288*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
	}
	for _, l := range Levels()[1:] {
		b.Run(fmt.Sprintf("float64/%v", l), func(b *testing.B) {
			for b.Loop() {
				WeightedRows64(l, 3, 96, end, w, offs, x, 112, dst, at, 18*32)
			}
			rate(b)
		})
		b.Run(fmt.Sprintf("float32/%v", l), func(b *testing.B) {
			for b.Loop() {
				WeightedRows32(l, 3, 96, end, w32, offs, x32, 112, dst32, at, 18*32)
			}
			rate(b)
		})
	}
}
