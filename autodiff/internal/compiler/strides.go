// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// AlignedStrides returns the strides of an array of shape s seen in the
// broadcast shape to: 0 where it repeats.
func AlignedStrides(s tensor.Shape, strides []int, to tensor.Shape) []int {
	out := make([]int, len(to))
	lead := len(to) - len(s)
	for i := range s {
		if s[i] == to[lead+i] && s[i] != 1 {
			out[lead+i] = strides[i]
		}
	}
	return out
}

// Walk calls f with the indices and the position of every element.
func Walk(s tensor.Shape, f func(idx []int, flat int)) {
	idx := make([]int, len(s))
	for flat := range s.Size() {
		f(idx, flat)
		for i := len(s) - 1; i >= 0; i-- {
			if idx[i]++; idx[i] < s[i] {
				break
			}
			idx[i] = 0
		}
	}
}

// WithoutAxes returns the lengths of the other axes.
func WithoutAxes(s tensor.Shape, axes []int) tensor.Shape {
	out := tensor.Shape{}
	for i, d := range s {
		if !slices.Contains(axes, i) {
			out = append(out, d)
		}
	}
	return out
}

// KeptStrides returns, for each axis of s, the stride of a reduction over axes:
// 0 for those.
func KeptStrides(s tensor.Shape, axes []int) []int {
	out, n := make([]int, len(s)), 1
	for i := len(s) - 1; i >= 0; i-- {
		if !slices.Contains(axes, i) {
			out[i] = n
			n *= s[i]
		}
	}
	return out
}
