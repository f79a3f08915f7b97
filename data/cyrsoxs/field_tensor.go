// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"fmt"

	"github.com/euryale-dev/euryale/tensor"
)

// Tensor returns the elements as an array of the given shape, such as (Z, Y, X), on the same memory;
// nil if IsZero.
func (f Field) Tensor(shape ...int) (*tensor.Tensor, error) {
	if f.IsZero() {
		return nil, nil
	}
	return tensor.From(f.slice(), shape...)
}

// FieldOf returns the elements of an array of float32 or float64, on the same memory if they are
// contiguous. A nil array gives a zero field.
func FieldOf(t *tensor.Tensor) (Field, error) {
	if t == nil {
		return Field{}, nil
	}
	switch data := t.Compact().Data().(type) {
	case []float32:
		return Field{Float32: data}, nil
	case []float64:
		return Field{Float64: data}, nil
	}
	return Field{}, &FormatError{Format: "cyrsoxs", Place: "array", What: fmt.Sprintf("it holds %v of the shape %v", t.DType(), t.Shape()), Try: "convert it to float32 or float64"}
}
