// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// autoregressive returns chains of standard normal draws with a correlation of phi between neighbours.
func autoregressive(seed uint64, chains, draws int, phi float64) [][]float64 {
	random := rand.New(rand.NewPCG(seed, 1))
	x := make([][]float64, chains)
	for c := range x {
		x[c] = make([]float64, draws)
		v := random.NormFloat64()
		for i := range x[c] {
			v = phi*v + (1-phi*phi)*random.NormFloat64()
			x[c][i] = v
		}
	}
	return x
}

// BenchmarkSummarizeLong is the cost of the table of a long run: draws that forget within a few steps, and
// draws that are correlated over thousands.
func BenchmarkSummarizeLong(b *testing.B) {
	for _, size := range []struct {
		chains, draws, quantities int
		phi                       float64
	}{{4, 1000, 20, 0.8}, {4, 100_000, 20, 0.8}, {4, 100_000, 20, 0.999}, {4, 1_000_000, 3, 0.8}} {
		b.Run(fmt.Sprintf("%dx%dx%d/phi=%g", size.chains, size.draws, size.quantities, size.phi), func(b *testing.B) {
			names, x := make([]string, size.quantities), make([][][]float64, size.quantities)
			for i := range x {
				names[i], x[i] = fmt.Sprint("x", i), autoregressive(uint64(i), size.chains, size.draws, size.phi)
			}
			for b.Loop() {
				Summarize(names, x, Settings{})
			}
		})
	}
}
