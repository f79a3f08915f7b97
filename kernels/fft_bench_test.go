// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math"
	"testing"
)

// The shapes of scattering patterns and morphologies, and lengths that are not powers of two.
var benchShapes = [][]int{{256, 256}, {512, 512}, {1024, 1024}, {2048, 2048}, {32, 512, 512}, {500, 500}, {511, 511}, {509, 509},
	{64, 64, 64}, {4096}, {65536}}

// transformRate reports 5 n log2 n operations per transform, half of that for real ones, and milliseconds.
func transformRate(b *testing.B, n int, operations float64) {
	s := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(operations*float64(n)*math.Log2(float64(n))/s/1e9, "GFLOPS")
	b.ReportMetric(s*1e3, "ms")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkFFT uses one goroutine.
func BenchmarkFFT(b *testing.B) {
	for _, shape := range benchShapes {
		n := sizeOf(shape)
		for _, l := range Levels() {
			p, ws := NewFFTBatch(l, 1, shape...), &FFTWorkspace{}
			x, y := make([]float32, n), make([]complex64, n)
			for i := range x {
				x[i] = float32(i%7) - 3
			}
			half := y[:p.half]
			b.Run(fmt.Sprintf("real32/%v/%v", shape, l), func(b *testing.B) {
				for b.Loop() {
					p.Real32(half, x, ws)
				}
				transformRate(b, n, 2.5)
			})
			b.Run(fmt.Sprintf("inverse32/%v/%v", shape, l), func(b *testing.B) {
				for b.Loop() {
					p.RealInverse32(x, half, ws)
				}
				transformRate(b, n, 2.5)
			})
			clear(y)
			b.Run(fmt.Sprintf("complex64/%v/%v", shape, l), func(b *testing.B) {
				for b.Loop() {
					p.Complex64(y, y, false, ws)
				}
				transformRate(b, n, 5)
			})
			if len(shape) == 3 {
				continue
			}
			z := make([]complex128, n)
			b.Run(fmt.Sprintf("complex128/%v/%v", shape, l), func(b *testing.B) {
				for b.Loop() {
					p.Complex128(z, z, false, ws)
				}
				transformRate(b, n, 5)
			})
		}
	}
}
