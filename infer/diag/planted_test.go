// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Smoothed weights belong to their draws: in another order they are the same, in that
// order; they sum to 1, and a heavy tail is seen.
func TestPSISDoesNotDependOnOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	ratios := make([]float64, 1000)
	for i := range ratios {
		ratios[i] = 1.2 * random.ExpFloat64() // of a Pareto distribution: k is 1.2 at the tail
	}
	order := random.Perm(len(ratios))
	mixed := make([]float64, len(ratios))
	for i, from := range order {
		mixed[i] = ratios[from]
	}
	w, k := PSIS(ratios, 200)
	again, other := PSIS(mixed, 200)
	if math.Abs(k-other) > 1e-12 || math.Abs(k-1.2) > 0.6 {
		t.Errorf("tail shapes %g and %g, want 1.2 or so, twice the same", k, other)
	}
	sum := 0.0
	for i, from := range order {
		sum += math.Exp(again[i])
		if math.Abs(again[i]-w[from]) > 1e-9 {
			t.Fatalf("draw %d weighs %g, moved to %d %g", from, w[from], i, again[i])
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("the weights sum to %g", sum)
	}
}

// Indices are those of ascending values, equals in their order, NaN last.
func TestAscending(t *testing.T) {
	got := ascending([]float64{3, math.NaN(), 1, 2, 1, math.Inf(-1)})
	for i, want := range []int{5, 2, 4, 3, 0, 1} {
		if got[i] != want {
			t.Fatalf("%v", got)
		}
	}
}

// Where a sum of two is more than that before it, both become half of that.
func TestMakeMonotone(t *testing.T) {
	rho := []float64{1, 0.6, 0.9, 0.8, 0.1, 0.2, 0.5, 0.4}
	makeMonotone(rho, 7)
	for i, want := range []float64{1, 0.6, 0.8, 0.8, 0.1, 0.2, 0.15, 0.15} {
		if math.Abs(rho[i]-want) > 1e-15 {
			t.Fatalf("%v", rho)
		}
	}
}

// Means are weighted by normalised weights, and those that round to nothing are left out.
func TestWeightedMean(t *testing.T) {
	for _, shift := range []float64{0, -5, 700} {
		logw := []float64{math.Log(1) + shift, math.Log(3) + shift, -40 + shift}
		if got := weightedMean([]float64{2, 4, 1e300}, logw); math.Abs(got-3.5) > 1e-12 {
			t.Errorf("shift %g: mean %g, want 3.5", shift, got)
		}
	}
	// What rounds to nothing is judged beside the sum of all.
	v, logw := make([]float64, 1001), make([]float64, 1001)
	for i := range 1000 {
		v[i] = float64(i)
	}
	v[1000], logw[1000] = 1e30, -30
	if got := weightedMean(v, logw); math.Abs(got-499.5) > 1e-9 {
		t.Errorf("mean %g, want 499.5", got)
	}
}

// The error of a term of LOO falls with the root of the number of draws.
func TestErrorOfLOOFallsWithDraws(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	at := func(draws int) float64 {
		chains := make([][][]float64, 4)
		for c := range chains {
			chains[c] = make([][]float64, draws)
			for d := range chains[c] {
				z := random.NormFloat64() * 0.3
				chains[c][d] = []float64{-0.5 * (1 - z) * (1 - z)}
			}
		}
		e, err := LOO(chains, LOOSettings{})
		if err != nil {
			t.Fatal(err)
		}
		return e.Points[0].MCSE
	}
	few, many := at(500), at(8000)
	if ratio := few / many; !(ratio > 3 && ratio < 5.5) {
		t.Errorf("errors %g and %g of 16 times the draws: want a quarter", few, many)
	}
	if many > 0.3/math.Sqrt(4*8000)*3 {
		t.Errorf("error %g of 32000 draws", many)
	}
}
