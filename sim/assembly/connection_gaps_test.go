// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"math"
	"testing"
)

// Connections come with the probability of the fibre, whatever it is, and as often to
// each target as to another; in-degrees have the variance of binomials.
func TestBernoulli(t *testing.T) {
	const n, sources = 2000, 2000
	for _, p := range []float64{1e-5, 0.001, 0.01, 0.3, 0.9} {
		in, total := make([]float64, n), 0.0
		for i := range sources {
			last := int32(-1)
			for _, j := range Bernoulli(nil, Fibre{Seed: 5, P: p, N: n}, i) {
				if j <= last || j >= n {
					t.Fatalf("p %g: %d after %d", p, j, last)
				}
				last = j
				in[j]++
				total++
			}
		}
		sd := math.Sqrt(n * sources * p * (1 - p))
		if z := (total - n*sources*p) / sd; math.Abs(z) > 4 {
			t.Errorf("p %g: %v connections, %.1f standard deviations off", p, total, z)
		}
		variance := 0.0
		for _, d := range in {
			variance += (d - sources*p) * (d - sources*p) / n
		}
		if r := variance / (sources * p * (1 - p)); p >= 0.001 && math.Abs(r-1) > 4*math.Sqrt(2.0/n) {
			t.Errorf("p %g: variance of in-degrees %v of a binomial's", p, r)
		}
	}
}

func BenchmarkBernoulli(b *testing.B) {
	var row []int32
	for i := 0; b.Loop(); i++ {
		row = Bernoulli(row[:0], Fibre{Seed: 1, P: 0.01, N: 1e6}, i)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e4, "ns/synapse")
}

// However small a probability is, gaps end beyond the last neuron and not before the first.
func TestTinyProbabilities(t *testing.T) {
	for _, p := range []float64{1e-12, 1e-18, 1e-20, 1e-300, math.SmallestNonzeroFloat64} {
		for source := range 1000 {
			if row := Bernoulli(nil, Fibre{P: p, N: 1000, Seed: 7}, source); len(row) > 0 {
				t.Fatalf("p = %g: neuron %d connects to %v", p, source, row)
			}
		}
	}
}
