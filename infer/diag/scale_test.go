// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Standard deviations of tiny and huge draws neither vanish nor overflow.
func TestSummaryOfAnyScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := [][]float64{make([]float64, 500), make([]float64, 500)}
	for c := range x {
		for i := range x[c] {
			x[c][i] = rng.NormFloat64()
		}
	}
	plain := Summarize([]string{"a"}, [][][]float64{x}, Settings{}).Rows[0]
	for _, k := range []int{-1000, -600, -540, -270, 270, 500, 600, 1000} {
		r := Summarize([]string{"a"}, [][][]float64{scaled(x, k)}, Settings{}).Rows[0]
		for _, v := range []struct{ got, want float64 }{{r.SD, plain.SD}, {r.Mean, plain.Mean}, {r.MCSEMean, plain.MCSEMean}, {r.MCSESD, plain.MCSESD}, {r.HDI94.High, plain.HDI94.High}} {
			if math.Abs(v.got/math.Ldexp(v.want, k)-1) > 1e-9 {
				t.Errorf("times 2^%d: %g, want %g", k, v.got, math.Ldexp(v.want, k))
			}
		}
		if math.Abs(r.RHat-plain.RHat) > 1e-9 || math.Abs(r.ESSBulk/plain.ESSBulk-1) > 1e-9 {
			t.Errorf("times 2^%d: R-hat %g, ESS %g, want %g, %g", k, r.RHat, r.ESSBulk, plain.RHat, plain.ESSBulk)
		}
	}
}
