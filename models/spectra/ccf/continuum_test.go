// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The continuum is at a minimum of its loss: no coefficient can be moved to lower it. Lines hardly pull it down.
func TestContinuumIsAMinimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	n := 400
	for _, sn := range []float64{1, 30, 1000} {
		lam, flux, sigma, level := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range lam {
			lam[i] = 5000 + float64(i)
			level[i] = 50 * math.Exp(math.Sin(float64(i)/120))
			sigma[i] = level[i] / sn
			flux[i] = level[i] + sigma[i]*rng.NormFloat64()
			if i%37 < 3 {
				flux[i] *= 0.3
			}
		}
		got, err := continuum(lam, flux, sigma, 2000)
		if err != nil {
			t.Fatal(err)
		}
		loss := func(shape func(i int) float64) (sum float64) {
			for i, m := range got {
				r := (m*math.Exp(shape(i)) - flux[i]) / sigma[i]
				sum += math.Sqrt(1 + r*r)
			}
			return sum
		}
		least := loss(func(int) float64 { return 0 })
		for _, size := range []float64{1e-3, -1e-3} {
			if l := loss(func(int) float64 { return size }); l < least*(1-1e-8) {
				t.Errorf("S/N %g: a factor of %g lowers the loss from %g to %g", sn, 1+size, least, l)
			}
			if l := loss(func(i int) float64 { return size * (float64(i)/float64(n) - 0.5) }); l < least*(1-1e-8) {
				t.Errorf("S/N %g: a slope lowers the loss from %g to %g", sn, least, l)
			}
		}
		for i, v := range got {
			if d := math.Abs(v/level[i] - 1); d > 0.03+1.5/sn {
				t.Fatalf("S/N %g: continuum %g at %g Angstrom, want %g", sn, v, lam[i], level[i])
			}
		}
	}
}

// Banded equations are solved, and those of no positive definite matrix refused.
func TestBandedSolve(t *testing.T) {
	h := banded{{4, 1, 0.5}, {5, 2, 0.3}, {6, -1, 0.2}, {3, 0.7, 0}, {2, 0, 0}}
	want := []float64{1, -2, 3, 0.5, 4}
	b := make([]float64, 5)
	for i := range b {
		for d, v := range h[i] {
			if i+d < 5 {
				b[i] += v * want[i+d]
				if d > 0 {
					b[i+d] += v * want[i]
				}
			}
		}
	}
	if !h.solve(b) || worst(b, want) > 1e-14 {
		t.Errorf("solution %v, want %v", b, want)
	}
	if (banded{{1, 2, 0}, {1, 0, 0}}).solve([]float64{1, 1}) {
		t.Error("an indefinite matrix was solved")
	}
}
