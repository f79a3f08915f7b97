// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"
)

// makeValue makes a value of Gorgonia of row-major elements, which it shares
// where it can.
func makeValue(t gt.Dtype, s gt.Shape, data []float64) G.Value {
	if s.IsScalar() {
		switch t {
		case gt.Float32:
			return G.NewF32(float32(data[0]))
		case gt.Int:
			return G.NewI(int(data[0]))
		case gt.Bool:
			return G.NewB(data[0] != 0)
		}
		return G.NewF64(data[0])
	}
	var backing any = data
	switch t {
	case gt.Float32:
		backing = converted[float32](data)
	case gt.Int:
		backing = converted[int](data)
	case gt.Bool:
		b := make([]bool, len(data))
		for i, v := range data {
			b[i] = v != 0
		}
		backing = b
	}
	return gt.New(gt.WithShape(s...), gt.WithBacking(backing))
}

func converted[T float32 | int](data []float64) []T {
	out := make([]T, len(data))
	for i, v := range data {
		out[i] = T(v)
	}
	return out
}

// readValue copies a value's elements, in row-major order, to dst.
func readValue(dst []float64, v G.Value) error {
	if d, ok := v.(*gt.Dense); ok {
		if !d.IsNativelyAccessible() {
			return fmt.Errorf("gorgonia: the elements of a value of shape %v are in the memory of a device: copy them to the host first", d.Shape())
		}
		v = rowMajor(d)
	}
	n := 1
	switch d := v.Data().(type) {
	case float64:
		dst[0] = d
	case float32:
		dst[0] = float64(d)
	case int:
		dst[0] = float64(d)
	case bool:
		dst[0] = floats([]bool{d})[0]
	case []float64:
		n = copy(dst, d)
	case []float32:
		n = widen(dst, d)
	case []int:
		n = widen(dst, d)
	case []bool:
		n = copy(dst, floats(d))
	default:
		return fmt.Errorf("gorgonia: the value holds a %T: want float64, float32, int or bool", d)
	}
	if n != len(dst) {
		return fmt.Errorf("gorgonia: the value has %d elements of shape %v: want %d", n, v.Shape(), len(dst))
	}
	return nil
}

func widen[T float32 | int](dst []float64, src []T) int {
	n := min(len(dst), len(src))
	for i, v := range src[:n] {
		dst[i] = float64(v)
	}
	return n
}
