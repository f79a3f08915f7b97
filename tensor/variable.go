// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"slices"
	"strconv"
)

// Variable is an array whose axes have names.
type Variable struct {
	Name  string
	Dims  []string // names of the axes, slowest first; empty for a single value
	Shape Shape    // lengths of the axes
	Data  any      // row-major []float64, []int64, []bool or []string; shared, not copied
	// Attrs holds attributes, such as units. It may be nil.
	Attrs map[string]string
}

// DType returns the element type: float64, int64, bool or string, or "" for any other.
func (v Variable) DType() string {
	switch v.Data.(type) {
	case []float64:
		return "float64"
	case []int64:
		return "int64"
	case []bool:
		return "bool"
	case []string:
		return "string"
	}
	return ""
}

// Len returns the number of elements of Data.
func (v Variable) Len() int {
	switch d := v.Data.(type) {
	case []float64:
		return len(d)
	case []int64:
		return len(d)
	case []bool:
		return len(d)
	case []string:
		return len(d)
	}
	return 0
}

// Floats returns the elements as float64, or nil for text. The slice is shared if the elements
// already are float64; true becomes 1.
func (v Variable) Floats() []float64 {
	switch d := v.Data.(type) {
	case []float64:
		return d
	case []int64:
		out := make([]float64, len(d))
		for i, x := range d {
			out[i] = float64(x)
		}
		return out
	case []bool:
		out := make([]float64, len(d))
		for i, x := range d {
			if x {
				out[i] = 1
			}
		}
		return out
	}
	return nil
}

// Text returns element i, counted in row-major order, as readable text.
func (v Variable) Text(i int) string {
	switch d := v.Data.(type) {
	case []float64:
		return strconv.FormatFloat(d[i], 'g', 6, 64)
	case []int64:
		return strconv.FormatInt(d[i], 10)
	case []bool:
		return strconv.FormatBool(d[i])
	case []string:
		return d[i]
	}
	return ""
}

// leads reports whether the first axes of v are dims, in this order.
func (v Variable) leads(dims ...string) bool {
	return len(v.Dims) >= len(dims) && slices.Equal(v.Dims[:len(dims)], dims)
}
