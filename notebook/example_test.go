// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook_test

import (
	"fmt"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	nb "github.com/euryale-dev/euryale/notebook"
)

// The mean of three measurements with known errors is inferred in a cell. In a notebook, a cell that ends
// in the posterior shows its summary and verdict, and errors appear below the cell without any handling.
func Example() {
	y := []float64{4.9, 5.1, 5.0}
	post := nb.Sample("mean", func(m *infer.Model) {
		mu := m.Param("mu", dist.Normal(0, 10))
		m.Observe("y", dist.Normal(mu, 0.3), y)
	}, nb.Settings{Seed: 1, Chains: 2, Draws: 500, Warmup: 500})
	mu := post.Summary().Row("mu")
	fmt.Printf("mu = %.1f +- %.1f\n", mu.Mean, mu.SD)
	// Output:
	// mu = 5.0 +- 0.2
}
