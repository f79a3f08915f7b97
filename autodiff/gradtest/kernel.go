// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gradtest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/euryale-dev/euryale/autodiff"
)

// Kernel compares what programs compute for an elementwise operation with calls of its CPU function, in float64 and in
// float32, for arrays of many lengths. Use it for definitions with a Kernel, whose two forms of the same function could
// differ. The tolerance is relative to max(1, |value|).
func Kernel(t *testing.T, op *autodiff.Op, tolerance64, tolerance32 float64) {
	t.Helper()
	if !op.IsElementwise() {
		t.Fatalf("%s is not elementwise, so it has no kernel", op.Name)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 513, 1000} {
		inputs, point := make([]*autodiff.Node, op.Arity), make([]float64, op.Arity)
		values := make([][]float64, op.Arity)
		for k := range inputs {
			inputs[k] = autodiff.Input("x", n)
			values[k] = make([]float64, n)
			for i := range values[k] {
				x := op.Domain.Lo + rng.Float64()*(op.Domain.Hi-op.Domain.Lo)
				values[k][i] = float64(float32(x)) // the same number in both precisions
			}
		}
		for bits, tolerance := range map[int]float64{64: tolerance64, 32: tolerance32} {
			p, err := autodiff.Compile([]*autodiff.Node{op.Apply(inputs...)}, autodiff.Settings{Inputs: inputs, Precision: bits})
			if err != nil {
				t.Fatalf("%s: %v", op.Name, err)
			}
			st := p.NewState()
			for k, v := range values {
				if err := st.SetInput(k, v); err != nil {
					t.Fatal(err)
				}
			}
			if err := st.Run(); err != nil {
				t.Fatalf("%s: %v", op.Name, err)
			}
			for i, got := range st.OutputFloat64(0) {
				for k := range point {
					point[k] = values[k][i]
				}
				want := op.Eval(point...)
				if same := got == want || math.IsNaN(got) && math.IsNaN(want); !same && !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
					t.Fatalf("%s: element %d of %d, in %d bits: the program computes %.17g at %v, and CPU %.17g", op.Name, i, n, bits, got, point, want)
				}
			}
		}
	}
}
