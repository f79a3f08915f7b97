// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"testing"
)

// The tile of the benchmarks: in the first cache together with its operands.
const tileLength = 1024

func benchOperands[T float]() (dst, a, b []T) {
	dst, a, b = make([]T, tileLength), make([]T, tileLength), make([]T, tileLength)
	for i := range a {
		a[i], b[i] = 0.1+T(i)*0.003, 1
	}
	return dst, a, b
}

func perElement(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
}

func BenchmarkUnary(b *testing.B) {
	d, x, _ := benchOperands[float64]()
	d32, x32, _ := benchOperands[float32]()
	for _, name := range Names(1) {
		for _, l := range Levels() {
			f, g := Unary64(l, name), Unary32(l, name)
			b.Run(fmt.Sprintf("%s/float64/%v", name, l), func(b *testing.B) {
				for b.Loop() {
					f(&d[0], &x[0], tileLength)
				}
				perElement(b, tileLength)
			})
			b.Run(fmt.Sprintf("%s/float32/%v", name, l), func(b *testing.B) {
				for b.Loop() {
					g(&d32[0], &x32[0], tileLength)
				}
				perElement(b, tileLength)
			})
		}
	}
}

func BenchmarkBinary(b *testing.B) {
	d, x, y := benchOperands[float64]()
	for _, name := range Names(2) {
		for _, l := range Levels() {
			f := Binary64(l, name)
			b.Run(fmt.Sprintf("%s/float64/%v", name, l), func(b *testing.B) {
				for b.Loop() {
					f(&d[0], &x[0], &y[0], tileLength)
				}
				perElement(b, tileLength)
				b.ReportMetric(3*8*tileLength*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GB/s")
			})
		}
	}
}

// BenchmarkCall is the time of one call on a short tile: ns/op is the figure.
func BenchmarkCall(b *testing.B) {
	d, x, y := benchOperands[float64]()
	for _, n := range []int{1, 3, 4, 8, 11, 16, 64} {
		for _, l := range Levels() {
			add, exp, sum := Binary64(l, "add"), Unary64(l, "exp"), Reduce64(l, "sum")
			b.Run(fmt.Sprintf("add/n%d/%v", n, l), func(b *testing.B) {
				for b.Loop() {
					add(&d[0], &x[0], &y[0], n)
				}
			})
			b.Run(fmt.Sprintf("exp/n%d/%v", n, l), func(b *testing.B) {
				for b.Loop() {
					exp(&d[0], &x[0], n)
				}
			})
			b.Run(fmt.Sprintf("sum/n%d/%v", n, l), func(b *testing.B) {
				for b.Loop() {
					sum(&x[0], n)
				}
			})
		}
	}
}

func BenchmarkReduce(b *testing.B) {
	_, x, y := benchOperands[float64]()
	_, x32, y32 := benchOperands[float32]()
	for _, l := range Levels() {
		for _, name := range Names(0) {
			f, g := Reduce64(l, name), Reduce32(l, name)
			b.Run(fmt.Sprintf("%s/float64/%v", name, l), func(b *testing.B) {
				for b.Loop() {
					f(&x[0], tileLength)
				}
				perElement(b, tileLength)
			})
			b.Run(fmt.Sprintf("%s/float32/%v", name, l), func(b *testing.B) {
				for b.Loop() {
					g(&x32[0], tileLength)
				}
				perElement(b, tileLength)
			})
		}
		f, g := Dot64(l), Dot32(l)
		b.Run(fmt.Sprintf("dot/float64/%v", l), func(b *testing.B) {
			for b.Loop() {
				f(&x[0], &y[0], tileLength)
			}
			perElement(b, tileLength)
		})
		b.Run(fmt.Sprintf("dot/float32/%v", l), func(b *testing.B) {
			for b.Loop() {
				g(&x32[0], &y32[0], tileLength)
			}
			perElement(b, tileLength)
		})
	}
}
