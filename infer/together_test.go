// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Log-likelihoods of values that belong together are their sums, one for each block.
func TestLogLikTogether(t *testing.T) {
	m := infer.NewModel("blocks")
	mu := m.Param("mu", dist.Normal(ad.Scalar(0), ad.Scalar(1)))
	m.Observe("y", dist.Normal(mu, ad.Scalar(1)), []float64{1, 2, 3, 4}, infer.Together([]int{0, 1, 0, 1}))
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	fit, err := infer.Sample(t.Context(), post, infer.Settings{Chains: 1, Warmup: 10, Draws: 5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	single, err := fit.LogLik("y")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := fit.LogLikTogether("y")
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range sums[0] {
		one := single[0][i]
		if len(x) != 2 || math.Abs(x[0]-one[0]-one[2]) > 1e-12 || math.Abs(x[1]-one[1]-one[3]) > 1e-12 {
			t.Errorf("draw %d: %v of %v", i, x, one)
		}
	}
}
