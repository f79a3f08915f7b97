// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Linearised is a row at its result. It has the fields of optim.Linearised.
type Linearised struct {
	Row       int
	Points    []int
	Residuals []float64
	Jacobian  []float64
}

// Linearise visits the rows from, ..., to-1, at most as many as there are lanes, at the
// parameters that fitted returns. Rows for which fitted returns false are left out.
func (c *Worker) Linearise(from, to int, fitted func(row int) (x []float64, ok bool), visit func(Linearised)) error {
	m, n := c.model.M, c.model.N
	good := make([]bool, to-from)
	for l := range good {
		x, ok := fitted(from + l)
		if ok {
			_, err := c.fill(l, from+l, c.columns, c.weights)
			good[l] = err == nil
		}
		c.setParameters(l, x)
	}
	if err := c.state.Run(); err != nil {
		return fmt.Errorf("optim: batch: %w", err)
	}
	one := Linearised{Points: make([]int, 0, m), Residuals: make([]float64, 0, m), Jacobian: make([]float64, 0, m*n)}
	for l, ok := range good {
		if !ok {
			continue
		}
		one.Row, one.Points, one.Residuals, one.Jacobian = from+l, one.Points[:0], one.Residuals[:0], one.Jacobian[:0]
		for i := range m {
			if c.rows.Weights != nil && c.rows.Weights[one.Row*m+i] == 0 {
				continue
			}
			one.Points, one.Residuals = append(one.Points, i), append(one.Residuals, c.outputs[0][i*Lanes+l])
		}
		for k := range n {
			for _, i := range one.Points {
				one.Jacobian = append(one.Jacobian, c.outputs[1+k][i*Lanes+l])
			}
		}
		bad := func(v float64) bool { return !linalg.Finite(v) }
		if !slices.ContainsFunc(one.Residuals, bad) && !slices.ContainsFunc(one.Jacobian, bad) {
			visit(one)
		}
	}
	return nil
}
