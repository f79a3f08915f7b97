// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// Draws of many expected successes, which take the way of rejection, follow the
// distribution function at every count (Kolmogorov-Smirnov at 1e5 draws; 2.2/sqrt(n) is
// passed by chance less than once in 1e4 distributions).
func TestDrawsOfManySuccesses(t *testing.T) {
	const draws = 100000
	for i, p := range [][]float64{{25, 0.45}, {100, 0.4}, {1000, 0.97}, {1e5, 0.001}, {1e6, 0.5}} {
		d := dist.Binomial(p[0], p[1])
		stream := tensor.NewStream(11, 98, uint32(i))
		count := map[float64]int{}
		for range draws {
			count[d.Rand(&stream, p)]++
		}
		mean, sd := d.Mean(p), math.Sqrt(d.Var(p))
		below, worst := 0, 0.0
		for k := math.Floor(mean - 8*sd); k <= mean+8*sd; k++ {
			below += count[k]
			worst = math.Max(worst, math.Abs(float64(below)/draws-d.CDF(k, p)))
		}
		if below != draws || worst > 2.2/math.Sqrt(draws) {
			t.Errorf("binomial%v: %d draws within 8 standard deviations, off by %g", p, below, worst)
		}
	}
}
