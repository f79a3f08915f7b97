// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// NNLS returns the x >= 0 that minimises |A x - b|, for a matrix of m rows and n
// columns given column by column (Lawson & Hanson, Solving Least Squares
// Problems, 1974, chapter 23).
func NNLS(a []float64, m, n int, b []float64) ([]float64, error) {
	if m < 1 || n < 0 || len(a) != m*n || len(b) != m {
		return nil, fmt.Errorf("optim: NNLS was given a matrix of %d elements for %d x %d, and %d values: want %d and %d", len(a), m, n, len(b), m*n, m)
	}
	if !linalg.AllFinite(a) || !linalg.AllFinite(b) {
		return nil, fmt.Errorf("optim: NNLS was given NaN or infinity: leave those rows out")
	}
	x := make([]float64, n)
	linalg.NewActiveSet(m, n).Solve(x, a, b)
	return x, nil
}
