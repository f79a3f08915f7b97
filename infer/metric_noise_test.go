// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/infer/internal/warmup"
	"github.com/euryale-dev/euryale/tensor"
)

// The gradients of a stiff normal distribution are no noise, whatever the number of draws;
// noise of a known variance is found again, in stretched coordinates as well.
func TestGradientNoise(t *testing.T) {
	const dim, draws = 60, 40
	for _, c := range []struct{ variance, stretch float64 }{{0, 1}, {0, 1e4}, {0.3, 1}, {0.3, 1e4}} {
		random := tensor.NewStream(3, 0, 0)
		target := ar1(dim, 0.98)
		var x, g [][]float64
		for range draws {
			q, grad := random.NormalTo(make([]float64, dim)), make([]float64, dim)
			for i := 1; i < dim; i++ {
				q[i] = 0.98*q[i-1] + math.Sqrt(1-0.98*0.98)*q[i]
			}
			if _, err := target.LogProbGrad(q, grad); err != nil {
				t.Fatal(err)
			}
			e := random.NormalTo(make([]float64, dim)) // e with the covariance of the gradients
			for i := range e {
				f := math.Sqrt(c.variance)
				if i > 0 {
					f /= math.Sqrt(1 - 0.98*0.98)
				}
				grad[i] += f * e[i]
				if i > 0 {
					grad[i-1] -= 0.98 * f * e[i]
				}
			}
			for i := range q {
				q[i] *= c.stretch
				grad[i] /= c.stretch
			}
			x, g = append(x, q), append(g, grad)
		}
		if got := warmup.GradientNoise(x, g); math.Abs(got-c.variance) > 0.1*c.variance+1e-20 {
			t.Errorf("stretched by %g: noise %g, want %g", c.stretch, got, c.variance)
		}
	}
	if got := warmup.GradientNoise([][]float64{{1}}, [][]float64{{1}}); got != 0 {
		t.Errorf("one draw: noise %g, want 0", got)
	}
}
