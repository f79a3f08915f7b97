// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
)

// Standard deviations under every loss are those of the estimates: over 200 lines (400 in the slow tests), pulls of the slope have an rms of about 1, with and without
// outliers, whether the errors of the points are known or not.
func TestRobustErrorsAreThoseOfTheEstimates(t *testing.T) {
	const points = 40
	rows := tier.Of(200, 400)
	for _, loss := range []Loss{Linear, Huber, SoftL1, Cauchy, Arctan} {
		for _, outliers := range []int{0, 4, 10} {
			if loss == Linear && outliers > 0 {
				continue
			}
			for _, relative := range []bool{false, true} {
				r := rand.New(rand.NewPCG(1, 2))
				sum := 0.0
				for range rows {
					y := make([]float64, points)
					for i := range y {
						y[i] = 2 + 0.5*float64(i)/4 + r.NormFloat64()
					}
					for _, i := range r.Perm(points)[:outliers] {
						y[i] += 50 * r.NormFloat64()
					}
					p := &Problem{M: points, N: 2, Start: []float64{2, 0.5}, Residual: func(f, x []float64) error {
						for i := range f {
							f[i] = x[0] + x[1]*float64(i)/4 - y[i]
						}
						return nil
					}, Jacobian: func(j, _ []float64) error {
						for i := range points {
							j[i], j[points+i] = 1, float64(i)/4
						}
						return nil
					}}
					fit, err := LeastSquares(context.Background(), p, Settings{Loss: loss, RelativeSigma: relative})
					if err != nil {
						t.Fatal(err)
					}
					pull := (fit.X[1] - 0.5) / fit.SD()[1]
					sum += pull * pull
				}
				if rms := math.Sqrt(sum / float64(rows)); !(rms > 0.85 && rms < 1.25) {
					t.Errorf("%s, %d outliers of %d, relative %v: pulls of the slope have an rms of %.2f", loss, outliers, points, relative, rms)
				} else {
					t.Logf("%s, %d outliers, relative %v: %.2f", loss, outliers, relative, rms)
				}
			}
		}
	}
}
