// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Joined operations leave the same bits in all numbers that something else may read.
func TestJoinedOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const registers, kept = 6, 3
		var cells [2][registers + kept]float64
		var ops [2][]scalarOp[float64]
		for i := range cells[0] {
			x := rapid.Float64Range(-2, 2).Draw(t, "x")
			cells[0][i], cells[1][i] = x, x
		}
		inside := map[*float64]bool{}
		for i := range registers {
			inside[&cells[1][i]] = true
		}
		place := rapid.IntRange(0, registers+kept-1)
		written := map[int]bool{} // registers are written before they are read
		operand := func() int {
			p := place.Draw(t, "operand")
			if p < registers && !written[p] {
				return registers
			}
			return p
		}
		for range rapid.IntRange(1, 30).Draw(t, "operations") {
			code := rapid.SampledFrom([]scalarCode{sAdd, sSub, sMul, sDiv, sNeg}).Draw(t, "code")
			d, a, b := place.Draw(t, "result"), operand(), operand()
			written[d] = true
			for k := range ops {
				o := scalarOp[float64]{code: code, dst: &cells[k][d], a: &cells[k][a]}
				if code != sNeg {
					o.b = &cells[k][b]
				}
				ops[k] = append(ops[k], o)
			}
		}
		runScalar(ops[0])
		runScalar(joined(ops[1], inside))
		for i := registers; i < registers+kept; i++ {
			if math.Float64bits(cells[0][i]) != math.Float64bits(cells[1][i]) && cells[0][i] == cells[0][i] {
				t.Fatalf("number %d is %g, want %g", i, cells[1][i], cells[0][i])
			}
		}
	})
}
