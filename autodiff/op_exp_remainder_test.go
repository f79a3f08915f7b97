// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"math"
	"math/big"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// What is left of e^x after some terms is right to rounding for all x, against sums with 300 bits.
func TestExpRemainder(t *testing.T) {
	for k := 1; k <= 5; k++ {
		for _, x := range []float64{0, 1e-300, -1e-9, 1e-3, -0.3, 0.7, -0.9, 1.4999, 1.5001, -2.9, 3.1, -5, 12, -40, 30} {
			want := new(big.Float).SetPrec(400)
			term := new(big.Float).SetPrec(400).SetInt64(1)
			for j := 1; j <= k; j++ {
				term.Quo(term, big.NewFloat(float64(j)))
			}
			for j := 1; j < 400; j++ { // sum of x^j/(k+j)!
				want.Add(want, term)
				term.Mul(term, big.NewFloat(x))
				term.Quo(term, big.NewFloat(float64(k+j)))
			}
			w, _ := want.Float64()
			v, err := ad.Eval(ad.ExpRemainder(k, ad.Scalar(x)))
			if err != nil {
				t.Fatal(err)
			}
			if got := v[0].Data().(float64); !(math.Abs(got-w) <= 2e-14*math.Abs(w)) {
				t.Errorf("%d terms of %g: %.17g, want %.17g", k, x, got, w)
			}
		}
	}
}
