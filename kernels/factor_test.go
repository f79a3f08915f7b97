// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Products that share a factor have the bits of products that do not, for all sizes and transpositions, until it is forgotten.
func TestKeptFactor(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 8))
	fill := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	for _, l := range Levels() {
		for _, size := range [][3]int{{64, 50, 30}, {20, 7, 300}, {17, 64, 256}, {1100, 60, 270}, {1, 9, 5}, {40, 1, 20}} {
			m, n, k := size[0], size[1], size[2]
			for _, transB := range []bool{false, true} {
				ldb := n
				if transB {
					ldb = k
				}
				var kept, plain Workspace
				var f Factor
				for range 2 {
					b := fill(n * k)
					f.Forget()
					for range 3 {
						a, got, want := fill(m*k), make([]float64, m*n), make([]float64, m*n)
						kept.Keep(&f)
						Gemm64(l, &kept, false, transB, m, n, k, 1, a, k, b, ldb, 0, got, n)
						kept.Keep(nil)
						Gemm64(l, &plain, false, transB, m, n, k, 1, a, k, b, ldb, 0, want, n)
						if !slices.Equal(got, want) {
							t.Fatalf("level %v, %v, transposed %v: a product with a kept factor has other bits", l, size, transB)
						}
					}
				}
			}
		}
	}
}
