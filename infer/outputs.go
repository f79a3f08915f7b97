// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
)

// writeOrNaN fills out with the columns at q, or NaN where the model has none.
func writeOrNaN(o Outputs, q, out []float64) error {
	err := o.Write(q, out)
	if err != nil && !hamiltonian.Recoverable(err) {
		return fmt.Errorf("outputs: %w", err)
	}
	if err != nil {
		for i := range out {
			out[i] = math.NaN()
		}
	}
	return nil
}
