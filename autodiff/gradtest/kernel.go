// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gradtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/euryale-dev/euryale/autodiff"
)

// Kernel compares what programs compute for an elementwise operation with calls of its CPU function, in float64 and in
// float32, for arrays of many lengths, alone and in loops that store the result in the memory of an input. Use it for
// definitions with a Kernel, whose two forms of the same function could differ. The tolerance is relative to
// max(1, |value|).
func Kernel(t *testing.T, op *autodiff.Op, tolerance64, tolerance32 float64) {
	t.Helper()
	if !op.IsElementwise() {
		t.Fatalf("%s is not elementwise, so it has no kernel", op.Name)
	}
	wantDomain(t, op)
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 3, 5, 8, 15, 33, 65, 1003} {
		values := make([][]float64, op.Arity)
		for k := range values {
			values[k] = make([]float64, n)
			for i := range values[k] {
				x := op.Domain.Lo + rng.Float64()*(op.Domain.Hi-op.Domain.Lo)
				values[k][i] = float64(float32(x)) // the same number in both precisions
			}
		}
		want := evaluated(op, values)
		end := op.Arity
		if n > 1000 { // which input's memory takes the result matters for every length alike
			end = 0
		}
		for bits, tolerance := range map[int]float64{64: tolerance64, 32: tolerance32} {
			for last := -1; last <= end; last++ {
				if err := kernel(op, values, want, bits, tolerance, last); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// evaluated returns what calls of the CPU function return.
func evaluated(op *autodiff.Op, values [][]float64) []float64 {
	want, point := make([]float64, len(values[0])), make([]float64, op.Arity)
	for i := range want {
		for k := range point {
			point[k] = values[k][i]
		}
		want[i] = op.Eval(point...)
	}
	return want
}

// kernel runs one program and compares its results with those wanted. With last = -1 the inputs of the operation are those of the program; with another they are
// numbers that the same loop has just computed, of which only number last, or none if it is the arity, is not needed
// afterwards, so that its memory can take the result.
func kernel(op *autodiff.Op, values [][]float64, want []float64, bits int, tolerance float64, last int) error {
	n := len(values[0])
	zero := autodiff.Input("zero", n)
	inputs, arguments := make([]*autodiff.Node, op.Arity), make([]*autodiff.Node, op.Arity)
	for k := range inputs {
		inputs[k] = autodiff.Input("x", n)
		arguments[k] = inputs[k]
		if last >= 0 {
			arguments[k] = autodiff.Add(inputs[k], zero)
		}
	}
	outputs := []*autodiff.Node{op.Apply(arguments...)}
	if last >= 0 {
		outputs[0] = autodiff.Add(outputs[0], zero)
		for k, x := range arguments {
			if k != last {
				outputs = append(outputs, autodiff.Mul(x, autodiff.Shift(zero, 1)))
			}
		}
	}
	p, err := autodiff.Compile(outputs, autodiff.Settings{Inputs: append(inputs, zero), Precision: bits})
	if err != nil {
		return fmt.Errorf("%s: %w", op.Name, err)
	}
	st := p.NewState()
	for k, v := range append(values[:op.Arity:op.Arity], make([]float64, n)) {
		if err := st.SetInput(k, v); err != nil {
			return err
		}
	}
	if err := st.Run(); err != nil {
		return fmt.Errorf("%s: %w", op.Name, err)
	}
	for i, got := range st.OutputFloat64(0) {
		if same := got == want[i] || math.IsNaN(got) && math.IsNaN(want[i]); !same && !(math.Abs(got-want[i]) <= tolerance*max(1, math.Abs(want[i]))) {
			where := ""
			if last >= 0 {
				where = ", in a loop that may store the result in the memory of an input"
			}
			point := make([]float64, op.Arity)
			for k := range point {
				point[k] = values[k][i]
			}
			return fmt.Errorf("%s: element %d of %d, in %d bits%s: the program computes %.17g at %v, and CPU %.17g", op.Name, i, n, bits, where, got, point, want[i])
		}
	}
	at := 0
	for k := range arguments {
		if last < 0 || k == last {
			continue
		}
		at++
		for i, got := range st.OutputFloat64(at) {
			if got != values[k][i] {
				return fmt.Errorf("%s: element %d of %d, in %d bits: input %d was %g and is %g after the operation: a kernel must not write to its inputs", op.Name, i, n, bits, k, values[k][i], got)
			}
		}
	}
	return nil
}
