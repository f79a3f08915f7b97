// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// A leapfrog with the factor of a chain, of any length, is that with the same factor solved column by column.
func TestStepsOfChains(t *testing.T) {
	random := tensor.NewStream(4, 0, 0)
	for n := 1; n < 16; n++ {
		var order, start, row []int
		var l []float64
		for k := range n {
			order, start, row, l = append(order, k), append(start, len(l)), append(row, k), append(l, 0.5+random.Float64())
			if k < n-1 && k != 5 { // parameters 5 and 6 do not interact
				row, l = append(row, k+1), append(l, random.Normal())
			}
		}
		start = append(start, len(l))
		chain, columns := NewSparseFactor(order, start, row, l), NewSparseFactor(order, start, row, l)
		columns.chain = nil
		var at [2]Point
		for i, f := range []*SparseFactor{chain, columns} {
			values := tensor.NewStream(5, 0, uint32(n))
			at[i] = NewPoint(n)
			for _, x := range [][]float64{at[i].Q, at[i].Z, at[i].G, at[i].W} {
				values.NormalTo(x)
			}
			s := System{Metric: &Metric{Sparse: f}, V: make([]float64, n)}
			s.Depart(&at[i], 0.7)
			s.Arrive(&at[i], 0.7)
		}
		for i := range n {
			for what, x := range map[string][2]float64{"position": {at[0].Q[i], at[1].Q[i]}, "momentum": {at[0].Z[i], at[1].Z[i]}, "force": {at[0].W[i], at[1].W[i]}} {
				if math.Abs(x[0]-x[1]) > 1e-12*(1+math.Abs(x[1])) {
					t.Errorf("%d parameters: %s %d is %.17g by the chain and %.17g by columns", n, what, i, x[0], x[1])
				}
			}
		}
	}
}
